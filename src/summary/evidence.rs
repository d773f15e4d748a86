//! What the counts say about the dump itself: weights that some rows lack, keys that came twice, keys of nobody,
//! nodes without keys. Each is said only where the numbers show it.

use super::balance::tidy;
use super::nodes::Nodes;
use super::sentence::grouped;
use super::units::Units;
use super::{InputFacts, Told};
use crate::metric::Metric;
use crate::tally::Tallies;

/// More repeated keys than this are told.
const REPEATED: f64 = 0.005;
/// From here on the dump holds something twice.
const TWICE: f64 = 0.2;
/// Units that a node's slots would hold by chance, for their absence to mean something: e^-45 is never.
const SURELY: f64 = 45.0;

/// Adds to `input` what the counts tell of it.
pub fn of(tallies: &Tallies, nodes: &Nodes, units: &Units, mut input: InputFacts) -> InputFacts {
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
    warnings.extend(missing(nodes, units.count));
    input.warnings.extend(warnings);
    input
}

fn repeated(share: f64, exact: bool) -> Option<String> {
    let about = if exact { "" } else { "about " };
    let share_text = format!("{about}{:.1} % of the keys stand in the input more than once", 100.0 * share);
    match share {
        share if share > TWICE => Some(format!("{share_text}: a replica, or the same node twice?")),
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

/// Nodes that should hold keys, and hold none.
fn missing(nodes: &Nodes, units: f64) -> Vec<String> {
    let empty = nodes.owning().filter(|node| node.load.keys == 0);
    let missed = empty.filter(|node| f64::from(node.slots) / 16_384.0 * units > SURELY);
    let name = |node: &super::nodes::NodeLoad| node.address.as_ref().unwrap_or(&node.id).to_string();
    missed.map(|node| format!("no key is in the slots of node {}: is its dump missing?", name(node))).collect()
}
