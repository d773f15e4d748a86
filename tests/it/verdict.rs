//! The verdict on dumps whose truth is planted: what is uneven is named, what is named is true, and a remedy that is
//! carried out gives what was promised.
//!
//! `SLOTSCOPE_CASES` says how many dumps (default: a small part).

use crate::support::env::size;
use crate::support::planted::{even, listing};
use crate::support::rng::Rng;
use slotscope::Analysis;
use slotscope::analysis::reading::{Options, Reading};
use slotscope::metric::Metric;
use slotscope::slot::slot;
use slotscope::source::Found;
use slotscope::source::memory::memory;
use slotscope::summary::Summary;
use slotscope::summary::cause::{CauseKind, State};
use slotscope::summary::integrity::Damage;
use slotscope::summary::remedy::{Remedy, RemedyKind};
use slotscope::summary::risk::RiskKind;
use slotscope::summary::verdict::MetricVerdict;
use slotscope::topology::Topology;

/// The analysis of dumps, each a file.
fn analyzed(dumps: &[Vec<u8>], analysis: &Analysis) -> Summary {
    let sources = dumps.iter().enumerate();
    let found = Found {
        sources: sources
            .map(|(i, dump)| memory(&format!("dump-{i}"), dump))
            .collect(),
        passed_over: 0,
    };
    let options = Options {
        threads: Some(2),
        ..Options::default()
    };
    analysis
        .run_on(Reading::new(found, options).unwrap())
        .unwrap()
}

fn on(topology: &Topology) -> Analysis {
    Analysis::new().topology(topology.clone())
}

fn lines(keys: impl Iterator<Item = String>) -> Vec<u8> {
    keys.map(|key| key + "\n").collect::<String>().into_bytes()
}

fn worst(summary: &Summary) -> &MetricVerdict {
    summary.verdict.worst().unwrap()
}

fn sentence(summary: &Summary) -> String {
    summary.verdict.sentence.to_string()
}

fn remedy(found: &MetricVerdict, kind: RemedyKind) -> &Remedy {
    let remedy = found.remedies.iter().find(|remedy| remedy.kind == kind);
    remedy.unwrap_or_else(|| panic!("{kind:?} in {:#?}", found.remedies))
}

#[test]
fn all_keys_under_one_tag_are_no_chance() {
    let dump = lines((0..50_000).map(|i| format!("{{myapp}}:user:{i}")));
    let summary = analyzed(&[dump], &Analysis::new().nodes(3));
    assert_eq!(summary.verdict.state, State::Skewed);
    assert!(
        sentence(&summary).contains("hash tag {myapp} (+2.00)"),
        "{}",
        sentence(&summary)
    );
    let first = &worst(&summary).remedies[0];
    assert_eq!((first.kind, first.parts), (RemedyKind::Split, Some(60)));
    assert!(first.max_over_mean_after <= 1.05, "{first:?}");
}

#[test]
fn few_large_tags_are_the_cause() {
    for (tags, nodes) in [(10, 6), (10, 12), (20, 12), (40, 6)] {
        let dump = lines((0..60_000).map(|i| format!("{{tenant:{}}}:{i}", i % tags)));
        let summary = analyzed(&[dump], &Analysis::new().nodes(nodes));
        assert_eq!(summary.verdict.state, State::Skewed, "{tags} on {nodes}");
        let first = &worst(&summary).causes[0];
        assert_eq!(
            (first.kind, first.units),
            (CauseKind::CoarseTags, Some(tags))
        );
        assert_eq!(first.share, Some(1.0));
    }
}

#[test]
fn a_tag_does_not_hide_behind_uneven_slots() {
    let topology = listing(&[7060, 12_522, 16_383]);
    let own = |i: usize| format!("session:{i}");
    let acme = (0..40_000).map(|i| format!("order:{{tenant:acme}}:{i}"));
    let dump = lines((0..160_000).map(own).chain(acme));
    let summary = analyzed(&[dump], &on(&topology));
    let sentence = sentence(&summary);
    for part in [
        "it owns 43 % of the slots (+0.29)",
        "hash tag {tenant:acme} (+0.34)",
    ] {
        assert!(sentence.contains(part), "{part} in {sentence}");
    }
    let found = worst(&summary);
    let equal = remedy(found, RemedyKind::EqualSlots);
    assert!(equal.max_over_mean_after > 1.2, "{equal:?}");
    assert_eq!(found.remedies[0].kind, RemedyKind::Plan);
    assert!(
        found.remedies[0].max_over_mean_after <= 1.02,
        "{:?}",
        found.remedies[0]
    );
    let command = found.remedies[0].command.as_ref().unwrap().to_string();
    assert_eq!(
        command,
        "slotscope plan dump-0 --topology cluster.nodes --commands setslot > moves.sh"
    );
}

#[test]
fn the_worst_metric_has_the_headline_and_unknown_memory_is_a_risk() {
    let rows = (0..60_000).map(|i| format!("session:{i},100"));
    let table = |rows| lines(["key,size".into()].into_iter().chain(rows));
    let giant = ["lb:global:alltime,9000000".into()];
    let summary = analyzed(
        &[table(
            rows.clone().chain(giant).collect::<Vec<_>>().into_iter(),
        )],
        &Analysis::new().nodes(3),
    );
    assert_eq!(
        (summary.verdict.metric, summary.verdict.state),
        (Metric::Bytes, State::Skewed)
    );
    assert_eq!(
        summary.by,
        Metric::Bytes,
        "the tables are by the metric of the verdict"
    );
    assert!(summary.verdict.memory_known);
    assert_eq!(
        summary.verdict.by(Metric::Keys).unwrap().state,
        State::Balanced
    );
    assert!(
        sentence(&summary).contains("key lb:global:alltime"),
        "{}",
        sentence(&summary)
    );
    let kinds = |summary: &Summary| {
        summary
            .verdict
            .risks
            .iter()
            .map(|risk| risk.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&summary), [RiskKind::HeavyKey]);
    let plain = analyzed(
        &[lines((0..9000).map(|i| i.to_string()))],
        &Analysis::new().nodes(3),
    );
    assert!(!plain.verdict.memory_known);
    assert_eq!(kinds(&plain), [RiskKind::MemoryUnknown]);
}

#[test]
fn a_slot_full_of_different_keys_is_no_broken_dump() {
    let tags = (0..)
        .map(|i| format!("t{i}"))
        .filter(|tag| slot(tag.as_bytes()) % 4096 == 77);
    let tags: Vec<String> = tags
        .filter(|tag| slot(tag.as_bytes()) == 4173)
        .take(12)
        .collect();
    let planted = tags
        .iter()
        .flat_map(|tag| (0..900).map(move |i| format!("m:{{{tag}}}:{i}")));
    let dump = lines((0..200_000).map(|i| format!("u:{i}")).chain(planted));
    let summary = analyzed(&[dump], &Analysis::new().nodes(20));
    assert_ne!(
        summary.verdict.state,
        State::Suspicious,
        "{}",
        sentence(&summary)
    );
    let kinds: Vec<_> = worst(&summary)
        .causes
        .iter()
        .map(|cause| cause.kind)
        .collect();
    assert!(
        kinds.contains(&CauseKind::Collisions) || kinds.contains(&CauseKind::Tag),
        "{kinds:?}"
    );
}

#[test]
fn few_keys_on_many_nodes_are_chance() {
    for keys in [1, 2, 3, 5, 10, 30, 100, 300] {
        for seed in 0..20 {
            let dump = lines((0..keys).map(|i| format!("k{seed}-{i}-{}", i * 7919)));
            let analysis = Analysis::new()
                .nodes(100)
                .format(slotscope::format::named("lines").unwrap());
            let summary = analyzed(&[dump], &analysis);
            assert_eq!(
                summary.verdict.state,
                State::Balanced,
                "{keys}: {}",
                sentence(&summary)
            );
        }
    }
}

#[test]
fn a_dump_that_occurs_twice_is_found_without_a_topology() {
    let nodes = 7;
    let topology = even(nodes);
    let keys: Vec<String> = (0..40_000).map(|i| format!("user:{i}")).collect();
    let of = |node: usize| {
        let keys = keys
            .iter()
            .filter(|key| topology.owner(slot(key.as_bytes())) == Some(node));
        lines(keys.cloned())
    };
    let mut dumps: Vec<Vec<u8>> = (0..nodes).map(of).collect();
    dumps.push(of(3));
    let summary = analyzed(&dumps, &Analysis::new().nodes(nodes));
    assert_eq!(
        summary.verdict.state,
        State::Suspicious,
        "{}",
        sentence(&summary)
    );
    assert_eq!(summary.verdict.integrity[0].kind, Damage::Duplicates);
    assert!(
        worst(&summary).remedies.is_empty(),
        "a damaged dump is taken again"
    );
}

#[test]
fn however_many_foreign_keys_are_found() {
    let topology = listing(&[3275, 6552, 9829, 13_106, 16_383]);
    let keys: Vec<String> = (0..50_000).map(|i| format!("user:{i}")).collect();
    for foreign in [500, 20_000, 200_000] {
        let dump = |node: usize| {
            let own = keys
                .iter()
                .filter(|key| topology.owner(slot(key.as_bytes())) == Some(node));
            let other = (0..if node == 2 { foreign } else { 0 }).map(|i| format!("other:{i}"));
            lines(own.cloned().chain(other))
        };
        let dumps: Vec<Vec<u8>> = (0..5).map(dump).collect();
        let summary = analyzed(&dumps, &on(&topology));
        assert_eq!(
            summary.verdict.state,
            State::Suspicious,
            "{foreign}: {}",
            sentence(&summary)
        );
        assert_eq!(
            summary.verdict.integrity[0].kind,
            Damage::Foreign,
            "{foreign}"
        );
    }
}

/// A dump with one or two causes of a known size, and the words that name them.
struct Planted {
    dump: Vec<u8>,
    topology: Topology,
    by: Metric,
    /// What each adds to the first node in fair shares, and how a sentence names it.
    causes: Vec<(f64, String)>,
}

/// The first node of `n` has `part` of the slots, and the heavy unit is in one of them.
fn plant(number: u64) -> Planted {
    let mut random = Rng::new(number);
    let n = 3 + random.below(6);
    let by = [Metric::Keys, Metric::Bytes, Metric::Ops][random.below(3)];
    let kinds = 1 + random.below(3);
    let extra = if kinds & 1 == 1 {
        1.1 + 0.6 * random.unit()
    } else {
        1.0
    };
    let first = (16_384.0 / n as f64 * extra) as u64;
    let rest = (16_384 - first) as f64 / (n - 1) as f64;
    let ends: Vec<u64> = (0..n as u64)
        .map(|i| first + (rest * i as f64).round() as u64 - 1)
        .collect();
    let topology = listing(&ends);
    let p = first as f64 / 16_384.0;
    let light = 30_000.0;
    let share = if kinds & 2 == 2 {
        0.08 + 0.25 * random.unit()
    } else {
        0.0
    };
    let heavy = (light * share / (1.0 - share)).round();
    // A key is heavy by its weight, a tag by its keys too.
    let is_key = by != Metric::Keys && random.one_in(2);
    let name = (0..)
        .map(|i| format!("hot{number}x{i}"))
        .find(|name| u64::from(slot(name.as_bytes())) < first);
    let name = name.unwrap();
    let columns = |weight: u64| match by {
        Metric::Keys => String::new(),
        _ => format!(",{weight}"),
    };
    let mut rows = Vec::new();
    match by {
        Metric::Keys => {}
        by => rows.push(format!(
            "key,{}",
            if by == Metric::Bytes { "size" } else { "ops" }
        )),
    }
    rows.extend((0..light as u64).map(|i| format!("own:{i}{}", columns(10))));
    match is_key {
        true if heavy > 0.0 => rows.push(format!("{name}{}", columns(10 * heavy as u64))),
        _ => rows.extend((0..heavy as u64).map(|i| format!("k:{{{name}}}:{i}{}", columns(10)))),
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
    for number in 0..size("SLOTSCOPE_CASES", 40) {
        let case = plant(number);
        let summary = analyzed(&[case.dump], &on(&case.topology));
        let found = summary.verdict.by(case.by).unwrap();
        let excess = found.max_over_mean().unwrap() - 1.0;
        let sentence = found.sentence.to_string();
        let parts: f64 = found.causes.iter().map(|cause| cause.excess).sum();
        assert!(
            (parts - excess).abs() < 1e-6,
            "{number}: {parts} for {excess}"
        );
        for (adds, words) in &case.causes {
            let is_large = *adds >= 0.2 * excess && found.state.is_uneven();
            assert!(
                !is_large || sentence.contains(words),
                "{number}: {words} ({adds:.3}) in {sentence}"
            );
        }
    }
}

/// The dump with the keys of the tags in `remedy` renamed, each to the part of its CRC16.
fn split(dump: &[u8], remedy: &Remedy) -> Vec<u8> {
    let text = std::str::from_utf8(dump).unwrap();
    let parts = remedy.parts.unwrap();
    let renamed = |line: &str| {
        let key = line.split(',').next().unwrap();
        let tag = remedy
            .names
            .iter()
            .map(|name| format!("{{{name}}}"))
            .find(|tag| key.contains(tag));
        let part = u32::from(hashslot::crc16(key.as_bytes())) % parts;
        match tag {
            Some(tag) => line.replace(&tag, &format!("{}:{part}}}", &tag[..tag.len() - 1])),
            None => line.to_owned(),
        }
    };
    lines(text.lines().map(renamed))
}

/// The topology after the moves of `slotscope plan`.
fn planned(summary: &Summary, topology: &Topology, by: Metric) -> Topology {
    use slotscope::plan::problem::MoveLimits;
    use slotscope::plan::request::PlanRequest;
    let request = PlanRequest {
        by: vec![(by, 1.0)],
        weights: Vec::new(),
        add: 0,
        remove: Vec::new(),
        exclude: Vec::new(),
        limits: MoveLimits::default(),
        tolerance: 0.01,
    };
    let outcome = request.on(topology).unwrap().plan(summary).unwrap();
    let mut owner: Vec<usize> = (0..16_384)
        .map(|slot| topology.owner(slot).unwrap())
        .collect();
    let index = |id: &slotscope::name::Name| {
        topology
            .nodes
            .iter()
            .position(|node| node.id.as_bytes() == id.0)
            .unwrap()
    };
    for moved in &outcome.moves {
        for (first, last) in &moved.ranges {
            owner[usize::from(*first)..=usize::from(*last)].fill(index(&moved.to));
        }
    }
    of_owners(&owner, topology)
}

fn of_owners(owner: &[usize], topology: &Topology) -> Topology {
    let line = |(index, node): (usize, &slotscope::topology::Node)| {
        let slots = (0..16_384)
            .filter(|slot| owner[*slot] == index)
            .map(|slot| format!(" {slot}"));
        let address = node.address.as_deref().unwrap();
        format!(
            "{} {address}@1 master - 0 0 1 connected{}\n",
            node.id,
            slots.collect::<String>()
        )
    };
    let text: String = topology.nodes.iter().enumerate().map(line).collect();
    Topology::parse("cluster.nodes", text.as_bytes()).unwrap()
}

#[test]
fn a_remedy_that_is_carried_out_gives_what_was_promised() {
    let mut tried = 0;
    for number in 0..size("SLOTSCOPE_CASES", 40) {
        let case = plant(number);
        let before = analyzed(std::slice::from_ref(&case.dump), &on(&case.topology));
        let found = before.verdict.by(case.by).unwrap();
        for remedy in &found.remedies {
            let (dump, summary) = match remedy.kind {
                RemedyKind::Plan => (case.dump.clone(), None),
                RemedyKind::Split if remedy.unit == Some(CauseKind::Tag) => {
                    let dump = split(&case.dump, remedy);
                    let after = analyzed(std::slice::from_ref(&dump), &on(&case.topology));
                    (dump, Some(after))
                }
                _ => continue,
            };
            let moved = planned(summary.as_ref().unwrap_or(&before), &case.topology, case.by);
            let after = analyzed(&[dump], &on(&moved));
            let ratio = after.verdict.by(case.by).unwrap().max_over_mean().unwrap();
            let promised = remedy.max_over_mean_after;
            assert!(
                (ratio - promised).abs() <= 0.01,
                "{number}: {ratio} for {remedy:?}"
            );
            tried += 1;
        }
    }
    assert!(tried > 0);
}
