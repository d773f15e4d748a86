//! The request for a plan: loads in order, limits of memory, owners by slot, and slots that may not move.

use slotscope_engine::metric::Metric;

/// A request for moves. Nodes are indices; slots without an owner stay without one.
#[derive(Debug, Clone, PartialEq)]
pub struct MoveRequest<'a> {
    /// The loads that are judged, in the order in which they are evened out; at least one.
    pub roles: Vec<Role<'a>>,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// Nodes that take nothing and give all that they own. A failed node is one whose slots have no owner here.
    pub leaves: Vec<bool>,
    /// Slots that stay where they are.
    pub fixed: Vec<bool>,
    /// The limits of memory, where some node has one.
    pub caps: Option<Caps>,
    /// The bytes in each slot: what a move costs. Without them the loads of the first role are the cost.
    pub price: Option<&'a [u64]>,
    /// How much may move.
    pub limits: MoveLimits,
}

/// A load that nodes are judged by.
#[derive(Debug, Clone, PartialEq)]
pub struct Role<'a> {
    /// Its measure.
    pub metric: Metric,
    /// The load of each slot.
    pub loads: &'a [u64],
    /// The relative capacity of each node, on any scale.
    pub capacity: Vec<f64>,
    /// How far above its fair share a node may be where it is evened out: 0.03 for 3%.
    pub tolerance: f64,
    /// Up to this many fair shares nodes are even. Infinite for a load that only has limits.
    pub band: f64,
    /// Whether slots move for it where it is uneven; else it may only not get worse.
    pub is_goal: bool,
}

/// The most that nodes can hold of a role, in its unit; `None` for a node without a limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Caps {
    /// The role, by its place.
    pub role: usize,
    /// Up to here a node is to be filled, `AIMED` of its limit; a node that is fuller and not near its limit may stay so.
    pub aimed: Vec<Option<f64>>,
    /// No move brings a node above this, a little below `FULL` of its limit.
    pub hard: Vec<Option<f64>>,
}

/// How much may move at most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MoveLimits {
    /// Slots.
    pub slots: Option<u64>,
    /// Bytes, by `MoveRequest::price`.
    pub bytes: Option<u64>,
}

impl<'a> Role<'a> {
    /// A load to be evened out over nodes of equal capacity, whatever it is today.
    pub fn even(metric: Metric, loads: &'a [u64], nodes: usize, tolerance: f64) -> Self {
        Role {
            metric,
            loads,
            capacity: vec![1.0; nodes],
            tolerance,
            band: 1.0 + tolerance,
            is_goal: true,
        }
    }

    /// Whether it is judged, and not only limited.
    pub fn is_judged(&self) -> bool {
        self.band.is_finite()
    }
}

impl<'a> MoveRequest<'a> {
    /// The request for nodes that all stay; nothing is fixed or limited.
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
        }
    }

    /// The same after moves.
    pub fn with_owner(&self, owner: Vec<Option<usize>>) -> Self {
        MoveRequest {
            owner,
            ..self.clone()
        }
    }

    /// How many nodes there are, those that leave too.
    pub fn nodes(&self) -> usize {
        self.leaves.len()
    }

    /// The nodes that are to hold slots.
    pub fn staying(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes()).filter(|node| !self.leaves[*node])
    }

    /// Whether other nodes hold slots than those that are to.
    pub fn changes_nodes(&self) -> bool {
        let mut owns = vec![false; self.nodes()];
        let owners = self.owner.iter().flatten();
        owners.for_each(|node| owns[*node] = true);
        owns.iter()
            .zip(&self.leaves)
            .any(|(owns, leaves)| owns == leaves)
    }

    /// The price of a move of each slot.
    pub fn prices(&self) -> &'a [u64] {
        self.price
            .or_else(|| self.roles.first().map(|role| role.loads))
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

    /// The fair share of each node that stays, in the unit of `loads`; 0 for nodes that leave.
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
