//! The problem of a plan: goals in order, guards, owners by slot, and slots that may not move.

use slotscope_engine::metric::Metric;

/// A problem to be planned. Nodes are indices; slots without an owner stay without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem<'a> {
    /// The loads to be evened, in the order in which they are met: memory, then load. At least one.
    pub goals: Vec<Goal<'a>>,
    /// Loads that are not goals and may not get worse.
    pub guards: Vec<Guard<'a>>,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// Nodes that take nothing and give all that they own. A failed node is one whose slots have no owner here.
    pub leaves: Vec<bool>,
    /// Slots that stay where they are.
    pub fixed: Vec<bool>,
    /// The bytes in each slot: what a move costs. Without them the loads of the first goal are the cost.
    pub price: Option<&'a [u64]>,
    /// How much may move.
    pub limits: MoveLimits,
}

/// A load that is to be evened.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal<'a> {
    /// Its measure.
    pub metric: Metric,
    /// The load of each slot.
    pub loads: &'a [u64],
    /// The relative capacity of each node, on any scale.
    pub capacity: Vec<f64>,
    /// How far above its fair share, or above its heaviest slot, a node may be: 0.03 for 3%.
    pub tolerance: f64,
    /// The most that each node can hold, where that is known; empty if no node has a limit.
    pub hard: Vec<Option<u64>>,
}

/// A load that no node may hold more of than `band` fair shares, or than the fullest node of today.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard<'a> {
    /// Its measure.
    pub metric: Metric,
    /// The load of each slot.
    pub loads: &'a [u64],
    /// The relative capacity of each node, on any scale.
    pub capacity: Vec<f64>,
    /// Fair shares that any node may reach.
    pub band: f64,
}

/// How much may move at most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MoveLimits {
    /// Slots.
    pub slots: Option<u64>,
    /// Bytes, by `Problem::price`.
    pub bytes: Option<u64>,
}

impl<'a> Goal<'a> {
    /// A goal for nodes of equal capacity.
    pub fn even(metric: Metric, loads: &'a [u64], nodes: usize, tolerance: f64) -> Self {
        Goal {
            metric,
            loads,
            capacity: vec![1.0; nodes],
            tolerance,
            hard: Vec::new(),
        }
    }
}

impl<'a> Problem<'a> {
    /// Goals for nodes that all stay; nothing is fixed or limited.
    pub fn new(goals: Vec<Goal<'a>>, owner: Vec<Option<usize>>) -> Self {
        let nodes = goals.iter().map(|goal| goal.capacity.len()).max();
        Problem {
            leaves: vec![false; nodes.unwrap_or(0)],
            fixed: vec![false; owner.len()],
            goals,
            guards: Vec::new(),
            owner,
            price: None,
            limits: MoveLimits::default(),
        }
    }

    /// The same cluster after other moves.
    pub fn with_owner(&self, owner: Vec<Option<usize>>) -> Self {
        Problem {
            owner,
            ..self.clone()
        }
    }

    /// The metric, the loads and the capacities of a role: the goals come first, then the guards.
    pub(crate) fn role(&self, role: usize) -> (Metric, &'a [u64], &[f64]) {
        match self.goals.get(role) {
            Some(goal) => (goal.metric, goal.loads, &goal.capacity),
            None => {
                let guard = &self.guards[role - self.goals.len()];
                (guard.metric, guard.loads, &guard.capacity)
            }
        }
    }

    /// The fullest node that stays under `owner`, in fair shares of a role.
    pub(crate) fn fullest(&self, role: usize, owner: &[Option<usize>]) -> f64 {
        let (_, loads, capacity) = self.role(role);
        let fair = self.fair(loads, capacity);
        let held = self.loads_under(loads, owner);
        let shares = self.staying().filter(|node| fair[*node] > 0.0);
        let shares = shares.map(|node| held[node] as f64 / fair[node]);
        shares.fold(0.0, f64::max)
    }

    /// How many nodes there are, those that leave too.
    pub fn nodes(&self) -> usize {
        self.leaves.len()
    }

    /// The nodes that are to hold slots.
    pub fn staying(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes()).filter(|node| !self.leaves[*node])
    }

    /// The price of a move of each slot.
    pub fn prices(&self) -> &'a [u64] {
        self.price
            .or_else(|| self.goals.first().map(|goal| goal.loads))
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
