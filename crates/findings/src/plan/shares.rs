//! A problem in fair shares: every load is measured by the mean of the nodes that stay, so that goals can be compared
//! with each other. Loads of runs of slots are differences of prefix sums.
//!
//! The roles are the goals, the guards and, where a node leaves, the number of slots: empty slots have to leave too.

use crate::plan::problem::Problem;

/// In `PlanState::owner`: nobody.
pub(super) const NOBODY: u16 = u16::MAX;
/// A slot of more than this part of the largest capacity is a giant: it moves alone, and its node's target follows it.
const GIANT: f64 = 0.5;
/// A guard does not stand in the way of slots that some node has to hold, and of as much beside them.
const GUARD_FLOOR: f64 = 1.01;

/// Loads, capacities and hard limits in fair shares.
pub(super) struct Shares<'a> {
    pub problem: &'a Problem<'a>,
    pub goals: usize,
    pub roles: usize,
    pub nodes: usize,
    pub slots: usize,
    /// How many nodes stay.
    pub staying: usize,
    /// The load of the slots before each one, by slot and role.
    prefix: Vec<f64>,
    /// The price of the slots before each one: in shares, and in bytes.
    price: Vec<f64>,
    bytes: Vec<u128>,
    /// By node and role; the mean of the nodes that stay is 1.
    capacity: Vec<f64>,
    /// The load that a node may never be moved above, by node and role.
    ceiling: Vec<f64>,
    /// By guard: how much more than a slot that fills it a node may hold.
    beside: Vec<f64>,
    /// The load of slots that may not move, giants apart, by node and role.
    pinned: Vec<f64>,
    pub is_giant: Vec<bool>,
    pub giants: Vec<u16>,
    /// The rank of each slot by load, and by load of one role for that of another: one list for each such order.
    pub ranks: Vec<Vec<u16>>,
}

impl<'a> Shares<'a> {
    /// The shares of a problem with a goal and a node that stays; `floors` are the least that a guard's fullest node can have.
    pub(super) fn new(problem: &'a Problem<'a>, floors: &[f64]) -> Self {
        let (goals, nodes, slots) = (problem.goals.len(), problem.nodes(), problem.owner.len());
        let weighed = goals + problem.guards.len();
        let roles = weighed + usize::from(problem.leaves.contains(&true));
        let staying = problem.staying().count();
        let mut shares = Shares {
            problem,
            goals,
            roles,
            nodes,
            slots,
            staying,
            prefix: vec![0.0; (slots + 1) * roles],
            price: vec![0.0; slots + 1],
            bytes: vec![0; slots + 1],
            capacity: vec![1.0; nodes * roles],
            ceiling: vec![f64::INFINITY; nodes * roles],
            beside: Vec::new(),
            pinned: vec![0.0; nodes * roles],
            is_giant: vec![false; slots],
            giants: Vec::new(),
            ranks: Vec::new(),
        };
        let goal_roles = problem.goals.iter().map(|of| (of.loads, &of.capacity));
        let guard_roles = problem.guards.iter().map(|of| (of.loads, &of.capacity));
        for (role, (loads, capacity)) in goal_roles.chain(guard_roles).enumerate() {
            shares.add_loads(role, |slot| loads[slot] as f64);
            shares.add_capacity(role, capacity);
        }
        if roles > weighed {
            shares.add_loads(weighed, |_| 1.0);
        }
        shares.add_prices();
        shares.add_hard_limits();
        shares.add_guards(floors);
        shares.find_giants(weighed);
        shares.add_pinned();
        shares.rank_slots(weighed);
        shares
    }

    fn add_loads(&mut self, role: usize, load: impl Fn(usize) -> f64) {
        let is_owned = |slot: usize| self.problem.owner[slot].is_some();
        let total: f64 = (0..self.slots).filter(|at| is_owned(*at)).map(&load).sum();
        let mean = total / self.staying as f64;
        for slot in 0..self.slots {
            let share = if is_owned(slot) && mean > 0.0 {
                load(slot) / mean
            } else {
                0.0
            };
            self.prefix[(slot + 1) * self.roles + role] =
                self.prefix[slot * self.roles + role] + share;
        }
    }

    fn add_capacity(&mut self, role: usize, capacity: &[f64]) {
        let sum: f64 = self.problem.staying().map(|node| capacity[node]).sum();
        for (node, capacity) in capacity.iter().enumerate().take(self.nodes) {
            self.capacity[node * self.roles + role] = capacity * self.staying as f64 / sum;
        }
    }

    fn add_prices(&mut self) {
        let prices = self.problem.prices();
        for (slot, price) in prices.iter().enumerate().take(self.slots) {
            self.bytes[slot + 1] = self.bytes[slot] + u128::from(*price);
        }
        let total = self.bytes[self.slots] as f64;
        let mean = total / self.staying as f64;
        for slot in 1..=self.slots {
            self.price[slot] = if mean > 0.0 {
                self.bytes[slot] as f64 / mean
            } else {
                0.0
            };
        }
    }

    fn add_hard_limits(&mut self) {
        for (role, goal) in self.problem.goals.iter().enumerate() {
            let fair = self.problem.fair(goal.loads, &goal.capacity);
            for (node, hard) in goal.hard.iter().enumerate() {
                if let Some(hard) = hard
                    && fair[node] > 0.0
                {
                    let at = node * self.roles + role;
                    self.ceiling[at] = *hard as f64 / fair[node] * self.capacity[at];
                }
            }
        }
    }

    /// Nodes that leave count as today's fullest too: somebody has to take what they hold. A node that a slot fills is
    /// measured by that slot, and lets no other node off.
    fn add_guards(&mut self, floors: &[f64]) {
        for (at, guard) in self.problem.guards.iter().enumerate() {
            let role = self.goals + at;
            let mut most = guard.band.max(floors[at] * GUARD_FLOOR);
            let mut beside = GUARD_FLOOR;
            for (node, (today, heaviest)) in self.held_today(role).into_iter().enumerate() {
                let capacity = self.capacity(node, role);
                if self.leaves(node) {
                    most = most.max(today);
                } else if heaviest > capacity {
                    beside = beside.max(today / heaviest);
                } else {
                    most = most.max(today / capacity);
                }
            }
            self.beside.push(beside);
            for node in 0..self.nodes {
                self.ceiling[node * self.roles + role] =
                    most * self.capacity[node * self.roles + role];
            }
        }
    }

    /// The load of each node in a role today, and its heaviest slot.
    fn held_today(&self, role: usize) -> Vec<(f64, f64)> {
        let mut today = vec![(0.0, 0.0); self.nodes];
        for (slot, owner) in self.problem.owner.iter().enumerate() {
            if let Some(node) = owner {
                let load = self.load(slot, role);
                let (sum, heaviest) = &mut today[*node];
                (*sum, *heaviest) = (*sum + load, f64::max(*heaviest, load));
            }
        }
        today
    }

    fn find_giants(&mut self, weighed: usize) {
        for role in 0..weighed {
            let largest = self.problem.staying();
            let largest = largest.map(|node| self.capacity(node, role));
            let limit = GIANT * largest.fold(0.0, f64::max);
            for slot in 0..self.slots {
                self.is_giant[slot] |= self.load(slot, role) > limit;
            }
        }
        self.giants = (0..self.slots as u16)
            .filter(|slot| self.is_giant[usize::from(*slot)])
            .collect();
    }

    fn add_pinned(&mut self) {
        for slot in 0..self.slots {
            if self.problem.fixed[slot]
                && !self.is_giant[slot]
                && let Some(node) = self.problem.owner[slot]
            {
                for role in 0..self.roles {
                    self.pinned[node * self.roles + role] += self.load(slot, role);
                }
            }
        }
    }

    fn rank_slots(&mut self, weighed: usize) {
        for role in 0..weighed {
            let other = (role + 1) % weighed;
            let load = |slot: usize| self.load(slot, role);
            let density = |slot: usize| load(slot) / (self.load(slot, other) + 1e-9);
            let mut orders = vec![ranks(self.slots, load)];
            if other != role {
                orders.push(ranks(self.slots, density));
            }
            self.ranks.append(&mut orders);
        }
    }

    /// Goals and guards.
    #[inline]
    pub(super) fn weighed(&self) -> usize {
        self.goals + self.problem.guards.len()
    }

    /// The load of a slot.
    #[inline]
    pub(super) fn load(&self, slot: usize, role: usize) -> f64 {
        self.prefix[(slot + 1) * self.roles + role] - self.prefix[slot * self.roles + role]
    }

    /// The load of the slots before `slot` in all roles.
    #[inline]
    pub(super) fn before(&self, slot: usize) -> &[f64] {
        &self.prefix[slot * self.roles..(slot + 1) * self.roles]
    }

    /// The price of a run of slots, in shares.
    #[inline]
    pub(super) fn price(&self, first: usize, end: usize) -> f64 {
        self.price[end] - self.price[first]
    }

    /// The price of a share, in bytes.
    pub(super) fn mean_price(&self) -> f64 {
        self.bytes[self.slots] as f64 / self.staying as f64
    }

    /// The bytes of a run of slots.
    #[inline]
    pub(super) fn bytes(&self, first: usize, end: usize) -> u128 {
        self.bytes[end] - self.bytes[first]
    }

    /// The last end of a run from `first` on, up to `end`, that is no more than this many bytes.
    pub(super) fn last_end_within(&self, first: usize, end: usize, bytes: u128) -> usize {
        let most = self.bytes[first].saturating_add(bytes);
        first + self.bytes[first + 1..=end.max(first)].partition_point(|sum| *sum <= most)
    }

    /// The share of a node in a role.
    #[inline]
    pub(super) fn capacity(&self, node: usize, role: usize) -> f64 {
        self.capacity[node * self.roles + role]
    }

    /// The least that a node holds of a role if its heaviest giant is `heaviest`.
    #[inline]
    pub(super) fn least(&self, node: usize, role: usize, heaviest: f64) -> f64 {
        let giant = if heaviest > self.capacity(node, role) {
            heaviest
        } else {
            0.0
        };
        self.pinned[node * self.roles + role] + giant
    }

    /// Hard limits, and what guards let a node hold that no slot fills, in all roles.
    #[inline]
    pub(super) fn ceilings(&self, node: usize) -> &[f64] {
        &self.ceiling[node * self.roles..(node + 1) * self.roles]
    }

    /// The fair shares that no move may bring a node above in the role of a guard, and the same in parts of a slot that
    /// fills it.
    pub(super) fn guard(&self, role: usize) -> (f64, f64) {
        let node = self.problem.staying().next().unwrap_or(0);
        let most = self.ceilings(node)[role] / self.capacity(node, role);
        (most, self.beside[role - self.goals])
    }

    /// Whether a node is to be emptied.
    #[inline]
    pub(super) fn leaves(&self, node: usize) -> bool {
        self.problem.leaves[node]
    }

    /// Whether a slot stays where it is.
    #[inline]
    pub(super) fn is_fixed(&self, slot: usize) -> bool {
        self.problem.fixed[slot]
    }

    /// The node that owns a slot today.
    #[inline]
    pub(super) fn home(&self, slot: usize) -> u16 {
        self.problem.owner[slot].map_or(NOBODY, |node| node as u16)
    }
}

/// The place of each slot when they are sorted by `key`, the largest first.
fn ranks(slots: usize, key: impl Fn(usize) -> f64) -> Vec<u16> {
    let mut order: Vec<usize> = (0..slots).collect();
    order.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then(a.cmp(b)));
    let mut ranks = vec![0; slots];
    for (rank, slot) in order.into_iter().enumerate() {
        ranks[slot] = rank as u16;
    }
    ranks
}
