//! Slots per second: every kernel of this CPU and the CRC crates on crates.io, on the same whole keys, without tags.
//!
//! `cargo bench -p benches --bench kernels -- 8..64` times one set. Ratios with their spread:
//! `cargo bench -p benches --no-default-features --bench ratios`.

mod contestants;

use contestants::{Keys, assert_answers, kernels, peers};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::ops::RangeInclusive;
use std::time::Duration;

/// A set of keys: its name and the range of lengths.
type Set = (&'static str, RangeInclusive<usize>);

/// Keys as in real dumps, and single lengths.
const SETS: [Set; 6] = [
    ("8..64", 8..=64),
    ("4", 4..=4),
    ("8", 8..=8),
    ("16", 16..=16),
    ("32", 32..=32),
    ("64", 64..=64),
];

fn slots(criterion: &mut Criterion) {
    let mut all = kernels();
    all.extend(peers());
    for (name, lens) in SETS {
        let keys = Keys::new(lens);
        assert_answers(&all, &keys);
        let mut group = criterion.benchmark_group(format!("slots/{name}"));
        group.throughput(Throughput::Elements(keys.batch().len() as u64));
        for contestant in &all {
            let mut slots = Vec::new();
            group.bench_function(&contestant.name, |bencher| {
                bencher.iter(|| (contestant.run)(&keys, &mut slots))
            });
        }
    }
}

criterion_group! {
    name = benches;
    // The table-driven crates take milliseconds per buffer: one second each is enough, two minutes in total.
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20);
    targets = slots
}
criterion_main!(benches);
