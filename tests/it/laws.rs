//! Properties that hold for every input: the order of merging never affects the result, and nothing is lost between
//! bytes and counts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slotscope::metric::{Load, Metric};
use slotscope::name::Name;
use slotscope::scan::Scanned;
use slotscope::slot::slot;
use slotscope::source::Source;
use slotscope::source::memory::memory;
use slotscope::tally::{Parts, Tallies, Tally};
use testkit::scan::Scanning;

/// Scans `inputs` on `threads` threads in chunks of `chunk` bytes.
fn scan(inputs: &[Box<dyn Source>], threads: usize, chunk: usize) -> Scanned<Tallies> {
    let scan = Scanning::of("lines").cut(threads, chunk);
    scan.run(inputs, || Tallies::new(Parts::All).with_patterns(b":"))
}

fn tallies(content: &[u8], threads: usize, chunk: usize) -> Tallies {
    let scanned = scan(&[memory("test", content)], threads, chunk);
    assert!(scanned.incomplete.is_empty());
    scanned.tally
}

/// Keys with tags, empty keys and odd bytes; none contains a line end.
fn keys() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![
        4 => Just(b'{'), 4 => Just(b'}'), 4 => 97u8..101,
        1 => any::<u8>().prop_filter("no line end", |byte| !b"\r\n".contains(byte)),
    ];
    let key = prop_oneof![9 => prop::collection::vec(byte.clone(), 0..20), 1 => prop::collection::vec(byte, 60..300)];
    prop::collection::vec(key, 1..120)
}

fn dump(keys: &[Vec<u8>]) -> Vec<u8> {
    [b"first\n", &keys.join(&b'\n')[..], b"\n"].concat()
}

proptest! {
    #[test]
    fn counts_are_those_of_naive_code(keys in keys(), chunk in 1usize..400, threads in 1usize..4) {
        let found = tallies(&dump(&keys), threads, chunk);
        let mut slots = vec![0; 16384];
        let mut tags = BTreeMap::new();
        let mut lengths = BTreeMap::new();
        for key in keys.iter().map(Vec::as_slice).chain([&b"first"[..]]) {
            slots[usize::from(slot(key))] += 1;
            *lengths.entry(key.len() as u64).or_insert(0u64) += 1;
            if let Some(tag) = hashslot::tag(key) {
                *tags.entry(Name::from(&key[tag])).or_insert(Load::default()) += Load::KEY;
            }
        }
        prop_assert_eq!(&found.slots.loads.keys, &slots);
        let names = found.names.unwrap();
        prop_assert_eq!(names.lengths.0.pairs().collect::<Vec<_>>(), lengths.into_iter().collect::<Vec<_>>());
        let heavy = names.tags;
        prop_assert_eq!(heavy.tagged, tags.values().map(|load| load[Metric::Keys]).sum::<u64>());
        let table = heavy.table().expect("few tags are exact");
        let counted: BTreeMap<_, _> =
            table.iter().map(|(name, _, load)| (Name::from(name), load)).collect();
        prop_assert_eq!(counted, tags);
    }

    #[test]
    fn the_last_line_end_does_not_show(keys in keys(), chunk in 1usize..400) {
        let mut content = dump(&keys);
        let whole = tallies(&content, 2, chunk);
        // An empty last key exists only through its line end.
        prop_assume!(!keys.last().unwrap().is_empty());
        content.pop();
        prop_assert_eq!(tallies(&content, 2, chunk), whole);
    }

    #[test]
    fn parts_merge_to_the_whole_in_any_order(a in keys(), b in keys(), chunk in 1usize..400) {
        let [part_a, part_b] = [&a, &b].map(|keys| tallies(&dump(keys), 1, chunk));
        let mut forward = part_a.clone();
        forward.merge(part_b.clone());
        let mut backward = part_b;
        backward.merge(part_a.clone());
        prop_assert_eq!(&forward, &backward);
        let both = [memory("a", &dump(&a)), memory("b", &dump(&b))];
        prop_assert_eq!(&scan(&both, 2, chunk).tally, &forward);
        let mut empty = Tallies::new(Parts::All).with_patterns(b":");
        empty.merge(part_a.clone());
        prop_assert_eq!(empty, part_a);
    }

    #[test]
    fn tallies_travel(keys in keys()) {
        let found = tallies(&dump(&keys), 1, 100);
        let text = serde_json::to_string(&found).unwrap();
        prop_assert_eq!(serde_json::from_str::<Tallies>(&text).unwrap(), found);
    }
}

#[test]
fn of_several_errors_the_one_at_the_first_place_is_reported_on_any_threads() {
    let long = |byte: u8| vec![byte; (64 << 20) + 1];
    let two = [b"a\n", &long(b'x')[..], b"\n", &long(b'y'), b"\n"].concat();
    let late = [b"a\nbb\n", &long(b'z')[..]].concat();
    for threads in [1, 2, 4, 4] {
        let inputs = [
            memory("fine", b"k\n"),
            memory("two", &two),
            memory("late", &late),
        ];
        let scanning = Scanning::of("lines").cut(threads, 2 << 20);
        let found = scanning.try_run(&inputs, || Tallies::new(Parts::Slots));
        let message = found.err().expect("a line is too long").to_string();
        assert!(message.starts_with("two: line 2 (byte 2): "), "{message}");
    }
}

/// Types, times and elements are not parsed if unused; no key is lost.
#[test]
fn the_slots_of_a_table_do_not_depend_on_what_else_is_counted() {
    let row = |i: usize| {
        let size = ["7", "", "1k", "2.5 MB", "x"][usize::from(i > 9_000) * (i % 5)];
        let database = ["0", "3", "", "y"][usize::from(i > 9_500) * (i % 4)];
        let expiry = ["", "2026-02-18T06:15:29.123000", "soon"][i % 3];
        format!("k{i},{size},{database},string,raw,{expiry},e{i}\n")
    };
    let rows: String = (0..10_000).map(row).collect();
    let dump = format!("key,size,db,type,encoding,expiry,elements\n{rows}");
    let found = |parts| {
        let scanned = Scanning::of("csv")
            .cut(2, 1 << 16)
            .dump(dump.as_bytes(), || Tallies::new(parts));
        let Tallies { slots, weights, .. } = scanned.tally;
        (slots, weights, scanned.rejects.count)
    };
    let only_slots = found(Parts::Slots);
    assert!(only_slots.2 == 0, "{}", only_slots.2);
    assert_eq!(only_slots, found(Parts::All));
}
