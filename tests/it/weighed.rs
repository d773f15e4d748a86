//! Hash tags by keys, bytes and operations: counts and bounds hold for any stream, threads and passes.

use std::collections::BTreeMap;

use slotscope::metric::{Load, Metric};
use slotscope::name::Name;
use slotscope::pipeline::two_pass::Counted;
use slotscope::scan::Scanned;
use slotscope::source::memory::memory;
use slotscope::tally::tags::TagCounts;
use slotscope::tally::{Parts, Tallies};
use testkit::scan::Scanning;

/// A tag's row with bytes and operations; the size is absent if `None`.
type Row = (String, Option<u64>, u64);

fn streams() -> Vec<(&'static str, Vec<Row>)> {
    let light = |i: u64| (format!("d{i}"), Some(i % 50), 1);
    let many = || (0..100_000).map(light);
    let big = || (0..40).map(|i| (format!("big{}", i % 4), Some(5_000_000), 0));
    let by_bytes = many().chain(big()).collect();
    let first = big().chain(many()).collect();
    let by_each = many().enumerate().flat_map(|(i, row)| {
        let heavy = match i % 60 {
            0 => Some((String::from("by keys"), Some(0), 0)),
            1 if i % 3000 == 1 => Some((String::from("by bytes"), Some(100_000), 0)),
            2 if i % 3000 == 2 => Some((String::from("by ops"), None, 70_000)),
            _ => None,
        };
        std::iter::once(row).chain(heavy)
    });
    // Heavy at first, then too light to be tracked, then heavy again.
    let gathers = (0..400_000u64).map(|i| match i {
        70_000..70_100 => (String::from("comes back"), Some(9), 1),
        90_000..390_000 if i % 3000 == 0 => (String::from("comes back"), Some(9), 1),
        390_000..391_000 => (String::from("comes back"), Some(9), 1),
        _ => light(i),
    });
    let untold = many().map(|(tag, _, ops)| (tag, None, ops)).collect();
    vec![
        ("heavy only by bytes", by_bytes),
        ("heavy only by bytes, first", first),
        ("heavy by each metric", by_each.collect()),
        ("gathering unseen", gathers.collect()),
        ("bytes never known", untold),
    ]
}

/// Tags in an order that is hard for a bounded counter.
fn hard_streams() -> Vec<(&'static str, Vec<String>)> {
    let distinct: Vec<String> = (0..100_000).map(|i| format!("d{i}")).collect();
    let sorted = (0..80_000)
        .flat_map(|i| vec![format!("s{i:06}"); if i % 1000 == 0 { 200 } else { 1 }])
        .collect();
    let many = |tag: &str| vec![tag.to_owned(); 5000];
    let late = [distinct.clone(), many("late")].concat();
    let early = [many("early"), distinct.clone()].concat();
    let shifting = (0..200_000).map(|i| match i % 4 {
        0 => format!("hot{}", i / 2000),
        _ => format!("c{i}"),
    });
    let one = distinct.iter().enumerate().flat_map(|(i, tag)| {
        let heavy = (i % 10 == 0).then(|| String::from("one heavy among many"));
        std::iter::once(tag.clone()).chain(heavy)
    });
    let long = (0..70_000).map(|i| match i % 50 {
        0 => "x".repeat(600),
        _ => format!("l{i}"),
    });
    vec![
        ("all distinct", distinct.clone()),
        ("one heavy among many", one.collect()),
        ("sorted", sorted),
        ("heavy at the end", late),
        ("heavy at the start", early),
        ("shifting", shifting.collect()),
        ("a heavy tag too long to keep", long.collect()),
    ]
}

/// The load of each tag.
type Truth = BTreeMap<Name, Load>;

#[test]
fn heavy_tags_are_found_by_every_metric_and_their_bounds_hold() {
    let of_tags = |tags: Vec<String>| tags.into_iter().map(|tag| (tag, None, 0)).collect();
    let hard = hard_streams().into_iter();
    let hard = hard.map(|(stream, tags)| (stream, of_tags(tags)));
    for (stream, rows) in streams().into_iter().chain(hard) {
        let mut truth = Truth::new();
        let mut content = String::from("key,size,ops\n");
        for (i, (tag, bytes, ops)) in rows.iter().enumerate() {
            let load = Load::new(1, bytes.unwrap_or(0), *ops);
            *truth.entry(Name::from(tag.as_str())).or_default() += load;
            let bytes = bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
            content += &format!("{i}:{{{tag}}},{bytes},{ops}\n");
        }
        let inputs = [memory("test", content.as_bytes())];
        let mut reference = None;
        for (threads, chunk) in [(1, content.len()), (2, 50_000), (4, 9001)] {
            let case = format!("{stream}, {threads} threads");
            let scanning = Scanning::of("csv").cut(threads, chunk);
            let once = scanning.run(&inputs, || Tallies::new(Parts::InOnePass));
            one_pass(once, &truth, &case);
            let found = two_passes(scanning.two_passes(&inputs), &truth, &case);
            let is_same = *reference.get_or_insert(found.clone()) == found;
            assert!(is_same, "{case} show");
        }
    }
}

fn one_pass(found: Scanned<Tallies>, truth: &Truth, case: &str) {
    assert_eq!(found.rejects.count, 0, "{case}");
    let TagCounts::HeavyHitters(followed) = found.tally.names.unwrap().tags.counts else {
        panic!("{case}: few tags?")
    };
    let mut unlisted = truth.clone();
    for tag in followed.tags() {
        let load = unlisted
            .remove(&tag.name)
            .unwrap_or_else(|| panic!("{case}: {} twice or never", tag.name));
        for metric in Metric::ALL {
            let (bounds, load) = (tag.load[metric]..=tag.ceiling[metric], load[metric]);
            let (name, is_within) = (&tag.name, bounds.contains(&load));
            assert!(
                is_within,
                "{case}: {name} {metric:?} {load} outside {bounds:?}"
            );
        }
    }
    is_below(&unlisted, followed.bound(), case);
}

/// The load of each of these tags is at most `bound`.
fn is_below(unlisted: &Truth, bound: Load, case: &str) {
    for metric in Metric::ALL {
        let most = unlisted.values().map(|load| load[metric]).max();
        assert!(
            most <= Some(bound[metric]),
            "{case}: {metric:?} {most:?} above {bound:?}"
        );
    }
}

fn two_passes(counted: Counted, truth: &Truth, case: &str) -> (Tallies, Vec<(Name, Load)>, Load) {
    let Counted { first, recount, .. } = counted;
    assert_eq!(first.rejects.count, 0, "{case}");
    let second = recount.unwrap_or_else(|| panic!("{case}: few tags?"));
    let tags = second.tags().map(|(name, load)| (name.clone(), load));
    let mut found: Vec<_> = tags.collect();
    found.sort();
    assert!(!found.is_empty(), "{case}: no heavy tag");
    let mut unlisted = truth.clone();
    for (name, load) in &found {
        assert_eq!(unlisted.remove(name), Some(*load), "{case}: {name}");
    }
    is_below(&unlisted, second.max_error(), case);
    (first.tally, found, second.max_error())
}
