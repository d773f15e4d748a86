//! Whole scans of generated in-memory dumps, by the statistics computed and by the shape of the dump.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slotscope::generate::{Generate, Profile};
use slotscope::pipeline::two_pass;
use slotscope::scan::Scan;
use slotscope::slot::slot;
use slotscope::source::memory::memory;
use slotscope::tally::tag_table::MAX_TAGS;
use slotscope::tally::{Parts, Tallies};

const KEYS: u64 = 1_000_000;

/// Creates empty tallies.
type Make = fn() -> Tallies;

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
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let scan = Scan::new(&pool);
    for (dump, content) in dumps() {
        let inputs = [memory(dump, &content)];
        let analyze = |make: Make| {
            let counted = two_pass::count(&scan, &inputs, MAX_TAGS, make).unwrap();
            counted.first.tally.slots.total()
        };
        let mut group = criterion.benchmark_group(format!("scan/{dump}"));
        group.throughput(Throughput::Elements(KEYS));
        let ways: [(&str, Make); 3] = [
            ("slots", || Tallies::new(Parts::Slots)),
            ("depth-0", || Tallies::new(Parts::All)),
            ("default", || Tallies::new(Parts::All).with_patterns(b":")),
        ];
        for (name, make) in ways {
            assert_eq!(analyze(make), KEYS);
            group.bench_function(name, |bencher| bencher.iter(|| analyze(make)));
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(2)).sample_size(20);
    targets = scans
}
criterion_main!(benches);
