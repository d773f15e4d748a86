//! Whole scans of generated in-memory dumps, by the statistics computed and by the shape of the dump.

use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slotscope::Analysis;
use slotscope::generate::{Generate, Profile};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::slot::slot;
use slotscope::source::Found;
use slotscope::source::memory::Memory;

const KEYS: u64 = 1_000_000;

/// Dumps of `KEYS` keys: realistic ones, and ones that are hard on the counters.
fn dumps() -> Vec<(&'static str, Vec<u8>)> {
    let mut commerce = Vec::new();
    Generate {
        profile: Profile::Commerce,
        keys: KEYS,
        seed: 1,
    }
    .write_to(&mut commerce)
    .unwrap();
    // In the order of SCAN on newer servers: slot by slot.
    let mut keys: Vec<&[u8]> = commerce.split_inclusive(|byte| *byte == b'\n').collect();
    keys.sort_by_key(|key| slot(key.strip_suffix(b"\n").unwrap_or(key)));
    let in_slot_order = keys.concat();
    let lines = |line: fn(u64) -> String| (0..KEYS).map(line).collect::<String>().into_bytes();
    vec![
        ("commerce", commerce),
        ("in-slot-order", in_slot_order),
        ("one-tag", lines(|i| format!("cart:{{common}}:{i}\n"))),
        (
            "every-key-its-tag",
            lines(|i| format!("cart:{{{i}}}:items\n")),
        ),
        ("empty-lines", lines(|_| String::from("\n"))),
    ]
}

fn scans(criterion: &mut Criterion) {
    for (dump, content) in dumps() {
        let content: Arc<[u8]> = content.into();
        let analyze = |analysis: &Analysis| {
            let found = Found {
                sources: vec![Box::new(Memory::new(dump, content.clone()))],
                ..Found::default()
            };
            let reading = Reading::new(found, Options::default()).unwrap();
            analysis.run_on(reading).unwrap().input.keys
        };
        let mut group = criterion.benchmark_group(format!("scan/{dump}"));
        group.throughput(Throughput::Elements(KEYS));
        for (name, analysis) in [
            ("slots", Analysis::new().slots_only(true)),
            ("depth-0", Analysis::new().segments(":", 0)),
            ("default", Analysis::new()),
        ] {
            assert_eq!(analyze(&analysis), KEYS);
            group.bench_function(name, |bencher| bencher.iter(|| analyze(&analysis)));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2)).sample_size(20);
    targets = scans
}
criterion_main!(benches);
