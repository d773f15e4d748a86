//! A custom format: `key|bytes` lines, say from an inventory database.
//!
//! ```sh
//! printf 'user:1|120\ncart:2|3400\n' > dump.psv
//! cargo run --example custom_format -- dump.psv
//! ```

use slotscope::extend::{Detected, Format, Head, Line, LineReader, Opened, Parsed, Row, Values};
use slotscope::{Analysis, Metric};

struct Psv;

impl Format for Psv {
    fn name(&self) -> &'static str {
        "psv"
    }

    fn example(&self) -> &'static str {
        "user:1|120"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        if head.bytes.contains(&b'|') {
            Detected::Yes
        } else {
            Detected::No
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(LineReader::open(self.name(), Psv))
    }
}

impl Row for Psv {
    fn row(&self, line: Line<'_>, values: &mut Values) -> Parsed {
        let Some(bar) = line.text.iter().rposition(|byte| *byte == b'|') else {
            return Parsed::Reject("no | between key and bytes");
        };
        let size = std::str::from_utf8(&line.text[bar + 1..]);
        let Some(bytes) = size.ok().and_then(|size| size.parse().ok()) else {
            return Parsed::Reject("no number of bytes");
        };
        values.sizes_mut().push(bytes);
        Parsed::Key(0..bar)
    }
}

fn main() -> Result<(), slotscope::Error> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let analysis = Analysis::new().format(&Psv).by([Metric::Bytes]);
    let summary = analysis.run(&paths)?;
    println!("{}", summary.verdict.sentence);
    Ok(())
}
