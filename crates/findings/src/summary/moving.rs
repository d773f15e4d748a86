//! Nodes being filled or drained, which are not judged as if that state were permanent.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use slotscope_model::limit;
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_model::role_load::RoleLoad;

/// The primary being filled or drained: one with far fewer slots than its share, and with less than half of its fair share of
/// every load, as a heavy slot may fill it already.
pub(crate) fn of(load: &RoleLoad, nodes: &Nodes) -> Option<Name> {
    if nodes.is_even() || nodes.are_files() {
        return None;
    }
    let owning = nodes.owning().count() as f64;
    let holds_share = |node: &NodeLoad| {
        Metric::ALL.into_iter().any(|metric| {
            let total = nodes.total(metric) as f64;
            total > 0.0 && 2.0 * owning * node.load_by(metric) as f64 >= total
        })
    };
    let weighed = nodes.list.iter().zip(&load.weights);
    let up = weighed.filter(|(node, _)| !node.failed);
    let owned: f64 = nodes.list.iter().map(|node| f64::from(node.slots)).sum();
    let total: f64 = up.clone().map(|(_, weight)| weight).sum();
    let has_few = |node: &NodeLoad, weight: f64| {
        f64::from(node.slots) < limit::MOVING * owned * weight / total.max(f64::MIN_POSITIVE)
    };
    let mut moving = up.filter(|(node, weight)| has_few(node, **weight) && !holds_share(node));
    moving.next().map(|(node, _)| node.label())
}
