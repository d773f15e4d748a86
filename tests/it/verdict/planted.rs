//! Dumps with planted truth: every skew is named, and every named cause is true.
//!
//! `SLOTSCOPE_CASES` is the number of dumps (default: few).

use crate::verdict::scene::named;
use crate::verdict::{analyzed, lines, on};
use slotscope::metric::Metric;
use slotscope::topology::Topology;
use testkit::env::cases;
use testkit::planted::{listing, uneven_ends};
use testkit::rng::Rng;
use testkit::run::{Said, near};

/// A dump with one or two causes of known size, and the words that name them.
pub(super) struct Planted {
    pub dump: Vec<u8>,
    pub topology: Topology,
    pub by: Metric,
    /// The part of each cause in the first node's load, in fair shares, and its name in a sentence.
    pub causes: Vec<(f64, String)>,
}

/// The first of `n` nodes has `part` of the slots, and the heavy unit is in one of them.
pub(super) fn plant(number: u64) -> Planted {
    let mut random = Rng::new(number);
    let n = 3 + random.below(6);
    let by = [Metric::Keys, Metric::Bytes, Metric::Ops][random.below(3)];
    let kinds = 1 + random.below(3);
    let extra = if kinds & 1 == 1 {
        1.1 + 0.6 * random.unit()
    } else {
        1.0
    };
    let ends = uneven_ends(n, extra);
    let (topology, first) = (listing(&ends), ends[0] + 1);
    let p = first as f64 / 16_384.0;
    let light = 30_000.0;
    let share = if kinds & 2 == 2 {
        0.08 + 0.25 * random.unit()
    } else {
        0.0
    };
    let heavy = (light * share / (1.0 - share)).round();
    // A key is heavy by its weight, a tag also by its keys.
    let is_key = by != Metric::Keys && random.one_in(2);
    let name = named(&format!("hot{number}x"), first as u16);
    let columns = |weight: u64| match by {
        Metric::Keys => String::new(),
        _ => format!(",{weight}"),
    };
    let mut rows = match by {
        Metric::Keys => Vec::new(),
        Metric::Bytes => vec!["key,size".to_owned()],
        _ => vec!["key,ops".to_owned()],
    };
    rows.extend((0..light as u64).map(|i| format!("own:{i}{}", columns(10))));
    if is_key && heavy > 0.0 {
        rows.push(format!("{name}{}", columns(10 * heavy as u64)))
    } else {
        rows.extend((0..heavy as u64).map(|i| format!("k:{{{name}}}:{i}{}", columns(10))))
    }
    let by_unit = (1.0 - p) * share * n as f64;
    let named = if is_key {
        format!("key {name}")
    } else {
        format!("hash tag {{{name}}}")
    };
    Planted {
        dump: lines(rows.into_iter()),
        topology,
        by,
        causes: vec![
            (p * n as f64 - 1.0, "of the slots".into()),
            (by_unit, named),
        ],
    }
}

#[test]
fn every_cause_of_a_fifth_of_the_excess_is_named() {
    for number in 0..cases("SLOTSCOPE_CASES", 10) {
        let case = plant(number);
        let summary = analyzed(&[case.dump], &on(&case.topology).by([case.by]));
        let found = summary.verdict.by(case.by).unwrap();
        let excess = found.max_over_mean().unwrap() - 1.0;
        let sentence = found.sentence.to_string();
        let parts: f64 = found.causes.iter().map(|cause| cause.excess).sum();
        near(parts, excess, 1e-6);
        for (adds, words) in &case.causes {
            if *adds >= 0.2 * excess && found.state.is_uneven() {
                sentence.says(words);
            }
        }
    }
}
