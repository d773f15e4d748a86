//! Nodes being filled or drained, which are not judged as if that state were permanent.

use slotscope_engine::name::Name;

use crate::summary::limit;
use crate::summary::nodes::Nodes;

/// The primary being filled or drained: one with far fewer slots than its share, unless a heavy slot already fills it.
/// `holds_share` answers that by node index.
pub(crate) fn find(
    nodes: &Nodes,
    weights: &[f64],
    holds_share: impl Fn(usize) -> bool,
) -> Option<Name> {
    if nodes.is_even() || nodes.are_files() {
        return None;
    }
    let weight = |at: usize| weights.get(at).copied().unwrap_or(1.0);
    let up = || {
        nodes
            .list
            .iter()
            .enumerate()
            .filter(|(_, node)| !node.failed)
    };
    let owned: f64 = nodes.list.iter().map(|node| f64::from(node.slots)).sum();
    let total: f64 = up().map(|(at, _)| weight(at)).sum();
    let is_moving = |(at, slots): (usize, u32)| {
        f64::from(slots) < limit::MOVING * owned * weight(at) / total.max(f64::MIN_POSITIVE)
    };
    let few = up().find(|(at, node)| is_moving((*at, node.slots)) && !holds_share(*at));
    few.map(|(_, node)| node.label())
}
