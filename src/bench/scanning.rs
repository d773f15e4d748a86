//! The scan of a dump by stage: from reading on, each does what those before it do, and more.

use std::hint::black_box;
use std::path::Path;

use slotscope_app::pipeline::Analysis;
use slotscope_app::pipeline::reading::Reading;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SlotBatch;
use slotscope_count::scan::SeenInput;
use slotscope_count::tally::Tally;
use slotscope_model::balance::tidy;
use slotscope_topology::Topology;

use crate::bench::figures::{ScanFigures, Stage, StageRate};
use crate::bench::reading::read;
use crate::bench::timing::{Rate, Run, in_turn};

/// Times every stage on the threads of `reading`.
///
/// # Errors
/// The sources are not dumps, have no keys or cannot be read again; the stages find other keys.
pub(super) fn time(file: &Path, reading: &Reading, rounds: u32) -> Result<ScanFigures> {
    let source = &reading.sources[0];
    if !reading.is_rereadable() {
        let reason = "bench reads a dump several times, and this can be read once; name a file";
        return Err(Error::bad_file(source.path(), reason));
    }
    // As analyze: what is not a dump is refused.
    let scanned = reading.scan("checking", || Dropped { has_slots: false })?;
    if let Some(stop) = scanned.incomplete.first() {
        let path = reading.sources[stop.input].path();
        let place = format!("{}: byte {}", Name::from(path), stop.byte);
        return Err(Error::bad(place, stop.reason.clone()));
    }
    let keys = keys_of(&scanned.inputs);
    if keys == 0 {
        return Err(Error::bad_file(
            file,
            "has no keys, whose scan could be timed; name a dump",
        ));
    }
    let (bytes, line_ends) = read(&reading.sources, reading.pool(), line_ends)?;
    for stage in [Stage::Hash, Stage::Count] {
        let found = run(stage, reading)?;
        if found != keys {
            let reason = format!("found {found} of {keys} keys; please report this");
            return Err(Error::bad(stage.name(), reason));
        }
    }
    let runs = Stage::ALL.map(|stage| Run {
        keys,
        bytes,
        // Everything that can fail has succeeded above.
        repeat: Box::new(move |times| {
            (0..times).for_each(|_| drop(black_box(run(stage, reading))))
        }),
    });
    let rates = in_turn(rounds, &runs);
    let secs = |rate: &Rate| bytes as f64 / rate.bytes_per_sec;
    let least = secs(&rates[0]);
    let row = |(stage, rate): (Stage, Rate)| StageRate {
        stage,
        threads: reading.threads(),
        secs: tidy(secs(&rate)),
        over_line_ends: tidy(secs(&rate) / least),
        rate,
    };
    Ok(ScanFigures {
        file: Name::from(file),
        bytes,
        line_ends,
        keys,
        stages: Stage::ALL.into_iter().zip(rates).map(row).collect(),
    })
}

/// Runs a stage with all before it; returns the number of keys, or of line ends.
fn run(stage: Stage, reading: &Reading) -> Result<u64> {
    let sources = &reading.sources;
    let drop_keys = |has_slots| {
        let scanned = reading.with_scan("", |scan| scan.run(sources, || Dropped { has_slots }))?;
        Ok(keys_of(&scanned.inputs))
    };
    match stage {
        Stage::LineEnds => Ok(read(sources, reading.pool(), line_ends)?.1),
        Stage::Read => Ok(read(sources, reading.pool(), |bytes| {
            u64::from(black_box(bytes).is_empty())
        })?
        .1),
        Stage::Cut => drop_keys(false),
        Stage::Hash => drop_keys(true),
        Stage::Count => {
            let (counted, _) = Analysis::new().count_keys(reading, &Topology::assumed()?)?;
            Ok(keys_of(&counted.first.inputs))
        }
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn keys_of(inputs: &[SeenInput]) -> u64 {
    let seen = inputs.iter().map(|input| &input.seen);
    seen.map(|seen| seen.keys + seen.operations).sum()
}

/// Takes batches of keys, with their slots or without, and counts nothing.
struct Dropped {
    has_slots: bool,
}

impl Tally for Dropped {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        black_box(keys.slots);
    }

    fn merge(&mut self, _: Self) {}

    fn reads_slots(&self) -> bool {
        self.has_slots
    }
}
