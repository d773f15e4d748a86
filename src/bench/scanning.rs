//! A complete scan of a generated dump in memory: the cost of reading keys on top of the kernel.

use rayon::ThreadPoolBuilder;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::scan::Scan;
use slotscope_engine::source::Source;
use slotscope_engine::source::memory::memory;
use slotscope_engine::tally::tag_table::MAX_TAGS;
use slotscope_engine::tally::{Parts, Tallies};

use crate::bench::figures::ScanRate;
use crate::bench::timing::{Run, in_turn};
use crate::generate::{Generate, Profile};
use crate::pipeline::two_pass;

/// Creates an empty tally.
type Make = fn() -> Tallies;

/// The variants that are timed: `analyze` flags, with the counts they need.
const WAYS: [(&str, Make); 3] = [
    ("--only slots", || Tallies::new(Parts::Slots)),
    ("--depth 0", || Tallies::new(Parts::All)),
    ("default", || Tallies::new(Parts::All).with_patterns(b":")),
];

/// Times every kind of scan over a dump of `keys` keys.
///
/// # Errors
/// There are no threads, or a scan loses keys.
pub(super) fn time(keys: u64, threads: usize, rounds: u32) -> Result<Vec<ScanRate>> {
    let mut dump = Vec::new();
    let generate = Generate {
        profile: Profile::Commerce,
        keys,
        seed: 1,
    };
    generate
        .write_to(&mut dump)
        .map_err(|error| Error::io("memory", error))?;
    let inputs = [memory("generated", &dump)];
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        built.map_err(|error| Error::option("threads", threads.to_string(), error.to_string()))?;
    let scan = Scan::new(&pool);
    for (part, make) in WAYS {
        let counted = analyze(&scan, &inputs, make)?;
        if counted != keys {
            return Err(Error::bad(
                part,
                format!("counted {counted} of {keys} keys; please report this"),
            ));
        }
    }
    let bytes = dump.len() as u64;
    let runs = WAYS.map(|(_, make)| {
        let (scan, inputs) = (&scan, &inputs);
        // Anything that can fail has succeeded once above.
        let repeat = move |times| (0..times).for_each(|_| drop(analyze(scan, inputs, make)));
        Run {
            keys,
            bytes,
            repeat: Box::new(repeat),
        }
    });
    let rates = in_turn(rounds, &runs);
    Ok(WAYS
        .iter()
        .zip(rates)
        .map(|((part, _), rate)| ScanRate {
            part,
            threads,
            rate,
        })
        .collect())
}

/// Counts like `analyze`, including the second pass, and returns the number of keys.
fn analyze(scan: &Scan<'_>, inputs: &[Box<dyn Source>], make: Make) -> Result<u64> {
    let counted = two_pass::count(scan, inputs, MAX_TAGS, make)?;
    Ok(std::hint::black_box(counted).first.tally.slots.total())
}
