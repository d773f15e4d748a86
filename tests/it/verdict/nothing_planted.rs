//! Inputs with nothing to find: perfect hashes of keys, sizes and operations raise an alarm in at most one of twenty, a
//! few words are not judged, and a ratio that wanders around a band does not flap.
//!
//! `SLOTSCOPE_CASES` is the number of inputs (default: few).

use std::collections::{BTreeMap, BTreeSet};

use crate::verdict::scene::even_ends;
use crate::verdict::{analyzed, lines, on};
use slotscope::Analysis;
use slotscope::detect::named;
use slotscope::slot::slot;
use slotscope::summary::cause::CauseKind;
use slotscope::summary::state::State;
use slotscope::topology::Topology;
use testkit::env::{cases, size};
use testkit::planted::even;
use testkit::rng::Rng;

const KINDS: [&str; 3] = ["keys", "sizes", "captures"];

/// An input, the nodes it is judged on, and its name.
fn draw(number: u64) -> (Vec<u8>, Topology, String) {
    let mut random = Rng::new(9_000_000 + number);
    let kind = KINDS[number as usize % KINDS.len()];
    let most: f64 = size("SLOTSCOPE_MOST_KEYS", 60_000.0);
    let (count, nodes) = match kind {
        "captures" => (
            random.log_between(300.0, most),
            random.log_between(3.0, 1000.9),
        ),
        // From too few keys per node to judge, to many; with few sizes one key is a large part of a node, which is not
        // mere chance.
        _ => {
            let least = if kind == "keys" { 60.0 } else { 3000.0 };
            let each = random.log_between(least, f64::min(20_000.0, most / 3.0));
            let nodes = random.log_between(3.0, (most / each).clamp(3.1, 1000.9));
            (each * nodes.floor(), nodes)
        }
    };
    let nodes = nodes as usize;
    let what = format!("{number}: {count:.0} {kind} on {nodes} nodes");
    let count = count as u64;
    let start = random.next() % 1_000_000;
    let sigma = 0.3 + 0.9 * random.unit();
    let dump = match kind {
        "keys" => lines((0..count).map(|at| format!("user:{}", start + at))),
        "sizes" => {
            let size = |random: &mut Rng| 1 + (200.0 * (sigma * random.normal()).exp()) as u64;
            let rows = (0..count).map(|at| format!("user:{},{}", start + at, size(&mut random)));
            lines(std::iter::once("key,size".to_owned()).chain(rows))
        }
        _ => {
            let keys = 100_000_000;
            let operation = |at: u64| {
                let (second, micros) = (1_795_341_600 + at / 1_000_000, at % 1_000_000);
                let key = random.below(keys);
                format!("{second}.{micros:06} [0 127.0.0.1:5] \"get\" \"user:{key}\"")
            };
            lines((0..count).map(operation))
        }
    };
    (dump, even(nodes), what)
}

#[test]
fn a_perfect_hash_is_watched_in_one_of_twenty_and_never_worse() {
    let cases = cases("SLOTSCOPE_CASES", 20);
    let mut found: BTreeMap<(&str, State), Vec<String>> = BTreeMap::new();
    for number in 0..cases {
        let (dump, topology, what) = draw(number);
        let summary = analyzed(&[dump], &on(&topology));
        let verdict = &summary.verdict;
        let kind = KINDS[number as usize % KINDS.len()];
        let row = found.entry((kind, verdict.state)).or_default();
        row.push(format!("{what}: {}", verdict.sentence));
    }
    for ((kind, state), cases) in &found {
        println!("{kind} {}: {}", state.name(), cases.len());
    }
    let alarms = |is_it: &dyn Fn(State) -> bool| -> Vec<&String> {
        let rows = found.iter().filter(|((_, state), _)| is_it(*state));
        rows.flat_map(|(_, cases)| cases).collect()
    };
    let worse = alarms(&|state| state > State::Watch);
    assert!(worse.is_empty(), "{worse:#?}");
    for kind in KINDS {
        let watched = found.get(&(kind, State::Watch));
        let watched = watched.map_or(&[][..], Vec::as_slice);
        let of_kind = cases.div_ceil(KINDS.len() as u64);
        let most = 0.05 * (of_kind as f64).max(20.0);
        assert!(watched.len() as f64 <= most, "{watched:#?}");
    }
}

#[test]
fn few_keys_of_all_sizes_are_skewed_by_a_key_and_not_by_chance() {
    for number in 0..cases("SLOTSCOPE_CASES", 20) {
        let mut random = Rng::new(13_001_190 + number);
        let (count, nodes) = (1000 + random.below(500), 6 + random.below(5));
        let start = random.below(1_000_000);
        // Pareto 2: some keys are heavy on any node.
        let mut size = || (100.0 / (1.0 - random.unit()).sqrt()) as u64;
        let rows = (0..count).map(|at| format!("user:{},{}", start + at, size()));
        let dump = lines(std::iter::once("key,size".to_owned()).chain(rows.collect::<Vec<_>>()));
        let verdict = analyzed(&[dump], &on(&even(nodes))).verdict;
        let (memory, sentence) = (&verdict.roles[0], &verdict.sentence);
        let has_key = memory
            .causes
            .iter()
            .any(|cause| cause.kind == CauseKind::Key);
        assert!(
            memory.state < State::Skewed || has_key,
            "{number}: {sentence}"
        );
    }
}

#[test]
fn a_few_words_are_not_judged() {
    for number in 0..cases("SLOTSCOPE_CASES", 20) {
        let mut random = Rng::new(11_000_000 + number);
        let words = random.log_between(1.0, 250.0) as usize;
        let mut word = || {
            let len = 1 + random.below(9);
            let letters = (0..len).map(|_| (b'a' + random.below(26) as u8) as char);
            letters.collect::<String>()
        };
        // A word that is repeated is a sign of its own.
        let words: BTreeSet<String> = (0..words).map(|_| word()).collect();
        let nodes = [3, 100][number as usize % 2];
        let analysis = Analysis::new().nodes(nodes).format(named("lines").unwrap());
        let verdict = analyzed(&[lines(words.into_iter())], &analysis).verdict;
        assert_eq!(
            verdict.state,
            State::Unjudged,
            "{number}: {}",
            verdict.sentence
        );
    }
}

/// A dump in which the first of three nodes has `ratio` fair shares.
fn uneven(names: &[Vec<String>; 3], ratio: f64) -> Vec<u8> {
    let all = 12_000.0;
    let first = (ratio * all / 3.0).round() as usize;
    let rest = (all as usize - first) / 2;
    let held = [first, rest, all as usize - first - rest];
    let keys = names
        .iter()
        .zip(held)
        .flat_map(|(names, held)| &names[..held]);
    lines(keys.cloned())
}

#[test]
fn a_ratio_that_wanders_around_a_band_does_not_flap() {
    let ends = even_ends(3);
    let of = |node: usize| {
        let first = if node == 0 { 0 } else { ends[node - 1] + 1 };
        let range = first..=ends[node];
        let is_in = |key: &String| range.contains(&u64::from(slot(key.as_bytes())));
        let keys = (0..).map(|at| format!("user:{at}")).filter(is_in);
        keys.take(5000).collect::<Vec<_>>()
    };
    let names = [of(0), of(1), of(2)];
    let steps: u32 = cases("SLOTSCOPE_CASES", 90);
    for band in [1.05, 1.20] {
        let mut random = Rng::new(3);
        let mut previous = None;
        let (mut changes, mut flaps) = (0, 0);
        let mut without = None;
        for _ in 0..steps {
            let ratio = band + 0.004 * (2.0 * random.unit() - 1.0);
            let dump = uneven(&names, ratio);
            let analysis = on(&even(3)).previous(previous.as_ref());
            let summary = analyzed(std::slice::from_ref(&dump), &analysis);
            let state = summary.verdict.state;
            let before = previous.as_ref().map(|before| before.verdict.state);
            changes += u32::from(before.is_some_and(|before| before != state));
            let alone = analyzed(&[dump], &on(&even(3))).verdict.state;
            flaps += u32::from(without.is_some_and(|before| before != alone));
            (previous, without) = (Some(summary), Some(alone));
        }
        assert!(changes <= 3, "{band}: {changes} changes of the state");
        assert!(
            5 * flaps > steps,
            "{band}: without the report before there are {flaps}"
        );
    }
}
