//! Nanoseconds per key for each pass of the scan, by instruction set: all take turns; prints medians as a Markdown
//! table.
//!
//! `cargo bench -p benches --bench stages -- PASS KERNEL TIMES` runs one pass that often between two signals, for
//! `benches/instructions`, which counts instructions.

use std::time::Instant;

use signal_hook::consts::SIGUSR1;
use signal_hook::low_level::raise;
use slotscope::batch::{BATCH_KEYS, KeyBatch, Spans, Values};
use slotscope::block::Block;
use slotscope::generate::{Generate, Profile};
use slotscope::scan::Scan;
use slotscope::slot::{Kernel, SlotBatch, slot};
use slotscope::source::memory::memory;
use slotscope::tally::duplicates::Duplicates;
use slotscope::tally::patterns::Patterns;
use slotscope::tally::sketch::histogram::Lengths;
use slotscope::tally::slots::SlotCounts;
use slotscope::tally::tags::TagCounter;
use slotscope::tally::{Parts, Tallies, Tally};

/// Rounds in which all take turns, so that a disturbance affects all of them.
const ROUNDS: usize = 41;
/// Keys per chunk of a file, which a worker takes through all passes.
const KEYS: u64 = 60_000;
/// Keys per batch when counting instructions.
const FEW_KEYS: u64 = 512;
/// Keys counted beforehand: more hash tags than their table holds.
const BEFORE: u64 = 1_000_000;

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    match args.as_slice() {
        [] => table(),
        [pass, kernel, times] => run_one(pass, kernel, times.parse().expect("TIMES is a number")),
        _ => panic!("no arguments, or PASS KERNEL TIMES"),
    }
}

fn dump(keys: u64, seed: u64) -> Vec<u8> {
    let mut dump = Vec::new();
    let profile = Profile::Commerce;
    let generate = Generate {
        profile,
        keys,
        seed,
    };
    generate.write_to(&mut dump).expect("memory takes it all");
    dump
}

/// A batch of keys, with the inputs of every pass.
struct Batch {
    keys: Spans,
    hashed: Spans,
    slots: Vec<u16>,
}

/// The keys of a dump, in batches.
struct Keys {
    block: Block,
    batches: Vec<Batch>,
    values: Values,
}

impl Keys {
    fn new(keys: u64, seed: u64) -> Self {
        let dump = dump(keys, seed);
        let block = Block::from_bytes(&dump);
        let mut spans = Spans::default();
        let mut start = 0;
        for line in dump.split(|byte| *byte == b'\n').take(keys as usize) {
            spans.push(start, start + line.len() as u32);
            start += line.len() as u32 + 1;
        }
        let all = spans
            .start
            .chunks(BATCH_KEYS)
            .zip(spans.end.chunks(BATCH_KEYS));
        let batches = all
            .map(|(start, end)| Batch::new(&block, start, end))
            .collect();
        Keys {
            block,
            batches,
            values: Values::default(),
        }
    }

    fn len(&self) -> usize {
        self.batches.iter().map(|batch| batch.slots.len()).sum()
    }

    /// Calls `take` with each batch, as if computed by `kernel`.
    fn each(&self, kernel: &'static Kernel, mut take: impl FnMut(&SlotBatch<'_>)) {
        (0..self.batches.len()).for_each(|at| self.one(at, kernel, &mut take));
    }

    fn one(&self, at: usize, kernel: &'static Kernel, take: impl FnOnce(&SlotBatch<'_>)) {
        let Batch {
            keys,
            hashed,
            slots,
        } = &self.batches[at];
        let batch = KeyBatch {
            base: self.block.padded(),
            keys,
            values: &self.values,
        };
        take(&SlotBatch {
            batch,
            hashed,
            untagged: &keys.start,
            slots,
            input: 0,
            offset: 0,
            is_rereadable: true,
            kernel,
        });
    }
}

impl Batch {
    /// Computed by naive code.
    fn new(block: &Block, starts: &[u32], ends: &[u32]) -> Self {
        let (mut keys, mut hashed, mut slots) = (Spans::default(), Spans::default(), Vec::new());
        for (&start, &end) in starts.iter().zip(ends) {
            let key = &block.content()[start as usize..end as usize];
            let part = hashslot::hashed_part(key);
            keys.push(start, end);
            hashed.push(start + part.start as u32, start + part.end as u32);
            slots.push(slot(key));
        }
        Batch {
            keys,
            hashed,
            slots,
        }
    }
}

/// A pass over all keys.
type Run<'k> = Box<dyn FnMut() + 'k>;
type Pass = (
    &'static str,
    for<'k> fn(&'k Keys, &'static Kernel) -> Run<'k>,
);

/// The passes that depend on the kernel's instructions.
const BY_KERNEL: [Pass; 4] = [
    ("line-ends", |keys, kernel| {
        let mut ends = vec![0; BATCH_KEYS];
        Box::new(move || {
            let base = keys.block.padded();
            for batch in &keys.batches {
                let (from, ends) = (batch.keys.start[0], &mut ends[..batch.slots.len()]);
                slotscope::simd::find_delimiters(kernel, base, from, b'\n', ends);
                assert_eq!(ends.last(), batch.keys.end.last(), "a line is a key");
            }
        })
    }),
    ("hash-tags", |keys, kernel| {
        let (mut start, mut end) = (Vec::new(), Vec::new());
        Box::new(move || {
            for batch in &keys.batches {
                start.resize(batch.slots.len(), 0);
                end.resize(batch.slots.len(), 0);
                let spans = batch.keys.in_block(keys.block.padded());
                kernel.hashed_spans(spans, &mut start, &mut end);
                assert_eq!(
                    (start.last(), end.last()),
                    (batch.hashed.start.last(), batch.hashed.end.last())
                );
            }
        })
    }),
    ("slots", |keys, kernel| {
        let mut slots = Vec::new();
        Box::new(move || {
            for batch in &keys.batches {
                slots.resize(batch.slots.len(), 0);
                kernel.slots(batch.hashed.in_block(keys.block.padded()), &mut slots);
                assert_eq!(slots.last(), batch.slots.last());
            }
        })
    }),
    ("patterns", |keys, kernel| {
        counted(keys, kernel, Patterns::new(b":"))
    }),
];

/// The passes that are the same for every kernel.
const COUNTS: [Pass; 6] = [
    ("count slots", |keys, kernel| {
        counted(keys, kernel, SlotCounts::default())
    }),
    ("count lengths", |keys, kernel| {
        counted(keys, kernel, Lengths::default())
    }),
    ("count tags, all in a table", |keys, kernel| {
        let few: Vec<usize> = (0..keys.batches.len().min(8)).collect();
        let mut tags = TagCounter::new(false);
        Box::new(move || {
            for at in few.iter().cycle().take(keys.batches.len()) {
                keys.one(*at, kernel, |batch| tags.add(batch));
            }
            assert!(tags.table().is_some(), "few tags fit the table");
        })
    }),
    ("count tags, in rows", |keys, kernel| {
        counted(keys, kernel, TagCounter::new(false))
    }),
    ("count tags, heavy ones followed", |keys, kernel| {
        counted(keys, kernel, TagCounter::new(true))
    }),
    ("find repeated keys", |keys, kernel| {
        counted(keys, kernel, Duplicates::default())
    }),
];

/// Counts all keys with a tally that has already counted many.
fn counted<'k, T: Tally + 'k>(keys: &'k Keys, kernel: &'static Kernel, mut tally: T) -> Run<'k> {
    Keys::new(BEFORE, 2).each(kernel, |batch| tally.add(batch));
    Box::new(move || keys.each(kernel, |batch| tally.add(batch)))
}

fn table() {
    let keys = Keys::new(KEYS, 1);
    let kernels: Vec<&'static Kernel> = hashslot::available().collect();
    println!(
        "{} keys of {:.1} bytes, medians of {ROUNDS} rounds in turn, one thread\n",
        keys.len(),
        { keys.block.content().len() as f64 / keys.len() as f64 - 1.0 }
    );
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name).collect();
    println!("| ns a key | {} |", names.join(" | "));
    println!("|---|{}", "--:|".repeat(kernels.len()));
    for (name, pass) in BY_KERNEL {
        let runs = kernels.iter().map(|kernel| pass(&keys, kernel)).collect();
        let times: Vec<String> = in_turn(runs, keys.len())
            .iter()
            .map(|ns| format!("{ns:.2}"))
            .collect();
        println!("| {name} | {} |", times.join(" | "));
    }
    println!("\n| ns a key | any kernel |\n|---|--:|");
    let runs = COUNTS
        .iter()
        .map(|(_, pass)| pass(&keys, hashslot::best()))
        .collect();
    for ((name, _), ns) in COUNTS.iter().zip(in_turn(runs, keys.len())) {
        println!("| {name} | {ns:.2} |");
    }
    chunks();
}

/// Whole scans with other chunk sizes; `source::chunk::CHUNK` is the fastest.
fn chunks() {
    let content = dump(BEFORE, 1);
    let inputs = [memory("generated", &content)];
    let pool = rayon::ThreadPoolBuilder::new().build().expect("threads");
    let sizes = [1 << 16, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22];
    let run = |size: usize| -> Run<'_> {
        let scan = Scan::new(&pool).chunk(size);
        let inputs = &inputs;
        let count = move || scan.run(inputs, || Tallies::new(Parts::Slots));
        Box::new(move || {
            let counted = count().expect("memory can be read").tally.slots.total();
            assert_eq!(counted, BEFORE);
        })
    };
    println!("\n| slots alone, all cores, in chunks of | ns a key |\n|---|--:|");
    for (size, ns) in sizes
        .iter()
        .zip(in_turn(sizes.map(run).into(), BEFORE as usize))
    {
        println!("| {} KiB | {ns:.2} |", size >> 10);
    }
}

/// The median time of each run, in nanoseconds per key.
fn in_turn(mut runs: Vec<Run<'_>>, keys: usize) -> Vec<f64> {
    let mut times = vec![Vec::new(); runs.len()];
    for _ in 0..ROUNDS {
        for (run, times) in runs.iter_mut().zip(&mut times) {
            let start = Instant::now();
            run();
            times.push(start.elapsed().as_secs_f64() * 1e9 / keys as f64);
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    times.into_iter().map(median).collect()
}

/// One pass over a small batch.
fn run_one(name: &str, kernel: &str, times: usize) {
    let keys = Keys::new(FEW_KEYS, 1);
    let kernel = hashslot::available()
        .find(|has| has.name == kernel)
        .expect("a kernel of this CPU");
    let (_, pass) = BY_KERNEL
        .iter()
        .find(|(has, _)| *has == name)
        .expect("a pass");
    let mut run = pass(&keys, kernel);
    run();
    raise(SIGUSR1).expect("a signal can be raised");
    (0..times).for_each(|_| run());
    raise(SIGUSR1).expect("a signal can be raised");
}
