//! A custom format: `key|bytes` lines, say from an inventory database.
//!
//! ```sh
//! printf 'user:1|120\ncart:2|3400\n' > dump.psv
//! cargo run --example custom_format -- dump.psv
//! ```

use slotscope::extend::{
    Block, Columns, Detected, Format, Gather, Head, Opened, Piece, Reader, RowBoundary, Seen, Sink,
    each_line,
};
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
        match head.bytes.contains(&b'|') {
            true => Detected::Yes,
            false => Detected::No,
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(Psv.into())
    }
}

impl Reader for Psv {
    fn format(&self) -> &'static str {
        "psv"
    }

    fn boundary(&self) -> RowBoundary {
        RowBoundary::Lines(b'\n')
    }

    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> Seen {
        let mut gather = Gather::new(columns, sink);
        each_line(block, piece.from, |block, start, end| {
            let line = &block.content()[start..end];
            let Some(bar) = line.iter().rposition(|byte| *byte == b'|') else {
                return gather.reject(start, "no | between key and bytes");
            };
            let size = std::str::from_utf8(&line[bar + 1..]);
            match size.ok().and_then(|size| size.parse().ok()) {
                Some(bytes) => {
                    gather.values().sizes_mut().push(bytes);
                    gather.key(block, start, start + bar);
                }
                None => gather.reject(start, "no number of bytes"),
            }
        });
        gather.finish(block)
    }
}

fn main() -> Result<(), slotscope::Error> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let analysis = Analysis::new().format(&Psv).by([Metric::Bytes]);
    let summary = analysis.run(&paths)?;
    println!("{}", summary.verdict.sentence);
    Ok(())
}
