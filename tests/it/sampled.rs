//! Tags found in a sample are counted by name in the first pass; if that is not enough, a second pass follows as if
//! there had been no sample.

use std::collections::BTreeMap;

use slotscope::metric::{Load, Metric};
use slotscope::name::Name;
use slotscope::pipeline::likely_heavy::Sampling;
use slotscope::pipeline::two_pass::Counted;
use slotscope::source::Source;
use slotscope::source::memory::memory;
use slotscope::tally::Tally;
use slotscope::tally::preselected::Preselected;
use slotscope::tally::tags::{TagCounter, TagCounts};

use testkit::scan::{Scanning, summary};

/// One in eight windows of these tests' dumps.
const SAMPLING: Sampling = Sampling {
    worth_bytes: 0,
    min_bytes: 512 << 10,
    most_tags: 0,
};

const HEAVY: [(&str, usize); 4] = [
    ("common", 9000),
    ("config", 2000),
    ("é{x", 1500),
    ("rare", 600),
];

/// 200,000 keys with a tag of their own, plus the keys of the heavy tags, which are spread over the whole dump, or
/// adjacent in a place that the sample lacks.
fn dump(heavy: &[(&str, usize)], spread: bool) -> Vec<u8> {
    let mut keys: Vec<String> = (0..200_000).map(|i| format!("cart:{{cart:{i}}}")).collect();
    for (tag, count) in heavy {
        keys.extend((0..*count).map(|i| format!("{i}:{{{tag}}}")));
    }
    let len = keys.len();
    if spread {
        (0..len).for_each(|i| keys.swap(i, (i * 7919 + 13) % len))
    } else {
        keys[10_000..].rotate_left(190_000)
    }
    keys.join("\n").into_bytes()
}

fn count(inputs: &[Box<dyn Source>], format: &str, threads: usize, chunk: usize) -> Counted {
    Scanning::of(format)
        .cut(threads, chunk)
        .two_passes_of(inputs, SAMPLING)
}

fn known(counted: &Counted) -> BTreeMap<Name, Load> {
    let tags = &counted.first.tally.names.as_ref().unwrap().tags;
    let known = tags.known.iter().flat_map(Preselected::counted);
    known
        .map(|(name, _, load)| (Name::from(name), load))
        .collect()
}

#[test]
fn one_pass_counts_heavy_tags_exactly_and_bounds_the_others_on_any_thread() {
    let inputs = [memory("dump", &dump(&HEAVY, true))];
    let mut reference = None;
    for (threads, chunk) in [(1, 8 << 20), (2, 100_000), (4, 7001)] {
        let counted = count(&inputs, "lines", threads, chunk);
        assert_eq!((counted.passes, counted.recount.is_some()), (1, false));
        let found = known(&counted);
        for (tag, keys) in HEAVY {
            let load = found.get(&Name::from(tag)).map(|load| load[Metric::Keys]);
            assert_eq!(load, Some(keys as u64), "{tag}");
        }
        let tags = &counted.first.tally.names.as_ref().unwrap().tags;
        let TagCounts::CountMin(rows) = &tags.counts else {
            panic!("more tags than a table holds")
        };
        let unknown = rows.total()[Metric::Keys];
        let counted_by_name: u64 = found.values().map(|load| load[Metric::Keys]).sum();
        assert_eq!(unknown + counted_by_name, tags.tagged);
        assert!((1..30).contains(&rows.heaviest_at_most()[Metric::Keys]));
        let distinct = rows.distinct.estimate();
        assert!((distinct / 200_004.0 - 1.0).abs() < 0.033, "{distinct}");
        let tally = &counted.first.tally;
        assert!(
            tally == reference.get_or_insert(tally.clone()),
            "{threads} threads, chunks of {chunk}"
        );
    }
}

#[test]
fn the_report_lists_them_and_estimates_the_squares_of_all_tags() {
    let counted = count(&[memory("dump", &dump(&HEAVY, true))], "lines", 2, 1 << 20);
    let tags = summary(&counted).tags.unwrap();
    assert!(tags.exact && tags.max_error < 30);
    for ((tag, keys), listed) in HEAVY.iter().zip(&tags.top) {
        assert_eq!(
            (&listed.tag, listed.load.keys),
            (&Name::from(*tag), *keys as u64)
        );
        assert_eq!(listed.error(Metric::Keys), 0);
    }
    let truth = 200_000.0
        + HEAVY
            .iter()
            .map(|(_, keys)| (*keys as f64).powi(2))
            .sum::<f64>();
    assert!((tags.squares.keys / truth - 1.0).abs() < 0.01);
}

/// A sample chooses 4,096 of many equal tags; of the others only rows of counters are known. The choice of a tag does
/// not depend on the cells of the others.
#[test]
fn the_squares_of_tags_that_a_sample_did_not_choose_are_estimated_without_bias() {
    // Enough light tags that a cell with several heavy ones does not reveal that the sample lacks a tag.
    let mut keys: Vec<String> = (0..1_600_000).map(|i| format!("{{c{i}}}")).collect();
    keys.extend((0..9_000 * 24).map(|i| format!("{{heavy{}}}", i % 9_000)));
    let len = keys.len();
    (0..len).for_each(|i| keys.swap(i, (i * 7919 + 13) % len));
    let content = keys.join("\n").into_bytes();
    let sampling = Sampling {
        min_bytes: 6 << 20,
        ..SAMPLING
    };
    let inputs = [memory("dump", &content)];
    let counted = Scanning::of("lines")
        .cut(2, 1 << 20)
        .two_passes_of(&inputs, sampling);
    assert!(known(&counted).len() > 3_000, "{}", known(&counted).len());
    let truth = 1_600_000.0 + 9_000.0 * 576.0;
    let off = summary(&counted).tags.unwrap().squares.keys / truth - 1.0;
    // Five standard errors of one row for the part that it estimates.
    assert!(off.abs() < 0.012, "{off}");
}

#[test]
fn a_heavy_tag_that_the_sample_lacks_is_found_by_a_second_pass() {
    let content = dump(&[("hidden", 1500)], false);
    let inputs = [memory("dump", &content)];
    let counted = count(&inputs, "lines", 2, 100_000);
    assert_eq!((counted.passes, known(&counted)), (2, BTreeMap::new()));
    let without = Scanning::of("lines").cut(2, 100_000).two_passes(&inputs);
    assert!(counted.first.tally == without.first.tally);
    let tags = |counted: &Counted| -> BTreeMap<Name, Load> {
        let recount = counted.recount.as_ref().unwrap();
        recount
            .tags()
            .map(|(name, load)| (name.clone(), load))
            .collect()
    };
    assert_eq!(
        tags(&counted)[&Name::from("hidden")][Metric::Keys],
        1500,
        "the second pass counts it"
    );
    assert_eq!(tags(&counted), tags(&without));
}

/// 200,000 light tags, `heavy` tags with 1,000 keys spread over the dump, and 900 keys of {hidden} in a place that the
/// sample lacks.
fn dump_of_many_heavy(heavy: usize) -> Vec<u8> {
    let mut keys: Vec<String> = (0..200_000).map(|i| format!("cart:{{cart:{i}}}")).collect();
    keys.extend((0..heavy * 1000).map(|i| format!("{i}:{{heavy{}}}", i % heavy)));
    let len = keys.len();
    (0..len).for_each(|i| keys.swap(i, (i * 7919 + 13) % len));
    keys.splice(10_000..10_000, (0..900).map(|i| format!("{i}:{{hidden}}")));
    keys.join("\n").into_bytes()
}

#[test]
fn one_pass_is_enough_where_a_hundred_rows_are_proven_and_no_sooner() {
    for (heavy, passes) in [(99, 2), (100, 1)] {
        let counted = count(
            &[memory("dump", &dump_of_many_heavy(heavy))],
            "lines",
            2,
            100_000,
        );
        assert_eq!(counted.passes, passes, "{heavy} heavy tags");
        let tags = summary(&counted).tags.unwrap();
        let first = &tags.top[..heavy];
        assert!(
            first
                .iter()
                .all(|tag| tag.load.keys == 1000 && tag.tag.0.starts_with(b"heavy"))
        );
        let hidden = tags.top.iter().find(|tag| tag.tag == Name::from("hidden"));
        if passes == 1 {
            assert!(tags.exact && (900..1000).contains(&tags.max_error) && hidden.is_none());
            assert!(tags.top.len() == heavy && tags.certain.is_none());
        } else {
            assert_eq!(hidden.map(|tag| tag.load.keys), Some(900));
        }
    }
}

#[test]
fn tags_that_are_heavy_by_bytes_are_known_as_well() {
    let mut rows: Vec<String> = (0..200_000)
        .map(|i| format!("cart:{{cart:{i}}},100"))
        .collect();
    rows.extend((0..200).map(|i| format!("{i}:{{blobs}},5000000")));
    let len = rows.len();
    (0..len).for_each(|i| rows.swap(i, (i * 7919 + 13) % len));
    let content = format!("key,size\n{}\n", rows.join("\n"));
    let inputs = [memory("dump", content.as_bytes())];
    let counted = count(&inputs, "csv", 2, 100_000);
    assert_eq!(counted.passes, 1);
    assert_eq!(
        known(&counted)[&Name::from("blobs")],
        Load::new(200, 1_000_000_000, 0)
    );
}

/// Tags as counted by a scan that knew `known`.
fn counter(known: &[&str], content: &[u8]) -> TagCounter {
    let names: Vec<Name> = known.iter().map(|name| Name::from(*name)).collect();
    let hashed = |name: &Name| slotscope_hash(&name.0);
    let known = Preselected::of(names.iter().map(|name| (hashed(name), name)));
    let make = || TagCounter::new(false).knowing(Some(known.clone()));
    Scanning::of("lines").dump(content, make).tally
}

/// The hash of a tag, obtained from a table with only this tag.
fn slotscope_hash(name: &[u8]) -> u64 {
    let content = [b"{", name, b"}"].concat();
    let tags = Scanning::of("lines").dump(&content, || TagCounter::new(false));
    let TagCounts::Exact(table) = tags.tally.counts else {
        panic!("one tag")
    };
    table.iter().next().expect("one tag").1
}

#[test]
fn parts_that_know_other_tags_add_up_to_what_no_part_knows() {
    let content = dump(&HEAVY, true);
    let (one, two) = (
        counter(&["common", "rare"], &content),
        counter(&["common", "config"], &content),
    );
    let mut plain = TagCounter::new(false);
    for _ in 0..2 {
        plain.merge(
            Scanning::of("lines")
                .dump(&content, || TagCounter::new(false))
                .tally,
        );
    }
    let mut both = one.clone();
    both.merge(two.clone());
    assert!(both == plain);
    let mut turned = two;
    turned.merge(one.clone());
    assert!(turned == plain);
    // A part small enough for a table merges the counts of the other.
    let small = counter(&[], b"{common}1\n{other}1\n");
    let mut grown = small.clone();
    grown.merge(one.clone());
    let mut expected = one;
    expected.merge(small);
    assert!(grown == expected && grown.known.is_some());
}
