//! Every placement within limits, depth first, heaviest slots first: one of them, or the proof that none is there. A
//! search that runs out of work proves nothing.

use crate::budget::Budget;
use crate::shares::{NOBODY, Shares};
use crate::state::NEAR;

/// The result of looking at every placement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Every {
    /// The owners of a placement within the limits.
    Found(Vec<Option<usize>>),
    /// No placement is within the limits.
    None,
    /// The work ran out.
    Unknown,
}

/// The most that a node may hold in a role, if this is its heaviest slot of those that fill a node.
pub(crate) type Limit<'l> = &'l dyn Fn(usize, usize, f64) -> f64;

/// Looks for a placement of all slots within `limit`.
pub(crate) fn every(shares: &Shares<'_>, limit: Limit<'_>, budget: &mut Budget) -> Every {
    let mut owner: Vec<u16> = (0..shares.slots).map(|slot| shares.home(slot)).collect();
    let mut search = Search::new(shares, limit, &owner);
    match search.place(0, &mut owner, budget) {
        Some(true) => {
            let owner = owner.into_iter();
            let owner = owner.map(|node| (node != NOBODY).then_some(usize::from(node)));
            Every::Found(owner.collect())
        }
        Some(false) => Every::None,
        None => Every::Unknown,
    }
}

struct Search<'s, 'a> {
    shares: &'s Shares<'a>,
    limit: Limit<'s>,
    nodes: Vec<usize>,
    /// The slots in the order that they are placed in: those that may not move, those that fill a node, the others.
    slots: Vec<usize>,
    /// By place in `slots` and role: the load of it and all after it.
    rest: Vec<f64>,
    /// By node and role.
    load: Vec<f64>,
    heaviest: Vec<f64>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(shares: &'s Shares<'a>, limit: Limit<'s>, owner: &[u16]) -> Self {
        let roles = shares.weighed();
        let nodes: Vec<usize> = shares.request.staying().collect();
        let load = |slot: usize, role: usize| shares.load(slot, role);
        let weight = |slot: &usize| (0..roles).map(|role| load(*slot, role)).fold(0.0, f64::max);
        let fills = |slot: &usize| (0..roles).any(|role| load(*slot, role) > shares.largest(role));
        let is_loaded = |slot: &usize| owner[*slot] != NOBODY && weight(slot) > 0.0;
        let mut slots: Vec<usize> = (0..shares.slots).filter(is_loaded).collect();
        slots.sort_by(|a, b| {
            let first = |slot: &usize| (!shares.is_fixed(*slot), !fills(slot));
            let order = first(a)
                .cmp(&first(b))
                .then(weight(b).total_cmp(&weight(a)));
            order.then(a.cmp(b))
        });
        let mut rest = vec![0.0; (slots.len() + 1) * roles];
        for at in (0..slots.len()).rev() {
            for role in 0..roles {
                rest[at * roles + role] = rest[(at + 1) * roles + role] + load(slots[at], role);
            }
        }
        Search {
            load: vec![0.0; shares.nodes * roles],
            heaviest: vec![0.0; shares.nodes * roles],
            shares,
            limit,
            nodes,
            slots,
            rest,
        }
    }

    /// Whether the slots from `at` on can be placed; `None` where the work runs out first.
    fn place(&mut self, at: usize, owner: &mut [u16], budget: &mut Budget) -> Option<bool> {
        let Some(slot) = self.slots.get(at).copied() else {
            return Some(true);
        };
        budget.spent += self.nodes.len() as u64;
        if budget.is_spent() {
            return None;
        }
        if !self.has_room(at) {
            return Some(false);
        }
        let mut tried: Vec<usize> = Vec::new();
        for node in self.receivers(slot) {
            // Of nodes that hold the same, one stands for all.
            if tried.iter().any(|other| self.is_same(*other, node)) {
                continue;
            }
            let kept = self.give(slot, node);
            let found = if self.is_within(node) {
                owner[slot] = node as u16;
                self.place(at + 1, owner, budget)
            } else {
                Some(false)
            };
            self.take_back(node, kept);
            match found {
                Some(false) => tried.push(node),
                found => return found,
            }
        }
        Some(false)
    }

    /// The nodes that may take a slot, the emptiest first.
    fn receivers(&self, slot: usize) -> Vec<usize> {
        if self.shares.is_fixed(slot) {
            return vec![usize::from(self.shares.home(slot))];
        }
        let roles = self.shares.weighed();
        let fill = |node: &usize| {
            let of_role = |role| self.load[node * roles + role] / self.most(*node, role);
            (0..roles).map(of_role).fold(0.0, f64::max)
        };
        let mut filled: Vec<(f64, usize)> = self.nodes.iter().map(|at| (fill(at), *at)).collect();
        filled.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        filled.into_iter().map(|(_, node)| node).collect()
    }

    /// Whether all nodes together have room for the slots from `at` on.
    fn has_room(&self, at: usize) -> bool {
        let roles = self.shares.weighed();
        let fills = |slot: &usize| {
            let mut roles = 0..roles;
            roles.any(|role| self.shares.load(*slot, role) > self.shares.largest(role))
        };
        // A slot that fills a node raises its limit.
        if self.slots[at..].iter().any(fills) {
            return true;
        }
        (0..roles).all(|role| {
            let nodes = self.nodes.iter();
            let room = nodes.map(|node| self.most(*node, role) - self.load[node * roles + role]);
            room.sum::<f64>() + NEAR >= self.rest[at * roles + role]
        })
    }

    fn is_same(&self, one: usize, other: usize) -> bool {
        let roles = self.shares.weighed();
        (0..roles).all(|role| {
            let place = |node: usize| node * roles + role;
            self.load[place(one)] == self.load[place(other)]
                && self.most(one, role) == self.most(other, role)
        })
    }

    fn most(&self, node: usize, role: usize) -> f64 {
        let place = node * self.shares.weighed() + role;
        (self.limit)(node, role, self.heaviest[place])
    }

    fn is_within(&self, node: usize) -> bool {
        let roles = self.shares.weighed();
        (0..roles).all(|role| self.load[node * roles + role] <= self.most(node, role) + 10.0 * NEAR)
    }

    /// Adds a slot to a node; returns what the node held before.
    fn give(&mut self, slot: usize, node: usize) -> Vec<(f64, f64)> {
        let roles = self.shares.weighed();
        let held = (0..roles).map(|role| {
            let place = node * roles + role;
            let kept = (self.load[place], self.heaviest[place]);
            let load = self.shares.load(slot, role);
            self.load[place] += load;
            if load > self.shares.largest(role) {
                self.heaviest[place] = kept.1.max(load);
            }
            kept
        });
        held.collect()
    }

    fn take_back(&mut self, node: usize, kept: Vec<(f64, f64)>) {
        let roles = self.shares.weighed();
        for (role, (load, heaviest)) in kept.into_iter().enumerate() {
            self.load[node * roles + role] = load;
            self.heaviest[node * roles + role] = heaviest;
        }
    }
}
