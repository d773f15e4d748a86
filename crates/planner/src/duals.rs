//! The proof that no placement is within limits, by weak duality: at any prices of room that are not negative, a slot
//! costs at least what it costs at its cheapest node. If all slots together cost more than all room is worth, there is
//! too little room. Prices come from subgradient steps; the proof is good whatever they are.

use crate::every::Limit;
use crate::shares::{NOBODY, Shares};

/// Steps towards the best prices.
const STEPS: usize = 200;
/// Slots times nodes times steps that are looked at at most.
const WORK: usize = 60_000_000;
/// Less is rounding.
const LEAST: f64 = 1e-7;

/// Whether no placement keeps all nodes within `limit`. Silent where a slot fills a node alone: such slots are not parted.
pub(crate) fn is_proven(shares: &Shares<'_>, limit: Limit<'_>) -> bool {
    let duals = Duals::new(shares, limit);
    duals.is_some_and(|mut duals| duals.is_proven())
}

struct Duals<'s, 'a> {
    shares: &'s Shares<'a>,
    roles: usize,
    nodes: Vec<usize>,
    slots: Vec<usize>,
    /// By node and role: the room, and its price; no price where room has no end.
    room: Vec<f64>,
    price: Vec<f64>,
}

impl<'s, 'a> Duals<'s, 'a> {
    fn new(shares: &'s Shares<'a>, limit: Limit<'_>) -> Option<Self> {
        let roles = shares.weighed();
        let nodes: Vec<usize> = shares.request.staying().collect();
        let load = |slot: usize, role: usize| shares.load(slot, role);
        let is_loaded = |slot: &usize| {
            shares.home(*slot) != NOBODY && (0..roles).any(|role| load(*slot, role) > 0.0)
        };
        let slots: Vec<usize> = (0..shares.slots).filter(is_loaded).collect();
        let fills = |slot: &usize| (0..roles).any(|role| load(*slot, role) > shares.largest(role));
        if slots.iter().any(fills) || slots.is_empty() {
            return None;
        }
        let room = nodes
            .iter()
            .flat_map(|node| (0..roles).map(|role| limit(*node, role, 0.0)));
        let room: Vec<f64> = room.collect();
        let price = room
            .iter()
            .map(|room| f64::from(u8::from(room.is_finite())));
        Some(Duals {
            price: price.collect(),
            shares,
            roles,
            nodes,
            slots,
            room,
        })
    }

    fn is_proven(&mut self) -> bool {
        let steps = (WORK / (self.slots.len() * self.nodes.len())).min(STEPS);
        for step in 0..steps {
            let sum: f64 = self.price.iter().sum();
            if sum <= 0.0 {
                return false;
            }
            self.price.iter_mut().for_each(|price| *price /= sum);
            let Some((shortage, direction)) = self.shortage() else {
                return true;
            };
            if shortage > LEAST {
                return true;
            }
            let norm: f64 = direction.iter().map(|over| over * over).sum();
            if norm <= 0.0 {
                return false;
            }
            let least = 0.02 / (1.0 + step as f64).sqrt() / self.room.len() as f64;
            let length = least.max((1e-3 - shortage) / norm * 0.7);
            for (at, over) in direction.into_iter().enumerate() {
                if self.room[at].is_finite() {
                    self.price[at] = (self.price[at] + length * over).max(0.0);
                }
            }
        }
        false
    }

    /// The cost of slots above the worth of all room, and by node and role what is above it if each slot is at its
    /// cheapest node; `None` if a slot fits nowhere.
    fn shortage(&self) -> Option<(f64, Vec<f64>)> {
        let roles = self.roles;
        let mut over: Vec<f64> = self
            .room
            .iter()
            .map(|room| if room.is_finite() { -room } else { 0.0 })
            .collect();
        let worth = self.price.iter().zip(&over);
        let mut shortage: f64 = worth.map(|(price, room)| price * room).sum();
        for slot in &self.slots {
            let load = |role: usize| self.shares.load(*slot, role);
            let cost = |at: usize| -> f64 {
                (0..roles)
                    .map(|role| self.price[at * roles + role] * load(role))
                    .sum()
            };
            let fits = |at: usize| {
                (0..roles).all(|role| load(role) <= self.room[at * roles + role] + 1e-9)
            };
            let cheapest = if self.shares.is_fixed(*slot) {
                let home = usize::from(self.shares.home(*slot));
                match self.nodes.iter().position(|node| *node == home) {
                    Some(at) => (cost(at), at),
                    None => continue,
                }
            } else {
                let fitting = (0..self.nodes.len()).filter(|at| fits(*at));
                let costs = fitting.map(|at| (cost(at), at));
                costs.reduce(|least, next| if next.0 < least.0 { next } else { least })?
            };
            shortage += cheapest.0;
            for role in 0..roles {
                over[cheapest.1 * roles + role] += load(role);
            }
        }
        Some((shortage, over))
    }
}
