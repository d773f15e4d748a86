//! The planner's input: roles in order, memory limits, owner by slot, and pinned slots.

use std::borrow::Cow;

use slotscope_base::metric::Metric;

/// A request for moves. Nodes are indices; slots without an owner stay without one.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveRequest<'a> {
    /// The judged loads in order of priority; at least one.
    pub roles: Vec<Role<'a>>,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// Nodes to be emptied, which receive nothing. The slots of a failed node have no owner here.
    pub leaves: Vec<bool>,
    /// Pinned slots.
    pub fixed: Vec<bool>,
    /// Memory limits, if any node has one.
    pub caps: Option<Caps>,
    /// The bytes in each slot, the cost of moving it. Without them, the loads of the first role are the cost.
    pub price: Option<&'a [u64]>,
    /// Limits on what moves.
    pub limits: MoveLimits,
    /// All nodes in an order that does not depend on what they own, in which ties fall; empty: as they are numbered.
    pub order: Vec<usize>,
    /// Whether few slots that bring nodes below their limits are a plan of their own, where evening out takes many more.
    pub relieves_first: bool,
}

/// A load that nodes are judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct Role<'a> {
    /// Its measure.
    pub metric: Metric,
    /// The load of each slot.
    pub loads: Cow<'a, [u64]>,
    /// The relative capacity of each node, on any scale.
    pub capacity: Vec<f64>,
    /// How far above its fair share a node may end up: 0.03 for 3%.
    pub tolerance: f64,
    /// Nodes up to this many fair shares are even. Infinite for a load that only has limits.
    pub band: f64,
    /// Whether slots move to even it out; otherwise it must only not get worse.
    pub is_goal: bool,
}

/// The maximum that nodes can hold of a role, in its unit; `None` for a node without a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Caps {
    /// Index of the role.
    pub role: usize,
    /// Fill target, `AIMED` of the node's limit; a fuller node that is not near its limit may stay so.
    pub aimed: Vec<Option<f64>>,
    /// No move brings a node above this, slightly below `FULL` of its limit.
    pub hard: Vec<Option<f64>>,
}

/// Limits on what moves.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MoveLimits {
    /// Maximum number of slots.
    pub slots: Option<u64>,
    /// Maximum bytes, by `MoveRequest::price`.
    pub bytes: Option<u64>,
}

impl<'a> Role<'a> {
    /// A load to even out over nodes of equal capacity, regardless of its current skew.
    pub fn even(metric: Metric, loads: &'a [u64], nodes: usize, tolerance: f64) -> Self {
        Role {
            metric,
            loads: loads.into(),
            capacity: vec![1.0; nodes],
            tolerance,
            band: 1.0 + tolerance,
            is_goal: true,
        }
    }

    /// Whether the role is judged, not only limited.
    pub fn is_judged(&self) -> bool {
        self.band.is_finite()
    }
}

impl<'a> MoveRequest<'a> {
    /// A request in which all nodes stay and nothing is pinned or limited.
    pub fn new(roles: Vec<Role<'a>>, owner: Vec<Option<usize>>) -> Self {
        let nodes = roles.iter().map(|role| role.capacity.len()).max();
        MoveRequest {
            leaves: vec![false; nodes.unwrap_or(0)],
            fixed: vec![false; owner.len()],
            roles,
            owner,
            caps: None,
            price: None,
            limits: MoveLimits::default(),
            order: Vec::new(),
            relieves_first: false,
        }
    }

    /// The request after moves.
    pub fn with_owner(&self, owner: Vec<Option<usize>>) -> Self {
        MoveRequest {
            owner,
            ..self.clone()
        }
    }

    /// The number of nodes, leaving ones included.
    pub fn nodes(&self) -> usize {
        self.leaves.len()
    }

    /// The nodes that stay.
    pub fn staying(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes()).filter(|node| !self.leaves[*node])
    }

    /// Whether nodes join or leave.
    pub fn changes_nodes(&self) -> bool {
        let owns = self.owns();
        let mut pairs = owns.iter().zip(&self.leaves);
        pairs.any(|(owns, leaves)| owns == leaves)
    }

    /// Whether a node that stays owns no slots.
    pub fn has_empty(&self) -> bool {
        let owns = self.owns();
        self.staying().any(|node| !owns[node])
    }

    /// By node: whether it owns a slot.
    fn owns(&self) -> Vec<bool> {
        let mut owns = vec![false; self.nodes()];
        let owners = self.owner.iter().flatten();
        owners.for_each(|node| owns[*node] = true);
        owns
    }

    /// The price of a move of each slot.
    pub fn prices(&self) -> &[u64] {
        self.price
            .or_else(|| self.roles.first().map(|role| &*role.loads))
            .unwrap_or_default()
    }

    /// The load of each node under `owner`.
    pub fn loads_under(&self, loads: &[u64], owner: &[Option<usize>]) -> Vec<u64> {
        let mut sums = vec![0u64; self.nodes()];
        for (owner, load) in owner.iter().zip(loads) {
            if let Some(node) = owner {
                sums[*node] = sums[*node].saturating_add(*load);
            }
        }
        sums
    }

    /// The fair share of each staying node, in the unit of `loads`; 0 for leaving nodes.
    pub fn fair(&self, loads: &[u64], capacity: &[f64]) -> Vec<f64> {
        let owned = self.owner.iter().zip(loads);
        let total: f64 = owned
            .filter(|(owner, _)| owner.is_some())
            .map(|(_, load)| *load as f64)
            .sum();
        let whole: f64 = self.staying().map(|node| capacity[node]).sum();
        let share = |node: usize| {
            if self.leaves[node] || whole <= 0.0 {
                0.0
            } else {
                total * capacity[node] / whole
            }
        };
        (0..self.nodes()).map(share).collect()
    }
}
