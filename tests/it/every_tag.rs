//! More tags than a table of names holds, or holds efficiently, are all counted in one pass, in any order of the keys: the lists in reports
//! equal an independent count, for any number of threads, chunk size and kernel.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use slotscope::metric::{Load, Metric};
use slotscope::name::Name;
use slotscope::pipeline::two_pass::Counted;
use slotscope::slot::slot_of_part;
use slotscope::source::memory::memory;
use slotscope::tally::recount::hottest;
use slotscope::tally::tag_table::CountedTags;
use slotscope::tally::tags::TagCounts;

use testkit::scan::{Scanning, summary};

/// Number of rows in reports.
const LISTED: usize = 1000;

type Row = (String, u64);

/// A Zipf tail: 90,000 tags, the first with 9,000 keys, most with one to three.
fn zipf() -> Vec<Row> {
    let tags = (1..=90_000u64).flat_map(|i| {
        let keys = 1 + 9_000 / i;
        (0..keys).map(move |key| (format!("cart:{key}:{{user:{i}}}"), 10 + i % 7 + key))
    });
    tags.chain((0..5_000).map(|i| (format!("plain:{i}"), 3)))
        .collect()
}

/// The same in random order.
fn shuffled(mut rows: Vec<Row>) -> Vec<Row> {
    let len = rows.len();
    (0..len).for_each(|i| rows.swap(i, (i * 7919 + 13) % len));
    rows
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort();
    rows
}

fn by_slot(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_cached_key(|(key, _)| (hashslot::slot(key.as_bytes()), key.clone()));
    rows
}

/// The light tags, followed by one with 50,000 keys.
fn heavy_at_the_end(mut rows: Vec<Row>) -> Vec<Row> {
    rows.extend((0..50_000).map(|i| (format!("{{late}}:{i}"), 1)));
    rows
}

/// 100,000 tags with three keys each.
fn uniform() -> Vec<Row> {
    let keys = (0..300_000).map(|i| (format!("{{tag:{}}}:{i}", i % 100_000), 1));
    keys.collect()
}

/// 10,000 tags with four keys each: fewer than a table of names holds.
fn some_thousands() -> Vec<Row> {
    let keys = (0..40_000).map(|i| (format!("{{tag:{}}}:{i}", i % 10_000), 1));
    keys.collect()
}

fn as_lines(rows: &[Row]) -> Vec<u8> {
    let lines: Vec<&str> = rows.iter().map(|(key, _)| key.as_str()).collect();
    lines.join("\n").into_bytes()
}

fn as_csv(rows: &[Row]) -> Vec<u8> {
    let lines = rows.iter().map(|(key, size)| format!("{size},{key}\n"));
    format!("size,key\n{}", lines.collect::<String>()).into_bytes()
}

/// The load of each tag, counted by naive code.
fn truth(rows: &[Row], weighed: bool) -> BTreeMap<Name, Load> {
    let mut truth: BTreeMap<Name, Load> = BTreeMap::new();
    for (key, size) in rows {
        if let Some((_, rest)) = key.split_once('{')
            && let Some((tag, _)) = rest.split_once('}')
            && !tag.is_empty()
        {
            let load = Load::new(1, if weighed { *size } else { 0 }, 0);
            *truth.entry(Name::from(tag)).or_default() += load;
        }
    }
    truth
}

fn counted_tags(counted: &Counted) -> &CountedTags {
    let tags = &counted.first.tally.names.as_ref().unwrap().tags;
    let TagCounts::Shared(found) = &tags.counts else {
        panic!("tags that are counted by name")
    };
    found
}

/// The keys of a listed tag.
fn keys_of(found: &CountedTags, tag: &str) -> u64 {
    let name = Name::from(tag);
    let row = found.named.iter().find(|(of, _)| *of == name);
    row.expect(tag).1[Metric::Keys]
}

/// The load of the first tag cut off from the list of the heaviest, and the number of heavier tags.
fn cut(truth: &BTreeMap<Name, Load>, metric: Metric) -> (u64, usize) {
    let mut loads: Vec<u64> = truth.values().map(|load| load[metric]).collect();
    loads.sort_by_key(|load| Reverse(*load));
    let bound = loads.get(LISTED).copied().unwrap_or(0);
    (bound, loads.partition_point(|load| *load > bound))
}

/// Checks one count against the truth.
fn check(counted: &Counted, truth: &BTreeMap<Name, Load>, metrics: &[Metric]) {
    let found = counted_tags(counted);
    assert_eq!((counted.passes, found.distinct), (1, truth.len() as u64));
    for (name, load) in &found.named {
        assert_eq!(Some(load), truth.get(name), "{name}");
    }
    let named: BTreeSet<&Name> = found.named.iter().map(|(name, _)| name).collect();
    assert_eq!(named.len(), found.named.len(), "a name is listed once");
    for metric in metrics.iter().copied() {
        let (bound, heavier) = cut(truth, metric);
        assert!(found.bound[metric] >= bound);
        let heavy = truth.iter().filter(|(_, load)| load[metric] > bound);
        assert!(heavy.clone().all(|(name, _)| named.contains(name)));
        assert_eq!(heavy.count(), heavier);
        let left_out = truth.iter().filter(|(name, _)| !named.contains(name));
        assert!(left_out.map(|(_, load)| load[metric]).max().unwrap_or(0) <= found.bound[metric]);
        let squares = truth.values().map(|load| u128::from(load[metric]).pow(2));
        let squares: u128 = squares.sum();
        assert_eq!(found.squares.get(metric), Some(&squares));
    }
    let keys = || truth.values().map(|load| load[Metric::Keys]);
    let sizes = (found.sizes.count(), found.sizes.sum(), found.sizes.max());
    let sum: u128 = keys().map(u128::from).sum();
    assert_eq!(sizes, (truth.len() as u64, sum, keys().max().unwrap()));
    let loads = &counted.first.tally.slots.loads;
    for slot in hottest(&loads.keys) {
        let mut of_slot: Vec<_> = truth
            .iter()
            .filter(|(name, _)| usize::from(slot_of_part(&name.0)) == slot)
            .collect();
        of_slot.sort_by_key(|(name, load)| (Reverse(load[Metric::Keys]), (*name).clone()));
        for (name, load) in of_slot.into_iter().take(5) {
            let listed = found.named.iter().any(|row| row == &(name.clone(), *load));
            assert!(listed, "{name} in slot {slot}");
        }
    }
}

#[test]
fn every_listed_tag_equals_an_independent_count_in_any_order_of_keys() {
    let orders = [
        ("shuffled", shuffled(zipf())),
        ("sorted", sorted(zipf())),
        ("in slot order", by_slot(zipf())),
        ("heavy at the end", heavy_at_the_end(shuffled(zipf()))),
        ("uniform", uniform()),
        ("some thousands", some_thousands()),
    ];
    for (order, rows) in orders {
        let (truth, dump) = (truth(&rows, false), as_lines(&rows));
        let inputs = [memory("dump", &dump)];
        let mut reference = None;
        for (threads, chunk) in [(1, 2 << 20), (2, 100_000), (16, 7_001)] {
            let counted = Scanning::of("lines").cut(threads, chunk).one_pass(&inputs);
            check(&counted, &truth, &[Metric::Keys]);
            let tally = &counted.first.tally;
            let is_same = tally == reference.get_or_insert(tally.clone());
            assert!(is_same, "{order}: {threads} threads, chunks of {chunk}");
            let listed = summary(&counted).tags.unwrap();
            assert!(listed.exact && listed.distinct_error == 0.0, "{order}");
            assert_eq!(listed.top.len(), LISTED.min(truth.len()));
        }
        for kernel in hashslot::available() {
            let scanning = Scanning {
                kernel,
                ..Scanning::of("lines")
            };
            let tally = scanning.one_pass(&inputs).first.tally;
            assert!(
                Some(&tally) == reference.as_ref(),
                "{order}: {}",
                kernel.name
            );
        }
    }
}

#[test]
fn sizes_are_summed_for_every_tag_and_names_are_read_again_from_several_inputs() {
    let rows = shuffled(zipf());
    let truth = truth(&rows, true);
    let (first, rest) = rows.split_at(70_000);
    let inputs = [
        memory("empty", b"size,key\n"),
        memory("first", &as_csv(first)),
        memory("rest", &as_csv(rest)),
    ];
    let mut reference = None;
    for (threads, chunk) in [(1, 2 << 20), (4, 30_000)] {
        let counted = Scanning::of("csv").cut(threads, chunk).one_pass(&inputs);
        check(&counted, &truth, &[Metric::Keys, Metric::Bytes]);
        let tally = &counted.first.tally;
        let is_same = tally == reference.get_or_insert(tally.clone());
        assert!(is_same, "{threads} threads");
    }
}

#[test]
fn names_are_found_where_rows_are_longer_than_a_block_and_keys_are_quoted() {
    let value = "v".repeat(9_000);
    let long = |i: u32| format!("\"{value}\",\"{{tag:{i}}}\"\"\n\"\"{i}\",{i}\n");
    let mut dump = String::from("value,key,size\n");
    dump.extend((0..70_000u32).map(|i| format!("v,{{tag:{i}}},1\n")));
    dump.extend((0..300).map(|i| long(i % 3)));
    let inputs = [memory("dump", dump.as_bytes())];
    let counted = Scanning::of("csv").cut(2, 100_000).one_pass(&inputs);
    let found = counted_tags(&counted);
    assert_eq!(found.distinct, 70_000);
    (0..3).for_each(|i| assert_eq!(keys_of(found, &format!("tag:{i}")), 101));
}

#[test]
fn a_tag_of_many_millions_of_keys_is_counted_to_the_last() {
    // More than fits into a word of the table.
    let many = b"{a}\n".repeat(20_000_000);
    let dump = [&as_lines(&uniform())[..], b"\n", &many].concat();
    let scanning = Scanning::of("lines").cut(4, 1 << 20);
    let counted = scanning.one_pass(&[memory("dump", &dump)]);
    assert_eq!(keys_of(counted_tags(&counted), "a"), 20_000_000);
}

#[test]
fn with_more_tags_than_fit_the_report_is_that_of_rows_of_counters() {
    let rows = heavy_at_the_end(uniform());
    let dump = as_lines(&rows);
    let inputs = [memory("dump", &dump)];
    for (threads, chunk) in [(1, 2 << 20), (4, 10_000)] {
        let scanning = Scanning::of("lines").cut(threads, chunk);
        let fits = scanning.two_passes_of(&inputs, 100_001);
        assert_eq!(counted_tags(&fits).distinct, 100_001);
        let not = scanning.two_passes_of(&inputs, 100_000);
        let none = scanning.two_passes_of(&inputs, 0);
        assert!(not.first.tally == none.first.tally);
        assert!(matches!(
            not.first.tally.names.as_ref().unwrap().tags.counts,
            TagCounts::CountMin(_)
        ));
    }
}

#[test]
fn names_too_long_to_be_listed_raise_the_bound_of_the_others() {
    let long = "x".repeat(600);
    let mut rows = shuffled(zipf());
    rows.extend((0..20_000).map(|i| (format!("{{{long}}}{i}"), 1)));
    let dump = as_lines(&rows);
    for (threads, chunk) in [(1, 2 << 20), (4, 100_000)] {
        let scanning = Scanning::of("lines").cut(threads, chunk);
        let counted = scanning.one_pass(&[memory("dump", &dump)]);
        let found = counted_tags(&counted);
        assert!(found.named.iter().all(|(name, _)| name.0.len() < 600));
        assert_eq!(found.bound[Metric::Keys], 20_000);
    }
}
