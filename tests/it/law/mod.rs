//! One law: the report of a dump depends on its rows, and on nothing of how they are read; and its counts are those of naive
//! code.
//!
//! A dump is read in ways that are drawn: threads, kernels, chunks, files, compressed, pipes, and parts that are counted apart and
//! merged in any order. Each must give the report of one thread that counts tags alike: all of them in a table, in rows of
//! counters and a second pass, or in one pass. Where the rows are known, this report must hold against a naive count.
//!
//! `SLOTSCOPE_LAW_WAYS` is the number of ways for each dump, `SLOTSCOPE_LAW_DUMPS` that of dumps for each format; some of these
//! are truncated, some are damaged.

mod rows;
pub(crate) mod ways;

use std::collections::{BTreeMap, BTreeSet};

use slotscope::detect::{FORMATS, named};
use slotscope::format::Format;
use slotscope::metric::Metric;
use slotscope::summary::Summary;
use testkit::dumps::spoiled;
use testkit::env::{cases, is_campaign, size};
use testkit::forms;
use testkit::prelude::*;
use testkit::rng::Rng;

use self::rows::{Row, STREAMS, Truth};
use self::ways::{Pass, Read, Way};

/// Dumps of one format, which are one input each.
struct Case {
    name: String,
    dumps: Vec<Vec<u8>>,
    format: Option<&'static dyn Format>,
    /// The counts of dumps whose rows are known.
    truth: Option<Truth>,
}

impl Case {
    /// Checks the case with this number.
    fn check(&self, number: usize, rng: &mut Rng) {
        let mut references: BTreeMap<Pass, Read> = BTreeMap::new();
        let ways: usize = cases("SLOTSCOPE_LAW_WAYS", 10);
        for turn in (0..ways).map(|way| number * ways + way) {
            let way = Way::drawn(rng, turn, self.truth.is_some());
            let reference = references.entry(way.pass).or_insert_with(|| {
                let read = Way::simple(way.pass).read(self);
                if let (Some(truth), Read::Whole(summary)) = (&self.truth, &read) {
                    holds(
                        summary,
                        truth,
                        way.pass,
                        &format!("{}: {:?}", self.name, way.pass),
                    );
                }
                read
            });
            let places = way.differences(&way.read(self), reference);
            assert!(places.is_empty(), "{}: {way:?}: {places}", self.name);
        }
    }
}

/// Checks slots and tags of a report against the truth.
fn holds(summary: &Summary, truth: &Truth, pass: Pass, case: &str) {
    let tags = summary.tags.as_ref().unwrap();
    assert_eq!(tags.tagged_keys, truth.tagged(Metric::Keys), "{case}");
    let is_known = tags.distinct_error == 0.0;
    assert!(is_known || pass != Pass::Table, "{case}");
    assert!(
        !is_known || tags.distinct == truth.tags.len() as u64,
        "{case}"
    );
    for metric in Metric::ALL {
        let Some(slots) = summary.slots.loads.get(metric) else {
            continue;
        };
        for (slot, found) in (0..).zip(slots) {
            let load = truth.slots.get(&slot).map_or(0, |load| load[metric]);
            assert_eq!(*found, load, "{case}: {metric:?} of slot {slot}");
        }
        let mut listed = BTreeSet::new();
        for row in tags.heaviest.get(metric).unwrap() {
            let (name, load) = (&row.tag, truth.tags[&row.tag][metric]);
            let (least, error) = (*row.load.get(metric).unwrap(), row.error(metric));
            let is_within = (least..=least + error).contains(&load);
            assert!(
                is_within,
                "{case}: {name} {metric:?} {load}, not {least} and {error}"
            );
            assert!(error == 0 || pass == Pass::Once, "{case}: {name}");
            assert!(listed.insert(name), "{case}: {name} twice");
        }
        let rest = truth.tags.iter().filter(|(name, _)| !listed.contains(name));
        let most = rest.map(|(_, load)| load[metric]).max().unwrap_or(0);
        let bound = tags.bounds[metric];
        assert!(most <= bound, "{case}: {metric:?} {most} above {bound}");
        if pass == Pass::Table {
            let squares: f64 = truth
                .tags
                .values()
                .map(|load| (load[metric] as f64).powi(2))
                .sum();
            near(
                *tags.squares.get(metric).unwrap() / squares.max(1.0),
                squares / squares.max(1.0),
                1e-9,
            );
        }
    }
    if pass == Pass::Table {
        sizes_and_tags_of_slots_are_true(summary, truth, case);
    }
}

/// The list of the fullest slots names their heaviest tags, and the sizes of tags are those of all.
fn sizes_and_tags_of_slots_are_true(summary: &Summary, truth: &Truth, case: &str) {
    let tags = summary.tags.as_ref().unwrap();
    for (slot, listed) in &tags.by_slot {
        let of_slot = truth
            .tags
            .iter()
            .filter(|(name, _)| slotscope::slot::slot_of_part(&name.0) == *slot);
        let mut of_slot: Vec<_> = of_slot
            .map(|(name, load)| (load[summary.by], name))
            .filter(|(load, _)| *load > 0)
            .collect();
        of_slot.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        of_slot.retain(|(_, name)| name.0.len() <= 512);
        let found = listed
            .iter()
            .map(|row| (*row.load.get(summary.by).unwrap(), &row.tag));
        assert!(found.eq(of_slot.into_iter().take(5)), "{case}: slot {slot}");
    }
    let sizes = &summary.tag_sizes.as_ref().unwrap().keys;
    let most = truth
        .tags
        .values()
        .map(|load| load[Metric::Keys])
        .max()
        .unwrap();
    assert_eq!(
        (sizes.count, sizes.max),
        (truth.tags.len() as u64, most),
        "{case}"
    );
    near(
        sizes.mean,
        truth.tagged(Metric::Keys) as f64 / truth.tags.len() as f64,
        1e-6,
    );
}

#[test]
fn a_report_has_the_counts_of_naive_code_however_the_rows_are_read() {
    let streams = STREAMS.iter().enumerate();
    for (number, (name, make)) in streams.filter(|(number, _)| is_campaign() || number % 3 == 0) {
        let rows = make();
        let mut rng = Rng::new(number as u64);
        let inputs = rows.chunks(rows.len().div_ceil(1 + rng.below(3)));
        let dumps: Vec<_> = inputs.map(rows::dump).collect();
        let format = if dumps[0].starts_with(b"key,size,ops\n") {
            "csv"
        } else {
            "lines"
        };
        let case = Case {
            name: (*name).into(),
            format: named(format).ok(),
            truth: Some(Truth::of(&rows)),
            dumps,
        };
        case.check(number, &mut rng);
    }
}

#[test]
fn a_dump_of_any_format_gives_one_report_however_it_is_read() {
    for seed in 0..size("SLOTSCOPE_LAW_DUMPS", 1) * FORMATS.len() as u64 {
        let mut rng = Rng::new(seed);
        let format = FORMATS[seed as usize % FORMATS.len()];
        let most = if rng.one_in(8) { 9e6 } else { 400e3 };
        let inputs = 1 + rng.below(4) / 2;
        let dumps = (0..inputs).map(|_| {
            let bytes = rng.log_between(2e3, most / inputs as f64) as usize;
            spoiled(forms::dump(format.name(), bytes, &mut rng), &mut rng)
        });
        let dumps: Vec<_> = dumps.collect();
        let case = Case {
            name: format!("{} of seed {seed}", format.name()),
            format: rng.one_in(3).then_some(format),
            truth: None,
            dumps,
        };
        case.check(seed as usize, &mut rng);
    }
}

#[test]
fn names_are_found_where_rows_are_longer_than_a_block_and_keys_are_quoted() {
    let value = "v".repeat(9_000);
    let (mut dump, mut rows) = (String::from("value,key,size\n"), Vec::new());
    let mut add = |key: String, line: String| {
        dump += &line;
        rows.push(Row {
            key,
            size: Some(1),
            ops: 0,
        });
    };
    for i in 0..70_000 {
        add(format!("{{tag:{i}}}"), format!("v,{{tag:{i}}},1\n"));
    }
    for i in 0..300 {
        let tag = format!("{{tag:{}}}", i % 3);
        let line = format!("\"{value}\",\"{tag}\"\"\n\"\"{i}\",1\n");
        add(format!("{tag}\"\n\"{i}"), line);
    }
    let case = Case {
        name: "long rows".into(),
        dumps: vec![dump.into()],
        format: named("csv").ok(),
        truth: Some(Truth::of(&rows)),
    };
    case.check(0, &mut Rng::new(0));
}
