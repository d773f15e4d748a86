//! What the counts say about the dump itself: weights that some rows lack, keys that came twice, keys of nobody,
//! nodes without keys. Each is said only where the numbers show it.

use std::collections::BTreeMap;

use super::balance::tidy;
use super::broken;
use super::nodes::{NodeLoad, Nodes};
use super::sentence::grouped;
use super::{InputFacts, Told};
use crate::metric::Metric;
use crate::name::Name;
use crate::tally::Tallies;

/// More repeated keys than this are told.
const REPEATED: f64 = 0.005;
/// An input with this part of its keys on one node is a dump of that node; where more than this is elsewhere, it is
/// told. Of few keys nothing is.
const OF_ONE_NODE: f64 = 0.8;
const OUTSIDE: f64 = 0.001;
const FEW: u64 = 100;
/// Adds to `input` what the counts tell of it.
pub fn of(tallies: &Tallies, nodes: &Nodes, mut input: InputFacts) -> InputFacts {
    let told = |metric| tallies.weights.get(metric).map(|weighed| weighed.told);
    input.weights = Told { bytes: told(Metric::Bytes), ops: told(Metric::Ops) };
    let duplicates = tallies.names.as_ref().map(|names| &names.duplicates);
    input.duplicate_share = duplicates.and_then(|duplicates| duplicates.share()).map(tidy);

    let mut warnings = Vec::new();
    for metric in Metric::WEIGHTS {
        let missing = told(metric).map_or(0, |told| input.keys - told);
        if missing > 0 {
            let what = if metric == Metric::Bytes { "size" } else { "number of operations" };
            warnings.push(format!("keys without a {what}, which count as 0 {}: {}", metric.name(), grouped(missing)));
        }
        if tallies.weights.get(metric).is_some_and(|weighed| weighed.sum > u128::from(u64::MAX)) {
            let name = metric.name();
            warnings
                .push(format!("all {name} together are more than 64 bits hold: sums stop there; is the column right?"));
        }
    }
    warnings.extend(duplicates.and_then(|duplicates| repeated(duplicates.share()?, duplicates.is_exact())));
    warnings.extend(unowned(nodes));
    warnings.extend(foreign(tallies, nodes, &input));
    input.warnings.extend(warnings);
    input
}

fn repeated(share: f64, exact: bool) -> Option<String> {
    let about = if exact { "" } else { "about " };
    let share_text = format!("{about}{:.1} % of the keys stand in the input more than once", 100.0 * share);
    match share {
        share if share > broken::TWICE => Some(format!("{share_text}: a replica, or the same node twice?")),
        share if share > REPEATED => {
            Some(format!("{share_text}: SCAN may repeat keys, and a dump may cut names short at a NUL or a newline"))
        }
        _ => None,
    }
}

fn unowned(nodes: &Nodes) -> Option<String> {
    let unowned = &nodes.unowned;
    (unowned.load.keys > 0).then(|| {
        format!(
            "keys in slots that no node of the topology owns: {}; is it that of another cluster, or an old one?",
            grouped(unowned.load.keys)
        )
    })
}

/// Inputs that are dumps of one node and hold keys of another, and nodes that several inputs are dumps of.
fn foreign(tallies: &Tallies, nodes: &Nodes, input: &InputFacts) -> Vec<String> {
    let mut warnings = Vec::new();
    if tallies.origins.strays > 0 {
        warnings.push(format!(
            "keys of a node that does not own their slot: {}; is the topology older than the dump, or a slot on its way?",
            grouped(tallies.origins.strays)
        ));
    }
    let mut homes: BTreeMap<usize, Vec<&Name>> = BTreeMap::new();
    for (keys, file) in tallies.origins.inputs().zip(&input.files) {
        let Some((home, most)) = home(keys) else { continue };
        let all: u64 = keys.iter().sum();
        homes.entry(home).or_default().push(&file.name);
        let outside = all - most;
        if outside as f64 > OUTSIDE * all as f64 {
            let node = node_name(&nodes.list[home]);
            let outside = grouped(outside);
            warnings.push(format!(
                "{}: {outside} of its keys are outside the slots of node {node}, which the others are in: is the topology older than the dump?",
                file.name
            ));
        }
    }
    for (home, files) in homes.iter().filter(|(_, files)| files.len() > 1) {
        let names: Vec<_> = files.iter().take(3).map(|name| name.to_string()).collect();
        let more = if files.len() > 3 { ", ..." } else { "" };
        let node = node_name(&nodes.list[*home]);
        warnings.push(format!(
            "{}{more} hold the keys of one node, {node}: a primary and its replica, the same dump twice, or parts of one?",
            names.join(", ")
        ));
    }
    warnings
}

/// The node whose dump an input is, and how many of its keys are there; `None` where it is not one of a single node.
fn home(keys: &[u64]) -> Option<(usize, u64)> {
    let all: u64 = keys.iter().sum();
    let (home, most) = keys[..keys.len() - 1].iter().enumerate().max_by_key(|(_, keys)| **keys)?;
    (all >= FEW && *most as f64 >= OF_ONE_NODE * all as f64).then_some((home, *most))
}

/// Keys that are in the slots of another node than they were taken from.
pub fn strays(tallies: &Tallies) -> u64 {
    let outside = |keys: &[u64]| home(keys).map_or(0, |(_, most)| keys.iter().sum::<u64>() - most);
    tallies.origins.strays + tallies.origins.inputs().map(outside).sum::<u64>()
}

fn node_name(node: &NodeLoad) -> &Name {
    node.address.as_ref().unwrap_or(&node.id)
}
