//! Nodes being filled or drained, which are not judged as if that state were permanent.

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;

use slotscope_model::limit;
use slotscope_model::nodes::Nodes;
use slotscope_model::role_load::RoleLoad;

/// The primary being filled or drained, with less than half of its fair share of every load.
pub(crate) fn of(load: &RoleLoad, nodes: &Nodes) -> Option<Name> {
    let owning = nodes.owning().count() as f64;
    let holds_share = |at: usize| {
        Metric::ALL.into_iter().any(|metric| {
            let total = nodes.total(metric) as f64;
            total > 0.0 && 2.0 * owning * nodes.list[at].load_by(metric) as f64 >= total
        })
    };
    find(nodes, &load.weights, holds_share)
}

/// The primary being filled or drained: one with far fewer slots than its share, unless a heavy slot already fills it.
/// `holds_share` answers that by node index.
fn find(nodes: &Nodes, weights: &[f64], holds_share: impl Fn(usize) -> bool) -> Option<Name> {
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
