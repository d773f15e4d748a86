//! A request in fair shares: every load is divided by its mean over the staying nodes, which makes roles comparable.
//! Loads of slot runs are differences of prefix sums.
//!
//! The roles are those of the request, plus the number of slots if a node leaves: empty slots must leave too.

use std::cell::OnceCell;

use crate::move_request::MoveRequest;

/// In `PlanState::owner`: nobody.
pub(crate) const NOBODY: u16 = u16::MAX;
/// The roles of most requests, and of those with all metrics and the number of slots: lists by role have one of these
/// lengths, with roles that no slot has a load of at the end.
pub(crate) const FEW_ROLES: usize = 2;
pub(crate) const MOST_ROLES: usize = 6;
/// A slot of more than this part of the largest capacity is a giant: it moves alone, and its node's target follows it.
const GIANT: f64 = 0.5;

/// Loads, capacities and limits in fair shares.
pub(crate) struct Shares<'a> {
    pub request: &'a MoveRequest<'a>,
    pub roles: usize,
    pub nodes: usize,
    pub slots: usize,
    /// The number of staying nodes.
    pub staying: usize,
    /// Prefix sums of loads, by slot and role.
    prefix: Vec<f64>,
    /// Prefix sums of prices: in shares, and in bytes.
    price: Vec<f64>,
    bytes: Vec<u128>,
    /// By node and role; the mean over staying nodes is 1.
    capacity: Vec<f64>,
    /// By role: the capacity of the largest node, and the load of one share.
    largest: Vec<f64>,
    mean: Vec<f64>,
    /// The load of pinned slots, not counting giants, by node and role.
    pinned: Vec<f64>,
    pub is_giant: Vec<bool>,
    pub giants: Vec<u16>,
    ranks: OnceCell<Vec<Vec<u16>>>,
}

impl<'a> Shares<'a> {
    /// The shares of a request with a role and a node that stays.
    pub(crate) fn new(request: &'a MoveRequest<'a>) -> Self {
        let (nodes, slots) = (request.nodes(), request.owner.len());
        let weighed = request.roles.len();
        let has_leaving = request.leaves.contains(&true);
        let roles = match weighed + usize::from(has_leaving) {
            few if few <= FEW_ROLES => FEW_ROLES,
            _ => MOST_ROLES,
        };
        let staying = request.staying().count();
        let mut shares = Shares {
            request,
            roles,
            nodes,
            slots,
            staying,
            prefix: vec![0.0; (slots + 1) * roles],
            price: vec![0.0; slots + 1],
            bytes: vec![0; slots + 1],
            capacity: vec![1.0; nodes * roles],
            largest: vec![1.0; roles],
            mean: vec![0.0; roles],
            pinned: vec![0.0; nodes * roles],
            is_giant: vec![false; slots],
            giants: Vec::new(),
            ranks: OnceCell::new(),
        };
        for (at, role) in request.roles.iter().enumerate() {
            shares.add_loads(at, |slot| role.loads[slot] as f64);
            shares.add_capacity(at, &role.capacity);
        }
        if has_leaving {
            shares.add_loads(weighed, |_| 1.0);
        }
        shares.add_prices();
        shares.find_giants(weighed);
        shares.add_pinned();
        shares
    }

    fn add_loads(&mut self, role: usize, load: impl Fn(usize) -> f64) {
        let is_owned = |slot: usize| self.request.owner[slot].is_some();
        let total: f64 = (0..self.slots).filter(|at| is_owned(*at)).map(&load).sum();
        let mean = total / self.staying as f64;
        self.mean[role] = mean;
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
        let sum: f64 = self.request.staying().map(|node| capacity[node]).sum();
        for (node, capacity) in capacity.iter().enumerate().take(self.nodes) {
            self.capacity[node * self.roles + role] = capacity * self.staying as f64 / sum;
        }
        let largest = self.request.staying().map(|node| self.capacity(node, role));
        self.largest[role] = largest.fold(0.0, f64::max);
    }

    fn add_prices(&mut self) {
        let prices = self.request.prices();
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

    fn find_giants(&mut self, weighed: usize) {
        for role in 0..weighed {
            let limit = GIANT * self.largest[role];
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
            if self.request.fixed[slot]
                && !self.is_giant[slot]
                && let Some(node) = self.request.owner[slot]
            {
                for role in 0..self.roles {
                    self.pinned[node * self.roles + role] += self.load(slot, role);
                }
            }
        }
    }

    /// The rank of each slot by load, and by load of one role for that of another: one list for each such order.
    pub(crate) fn ranks(&self) -> &[Vec<u16>] {
        self.ranks.get_or_init(|| self.ranked())
    }

    fn ranked(&self) -> Vec<Vec<u16>> {
        let weighed = self.weighed();
        let mut orders = Vec::new();
        for role in 0..weighed {
            let next = (role + 1) % weighed;
            let load = |slot: usize| self.load(slot, role);
            let density = |slot: usize| load(slot) / (self.load(slot, next) + 1e-9);
            orders.push(ranks(self.slots, load));
            if next != role {
                orders.push(ranks(self.slots, density));
            }
        }
        orders
    }

    /// The number of roles with loads.
    #[inline]
    pub(crate) fn weighed(&self) -> usize {
        self.request.roles.len()
    }

    #[inline]
    pub(crate) fn load(&self, slot: usize, role: usize) -> f64 {
        self.prefix[(slot + 1) * self.roles + role] - self.prefix[slot * self.roles + role]
    }

    /// The load, in all roles, of the slots before `slot`.
    #[inline]
    pub(crate) fn before(&self, slot: usize) -> &[f64] {
        &self.prefix[slot * self.roles..(slot + 1) * self.roles]
    }

    /// The price of a run of slots, in shares.
    #[inline]
    pub(crate) fn price(&self, first: usize, end: usize) -> f64 {
        self.price[end] - self.price[first]
    }

    /// The price of all slots.
    pub(crate) fn whole_price(&self) -> u128 {
        self.bytes[self.slots]
    }

    /// The price of a share, in bytes.
    pub(crate) fn mean_price(&self) -> f64 {
        self.bytes[self.slots] as f64 / self.staying as f64
    }

    #[inline]
    pub(crate) fn bytes(&self, first: usize, end: usize) -> u128 {
        self.bytes[end] - self.bytes[first]
    }

    /// The last end of a run from `first` on, up to `end`, that is no more than this many bytes.
    pub(crate) fn last_end_within(&self, first: usize, end: usize, bytes: u128) -> usize {
        let most = self.bytes[first].saturating_add(bytes);
        first + self.bytes[first + 1..=end.max(first)].partition_point(|sum| *sum <= most)
    }

    #[inline]
    pub(crate) fn capacity(&self, node: usize, role: usize) -> f64 {
        self.capacity[node * self.roles + role]
    }

    /// The share of a node as it is, also of one that leaves.
    pub(crate) fn own_capacity(&self, node: usize, role: usize) -> f64 {
        self.request.roles[role].capacity[node]
    }

    /// The load of a share, in the unit of the role.
    pub(crate) fn mean(&self, role: usize) -> f64 {
        self.mean[role]
    }

    #[inline]
    pub(crate) fn largest(&self, role: usize) -> f64 {
        self.largest[role]
    }

    /// The minimum a node holds of a role if its heaviest giant is `heaviest`.
    #[inline]
    pub(crate) fn least(&self, node: usize, role: usize, heaviest: f64) -> f64 {
        let giant = if heaviest > self.largest(role) {
            heaviest
        } else {
            0.0
        };
        self.pinned[node * self.roles + role] + giant
    }

    #[inline]
    pub(crate) fn leaves(&self, node: usize) -> bool {
        self.request.leaves[node]
    }

    /// Whether a slot is pinned.
    #[inline]
    pub(crate) fn is_fixed(&self, slot: usize) -> bool {
        self.request.fixed[slot]
    }

    /// Today's owner of a slot.
    #[inline]
    pub(crate) fn home(&self, slot: usize) -> u16 {
        self.request.owner[slot].map_or(NOBODY, |node| node as u16)
    }
}

/// The rank of each slot by `key`, largest first.
fn ranks(slots: usize, key: impl Fn(usize) -> f64) -> Vec<u16> {
    let mut order: Vec<(f64, usize)> = (0..slots).map(|slot| (key(slot), slot)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut ranks = vec![0; slots];
    for (rank, (_, slot)) in order.into_iter().enumerate() {
        ranks[slot] = rank as u16;
    }
    ranks
}

/// The load a node may hold at `level` fair shares. If a slot above the largest share fills it: that slot and `beside`
/// shares, if more.
#[inline]
pub(crate) fn allowed(level: f64, beside: f64, capacity: f64, heaviest: f64, largest: f64) -> f64 {
    let open = level * capacity;
    if heaviest > largest {
        open.max(heaviest + beside)
    } else {
        open
    }
}
