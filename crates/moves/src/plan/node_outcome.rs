//! A plan's nodes, today and after all moves.

use serde::Serialize;

use slotscope_base::metric::PerMetric;
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;

use crate::plan::inputs::PlannedNode;
use crate::plan::planned::Planned;
use slotscope_model::balance::tidy;

/// Something today and once all has moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "Change_of_{T}"))]
pub struct Change<T> {
    /// Today.
    pub before: T,
    /// Once all has moved.
    pub after: T,
}

/// A node today and then.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeOutcome {
    /// Its id.
    pub id: Name,
    /// Where it listens, if that is known.
    pub address: Option<Name>,
    /// The hostname that it announces, without a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Name>,
    /// Whether the topology has it as failed: it neither gives nor takes slots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Its relative capacity; 0: it is to be emptied, or has failed.
    pub weight: f64,
    /// Its load of the first role in fair shares by capacity; null where its capacity is 0.
    pub over_fair: Option<Change<f64>>,
    /// How many slots it owns.
    pub slots: Change<usize>,
    /// Its load; keys are null if the input does not say them.
    #[serde(flatten)]
    pub load: PerMetric<Option<Change<u64>>>,
}

impl Planned<'_> {
    pub(super) fn nodes(&self) -> Vec<NodeOutcome> {
        let (request, nodes) = (&self.request, &self.cluster.nodes);
        // A failed node keeps its slots.
        let today = &self.placement.owner;
        let then = self.plan.owner.iter().zip(today);
        let then: Vec<_> = then.map(|(then, today)| then.or(*today)).collect();
        let changes = |loads: &[u64]| {
            let [before, after] = [today, &then].map(|owner| request.loads_under(loads, owner));
            let pairs = before.into_iter().zip(after);
            let changes = pairs.map(|(before, after)| Change { before, after });
            changes.collect::<Vec<_>>()
        };
        let slots = changes(&[1; SLOTS]);
        let loads = self.summary.slots.loads.map(|_, loads| changes(loads));
        let first = &request.roles[0];
        let fair = request.fair(&first.loads, &first.capacity);
        let judged = changes(&first.loads);
        // Nodes may be weighed by their maxmemory, which is told relative to the least.
        let weights = first.capacity.iter().copied();
        let least = weights
            .filter(|weight| *weight > 0.0)
            .fold(f64::INFINITY, f64::min);
        let is_given = nodes
            .iter()
            .any(|node| ![0.0, 1.0].contains(&node.capacity));
        let node = |(at, node): (usize, &PlannedNode)| {
            let over = |load: u64| tidy(load as f64 / fair[at]);
            NodeOutcome {
                id: Name::from(node.id.as_str()),
                address: node.address.as_deref().map(Name::from),
                hostname: node.hostname.as_deref().map(Name::from),
                failed: node.failed,
                weight: if is_given || node.capacity <= 0.0 {
                    node.capacity
                } else {
                    tidy(first.capacity[at] / least)
                },
                over_fair: (fair[at] > 0.0).then(|| Change {
                    before: over(judged[at].before),
                    after: over(judged[at].after),
                }),
                slots: Change {
                    before: slots[at].before as usize,
                    after: slots[at].after as usize,
                },
                load: loads.map(|metric, changes| self.knows(metric).then_some(changes[at])),
            }
        };
        nodes.iter().enumerate().map(node).collect()
    }
}
