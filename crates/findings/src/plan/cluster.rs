//! A cluster as plans see it: the owners of slots, pinned slots, and the nodes that take slots.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::slot::SLOTS;

use crate::plan::goals::Goals;
use crate::plan::problem::{Goal, Guard, MoveLimits, Problem};
use crate::topology::Topology;

/// The part of `maxmemory` that a node may use: the rest is for buffers, and for writes until the slots have moved.
pub(crate) const USABLE: f64 = 0.9;

/// Owners and nodes; every list of nodes is in one order, nodes to be added last.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCluster {
    /// The node that owns each slot; slots of failed nodes have no owner here.
    pub owner: Vec<Option<usize>>,
    /// The relative capacity of each node.
    pub capacity: Vec<f64>,
    /// Nodes that are to be emptied, and failed ones.
    pub leaves: Vec<bool>,
    /// Slots that stay where they are.
    pub fixed: Vec<bool>,
    /// `maxmemory` of each node in bytes, where it is known.
    pub maxmemory: Vec<Option<u64>>,
    /// How much may move.
    pub limits: MoveLimits,
}

impl PlanCluster {
    /// The cluster of a topology, and empty nodes to be added. Failed nodes give and take nothing, and slots that are on
    /// their way to another node stay.
    pub fn new(topology: &Topology, added: usize) -> Self {
        let is_up = |node: &usize| topology.nodes[*node].is_up();
        let nodes = topology.nodes.len() + added;
        let failed = topology.nodes.iter().map(|node| !node.is_up());
        let mut fixed = vec![false; SLOTS];
        let in_flight = topology.in_flight.iter();
        in_flight.for_each(|moving| fixed[usize::from(moving.slot)] = true);
        PlanCluster {
            owner: (0..SLOTS)
                .map(|slot| topology.owner(slot as u16).filter(is_up))
                .collect(),
            capacity: vec![1.0; nodes],
            leaves: failed.chain(std::iter::repeat_n(false, added)).collect(),
            fixed,
            maxmemory: vec![None; nodes],
            limits: MoveLimits::default(),
        }
    }

    /// The load of all slots that have an owner.
    fn total(&self, loads: &[u64]) -> u128 {
        let owned = self.owner.iter().zip(loads);
        owned
            .filter(|(owner, _)| owner.is_some())
            .map(|(_, load)| u128::from(*load))
            .sum()
    }
}

impl<'a> Problem<'a> {
    /// The problem of evening out `goals` in a cluster; `None` where no slot of its nodes has any of them.
    pub fn of(
        cluster: &PlanCluster,
        loads: &'a PerMetric<Vec<u64>>,
        goals: &Goals,
    ) -> Option<Self> {
        let of = |metric: Metric| loads.get(metric).map(Vec::as_slice);
        let loaded = |metric: Metric| of(metric).filter(|loads| cluster.total(loads) > 0);
        let hard = |metric: Metric| {
            let limits = cluster.maxmemory.iter();
            let usable = |limit: &Option<u64>| limit.map(|limit| (limit as f64 * USABLE) as u64);
            if metric == Metric::Bytes && cluster.maxmemory.iter().any(Option::is_some) {
                limits.map(usable).collect()
            } else {
                Vec::new()
            }
        };
        let goal = |(metric, tolerance): &(Metric, f64)| {
            Some(Goal {
                metric: *metric,
                loads: loaded(*metric)?,
                capacity: cluster.capacity.clone(),
                tolerance: *tolerance,
                hard: hard(*metric),
            })
        };
        let guard = |(metric, band): &(Metric, f64)| {
            Some(Guard {
                metric: *metric,
                loads: loaded(*metric)?,
                capacity: cluster.capacity.clone(),
                band: *band,
            })
        };
        Problem::with_goals(
            cluster,
            goals.goals.iter().filter_map(goal).collect(),
            goals.guards.iter().filter_map(guard).collect(),
            loaded(Metric::Bytes).or_else(|| loaded(Metric::Keys)),
        )
    }

    /// The same of any goals; `None` without a goal or a node that takes slots.
    pub(crate) fn with_goals(
        cluster: &PlanCluster,
        goals: Vec<Goal<'a>>,
        guards: Vec<Guard<'a>>,
        price: Option<&'a [u64]>,
    ) -> Option<Self> {
        (!goals.is_empty() && cluster.leaves.contains(&false)).then(|| Problem {
            goals,
            guards,
            owner: cluster.owner.clone(),
            leaves: cluster.leaves.clone(),
            fixed: cluster.fixed.clone(),
            price,
            limits: cluster.limits,
        })
    }
}
