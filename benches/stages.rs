//! Nanoseconds a key of each stage of the scan, on a generated dump, and the sizes that were chosen by it.
//!
//! `cargo bench --bench stages -- chunk` times other chunk sizes, `-- find_delimiters`, `hashed_spans`, `hash`, `add` one stage.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slotscope::format::batch::{BATCH_KEYS, KeyBatch, Spans, Values};
use slotscope::generate::{Generate, Profile};
use slotscope::scan::Scan;
use slotscope::slot::{SlotColumns, slot};
use slotscope::source::block::Block;
use slotscope::source::memory::memory;
use slotscope::tally::sketch::histogram::Lengths;
use slotscope::tally::slots::SlotCounts;
use slotscope::tally::tags::TagCounter;
use slotscope::tally::{Parts, Tallies, Tally};

fn dump(keys: u64) -> Vec<u8> {
    let mut dump = Vec::new();
    Generate {
        profile: Profile::Commerce,
        keys,
        seed: 1,
    }
    .write_to(&mut dump)
    .unwrap();
    dump
}

/// The first `count` keys of a block, cut by naive code.
fn spans(content: &[u8], count: usize) -> Spans {
    let mut spans = Spans::default();
    let mut start = 0;
    for line in content.split(|byte| *byte == b'\n').take(count) {
        spans.push(start, start + line.len() as u32);
        start += line.len() as u32 + 1;
    }
    spans
}

/// One batch through every stage, with every kernel.
fn stages(criterion: &mut Criterion) {
    let block = Block::from_bytes(&dump(BATCH_KEYS as u64));
    let base = block.padded();
    let keys = spans(block.content(), BATCH_KEYS);
    let values = Values::default();
    let batch = KeyBatch {
        base,
        keys: &keys,
        values: &values,
    };
    for kernel in hashslot::available() {
        let mut group = criterion.benchmark_group(format!("stage/{}", kernel.name));
        group.throughput(Throughput::Elements(BATCH_KEYS as u64));
        let mut ends = vec![0; BATCH_KEYS];
        assert_eq!(
            (
                slotscope::simd::find_delimiters(kernel, base, 0, b'\n', &mut ends).delimiters,
                &ends
            ),
            (BATCH_KEYS, &keys.end)
        );
        group.bench_function("find_delimiters", |bencher| {
            bencher.iter(|| slotscope::simd::find_delimiters(kernel, base, 0, b'\n', &mut ends))
        });
        let mut hashed = keys.clone();
        let parts = keys.in_block(base);
        kernel.hashed_spans(parts, &mut hashed.start, &mut hashed.end);
        (0..keys.len()).for_each(|i| {
            assert_eq!(
                hashed.get(base, i),
                &keys.get(base, i)[hashslot::hashed_part(keys.get(base, i))]
            )
        });
        group.bench_function("hashed_spans", |bencher| {
            bencher.iter(|| kernel.hashed_spans(parts, &mut hashed.start, &mut hashed.end))
        });
        let hashed = hashed.in_block(base);
        let mut slots = vec![0; hashed.len()];
        kernel.slots(hashed, &mut slots);
        (0..keys.len()).for_each(|i| assert_eq!(slots[i], slot(keys.get(base, i))));
        group.bench_function("hash", |bencher| {
            bencher.iter(|| kernel.slots(hashed, &mut slots))
        });
    }
    let mut columns = SlotColumns::default();
    let computed = columns.compute(hashslot::best(), batch, 0);
    let mut group = criterion.benchmark_group("stage/add");
    group.throughput(Throughput::Elements(BATCH_KEYS as u64));
    let mut slots = SlotCounts::default();
    group.bench_function("slots", |bencher| bencher.iter(|| slots.add(&computed)));
    assert_eq!(slots.total() % BATCH_KEYS as u64, 0);
    let mut lengths = Lengths::default();
    group.bench_function("lengths", |bencher| bencher.iter(|| lengths.add(&computed)));
    assert_eq!(lengths.0.count() % BATCH_KEYS as u64, 0);
    for (name, follow) in [("tags", false), ("tags-followed", true)] {
        let mut tags = TagCounter::new(follow);
        group.bench_function(name, |bencher| bencher.iter(|| tags.add(&computed)));
        assert!(tags.tagged > 0);
    }
}

/// A whole scan with other sizes of a chunk; `source::chunk::CHUNK` is the fastest of them.
fn chunks(criterion: &mut Criterion) {
    const KEYS: u64 = 1_000_000;
    let content = dump(KEYS);
    let inputs = [memory("generated", &content)];
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let mut group = criterion.benchmark_group("chunk");
    group.throughput(Throughput::Bytes(content.len() as u64));
    for chunk in [1 << 16, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22] {
        let scan = Scan::new(&pool).chunk(chunk);
        let count = || {
            scan.run(&inputs, || Tallies::new(Parts::Slots))
                .unwrap()
                .tally
                .slots
                .total()
        };
        assert_eq!(count(), KEYS);
        group.bench_function(format!("{}KiB", chunk >> 10), |bencher| bencher.iter(count));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1)).sample_size(20);
    targets = stages, chunks
}
criterion_main!(benches);
