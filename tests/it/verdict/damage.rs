//! Damaged dumps, alone and with a planted cause: the damage is named first, and the causes in the rest are found even
//! so.

use crate::verdict::planted::{Planted, plant};
use crate::verdict::{analyzed, is_balanced, is_damaged, kinds, lines, on};
use slotscope::slot::slot;
use slotscope::summary::cause::{Cause, CauseKind};
use slotscope::summary::integrity::Damage;
use slotscope::summary::role_verdict::FullestNode;
use slotscope::summary::step::StepKind;
use testkit::env::cases;
use testkit::planted::{even, listing};
use testkit::rng::Rng;

const DAMAGES: [Damage; 4] = [
    Damage::MissingNode,
    Damage::Duplicates,
    Damage::Foreign,
    Damage::Truncated,
];

/// The key of a row.
fn key(row: &str) -> &str {
    row.split(',').next().unwrap_or(row)
}

/// The rows of each node; all begin with the header if there is one.
fn by_node(case: &Planted) -> Vec<Vec<String>> {
    let text = std::str::from_utf8(&case.dump).unwrap();
    let header = text.lines().next().filter(|row| row.starts_with("key,"));
    let mut nodes = vec![Vec::from_iter(header.map(String::from)); case.topology.nodes.len()];
    for row in text.lines().skip(usize::from(header.is_some())) {
        let owner = case.topology.owner(slot(key(row).as_bytes())).unwrap();
        nodes[owner].push(row.to_owned());
    }
    nodes
}

/// The dumps of a case, one per node, with damage that does not change the first node's load.
fn damaged(case: &Planted, damage: Damage, random: &mut Rng) -> Vec<Vec<u8>> {
    let mut nodes = by_node(case);
    let last = nodes.len() - 1;
    let weight = if case.dump.starts_with(b"key,") {
        ",10"
    } else {
        ""
    };
    match damage {
        Damage::MissingNode => nodes[last].truncate(usize::from(!weight.is_empty())),
        Damage::Duplicates => nodes.push(nodes[last].clone()),
        Damage::Foreign => {
            let foreign = random.log_between(500.0, 200_000.0) as usize;
            nodes[last].extend((0..foreign).map(|i| format!("other:{i}{weight}")));
        }
        _ => {
            // Names that contain a NUL: --scan prints only the part before it.
            let of_last = |name: &String| case.topology.owner(slot(name.as_bytes())) == Some(last);
            let name = (0..).map(|i| format!("session{i}")).find(of_last).unwrap();
            let cut = 6_000 + random.below(6_000);
            nodes[last].extend((0..cut).map(|_| format!("{name}{weight}")));
        }
    }
    nodes
        .into_iter()
        .map(|rows| lines(rows.into_iter()))
        .collect()
}

#[test]
fn damage_is_named_first_and_the_causes_of_the_rest_are_found() {
    for number in 0..cases("SLOTSCOPE_CASES", 10) {
        let case = plant(number);
        let damage = DAMAGES[number as usize % DAMAGES.len()];
        let mut random = Rng::new(number);
        let dumps = damaged(&case, damage, &mut random);
        let summary = analyzed(&dumps, &on(&case.topology).by([case.by]));
        let found = summary.verdict.by(case.by).unwrap();
        is_damaged(&summary, damage);
        assert_eq!(kinds(&summary), [StepKind::TakeAgain], "{number}");
        // If the first node is still the fullest, the causes planted there are found, and nothing else.
        let first = &summary.nodes.list[0];
        let is_first = |fullest: &FullestNode| fullest.node == first.id;
        if !found.fullest.as_ref().is_some_and(is_first) {
            continue;
        }
        let planted = case.causes[1].1.as_str();
        let total: f64 = dumps.iter().map(|dump| load(dump, "")).sum();
        let nodes = case.topology.nodes.len() as f64;
        let p = f64::from(first.slots) / 16_384.0;
        let adds = (1.0 - p) * load(&case.dump, unit(planted)) * nodes / total;
        let least = 0.2 * (found.max_over_mean().unwrap() - 1.0);
        let is_planted = |cause: &Cause| {
            let name = cause.name.as_ref().map(ToString::to_string);
            name.is_some_and(|name| unit(planted) == name)
        };
        let named = || found.causes.iter().filter(|cause| cause.name.is_some());
        let is_named = adds < least || named().any(is_planted);
        assert!(is_named, "{number}: {planted} ({adds:.3}) in {found:?}");
        let other = named().find(|cause| cause.excess >= least && !is_planted(cause));
        assert!(other.is_none(), "{number}: {other:?} was not planted");
    }
}

/// The name in the text of a cause: `hash tag {a}`, `key a`.
fn unit(words: &str) -> &str {
    let name = words.rsplit(' ').next().unwrap();
    name.trim_start_matches('{').trim_end_matches('}')
}

/// The load of the rows whose key contains `part`.
fn load(dump: &[u8], part: &str) -> f64 {
    let rows = std::str::from_utf8(dump).unwrap().lines();
    let rows = rows.filter(|row| !row.starts_with("key,") && key(row).contains(part));
    let weight = |row: &str| {
        row.split(',')
            .nth(1)
            .map_or(1.0, |weight| weight.parse().unwrap())
    };
    rows.map(weight).sum()
}

#[test]
fn coarse_tags_are_one_cause_whatever_else_is_uneven() {
    for number in 0..cases("SLOTSCOPE_CASES", 10) {
        let mut random = Rng::new(1_000_000 + number);
        let nodes = 3 + random.below(6);
        let tags = nodes + 1 + random.below(30);
        let tag = |i: usize| format!("{{tenant:{number}-{}}}:{i}", i % tags);
        let dump = lines((0..40_000).map(tag));
        let summary = analyzed(&[dump], &on(&even(nodes)));
        let found = summary.verdict.headline().unwrap();
        let first = &found.causes[0];
        let excess = found.max_over_mean().unwrap() - 1.0;
        // Every tag is heavy, so chance excuses none of the skew: the lower band is the fixed one.
        let is_uneven = found.state.is_uneven();
        assert_eq!(
            (is_uneven, found.bands.lower),
            (excess > 0.05, 1.05),
            "{number}: {found:?}"
        );
        let coarse = (CauseKind::CoarseUnits, Some(tags as u64), Some(1.0));
        let is_coarse = (first.kind, first.units, first.share) == coarse;
        assert!(
            !is_uneven || is_coarse,
            "{number}: {tags} tags on {nodes} nodes: {found:?}"
        );
    }
}

#[test]
fn a_node_that_lacks_keys_is_named_and_not_those_that_are_whole() {
    // The ends of the nodes, the fraction of the keys that each lacks, and the nodes that may be named.
    let cases: [(&[u64], &[f64], &[usize]); 6] = [
        (&[8191, 16_383], &[0.4, 0.0], &[0]),
        (&[8191, 16_383], &[0.0, 0.4], &[1]),
        (&[5460, 10_922, 16_383], &[0.0, 0.3, 0.0], &[1]),
        (&[5460, 10_922, 16_383], &[0.17, 0.0, 0.3], &[0, 2]),
        // The loss on a large node is the least likely by chance, that on a small one the largest.
        (&[7999, 15_999, 16_383], &[0.0, 0.0, 0.3], &[2]),
        (&[7999, 15_999, 16_383], &[0.14, 0.0, 0.3], &[0, 2]),
    ];
    for (ends, lacks, named) in cases {
        let topology = listing(ends);
        let mut random = Rng::new(5);
        let is_kept = |key: &String| {
            let owner = topology.owner(slot(key.as_bytes())).unwrap();
            random.unit() >= lacks[owner]
        };
        let keys = (0..400_000).map(|i| format!("session:{i}")).filter(is_kept);
        let summary = analyzed(&[lines(keys)], &on(&topology));
        let found = summary.verdict.integrity.first();
        let found = found.unwrap_or_else(|| panic!("{lacks:?}: {}", summary.verdict.sentence));
        assert_eq!(found.kind, Damage::MissingNode, "{lacks:?}");
        let node = found.node.as_ref().map(ToString::to_string);
        let may_be = |at: &usize| node == Some(topology.nodes[*at].id.clone());
        assert!(named.iter().any(may_be), "{lacks:?}: {node:?}");
        let of_two = found.sentence.to_string().contains("or the other has");
        assert_eq!(of_two, ends.len() == 2, "{}", found.sentence);
    }
}

#[test]
fn keys_of_another_cluster_on_one_node_put_no_blame_on_the_others() {
    let topology = listing(&[5460, 10_922, 16_383]);
    let is_on = |node: usize| {
        let topology = &topology;
        move |key: &String| topology.owner(slot(key.as_bytes())) == Some(node)
    };
    let foreign = (0..200_000).map(|i| format!("other:{i}"));
    let keys = (0..200_000).map(|i| format!("session:{i}"));
    let dump = lines(keys.chain(foreign.filter(is_on(1))));
    let summary = analyzed(&[dump], &on(&topology));
    is_damaged(&summary, Damage::Foreign);
    let node = summary.verdict.integrity[0].node.as_ref();
    assert_eq!(node.map(ToString::to_string).as_deref(), Some("node1"));
}

#[test]
fn a_file_of_two_primaries_next_to_one_of_one_is_no_damage() {
    let topology = listing(&[5460, 10_922, 16_383]);
    let own = |nodes: &[usize], name: &str| {
        let is_own = |key: &String| nodes.contains(&topology.owner(slot(key.as_bytes())).unwrap());
        let keys = (0..60_000).map(|i| format!("{name}:{i}"));
        keys.filter(is_own).collect::<Vec<_>>()
    };
    let (one, two) = (own(&[0], "user"), own(&[1, 2], "user"));
    let dumps = [&one, &two].map(|keys| lines(keys.iter().cloned()));
    let summary = analyzed(&dumps, &on(&topology));
    is_balanced(&summary);
    // Slots of the other file's node are foreign.
    let mixed = lines(two.into_iter().chain(own(&[0], "other")));
    let dumps = [dumps[0].clone(), mixed];
    is_damaged(&analyzed(&dumps, &on(&topology)), Damage::Foreign);
}
