//! Clusters of few loaded slots: moves and exchanges of single slots to the end, from several starts, and a look at every
//! placement if none of them is within the bands.

use crate::aims::{Aims, leftovers};
use crate::budget::Budget;
use crate::every::{Every, every};
use crate::prices::Prices;
use crate::state::{Cap, PlanState, Run};

/// As many loaded slots and nodes are few.
const FEW: usize = 40;
/// Starts, by the number of loaded slots up to which they are made.
const STARTS: [(usize, usize); 3] = [(12, 60), (26, 80), (FEW, 24)];
/// Starts that do not come from the best so far: today, and the heaviest slots first by several orders.
const FRESH: usize = 6;
/// Placements that are compared, times nodes.
const WORK: u64 = 1_500_000;
/// The work of looking at every placement.
pub(crate) const EVERY: u64 = 3_000_000;
/// The weights of a height above ceilings, bands, mids and aims, of later roles, of bytes, and of unevenness: whatever
/// is first in the order of goals outweighs all that follow.
const WEIGHTS: [f64; 4] = [1e8, 1e5, 500.0, 20.0];
const OF_CAPS: [f64; 3] = [1e12, 1e11, 10.0];
const OF_ROLES: [f64; 2] = [20.0, 1.0];
const OF_PRICE: f64 = 1e-2;
const OF_SQUARES: f64 = 1e-3;
/// Heights that differ by less are equal where prices differ.
pub(crate) const SLACK: f64 = 0.008;

/// The slots that have a load, if they are few.
pub(crate) fn loaded(state: &PlanState<'_>) -> Option<Vec<usize>> {
    let shares = state.shares;
    let has_load = |slot: &usize| {
        let is_owned = state.home(*slot) != crate::shares::NOBODY;
        is_owned && (0..shares.weighed()).any(|role| shares.load(*slot, role) > 0.0)
    };
    let slots: Vec<usize> = (0..shares.slots).filter(has_load).take(FEW + 1).collect();
    (slots.len() <= FEW && shares.staying <= FEW).then_some(slots)
}

/// The best placement that is found by changing `from`; `None` where slots are many or `from` has slots on nodes that
/// leave.
pub(crate) fn few(
    from: &PlanState<'_>,
    before: &PlanState<'_>,
    aims: &Aims,
    prices: Prices,
) -> Option<Vec<Option<usize>>> {
    let slots = loaded(before)?;
    if leftovers(from) > 0 || slots.is_empty() {
        return None;
    }
    let mut few = Few::new(before, aims, prices, slots);
    let today: Vec<usize> = few
        .slots
        .iter()
        .map(|slot| usize::from(from.owner[*slot]))
        .collect();
    few.search(&today);
    if !few.is_even() {
        let bands = aims.within(before, &aims.bands);
        let limit = |node, role, heaviest| bands.most(node, role, heaviest);
        let found = every(before.shares, &limit, &mut Budget::new(EVERY));
        if let Every::Found(owner) = found {
            let owner = few
                .slots
                .iter()
                .map(|slot| owner[*slot].unwrap_or_default());
            few.descend(owner.collect());
        }
    }
    let mut owner = from.owners();
    for (slot, node) in few.slots.iter().zip(&few.best.1) {
        owner[*slot] = Some(*node);
    }
    Some(owner)
}

struct Few<'s, 'a> {
    before: &'s PlanState<'a>,
    aims: &'s Aims,
    roles: usize,
    slots: Vec<usize>,
    nodes: Vec<usize>,
    /// By slot: the price of a move.
    price: Vec<f64>,
    /// By slot and role.
    loads: Vec<f64>,
    /// By node and role: its marks if no slot fills it.
    marks: Vec<[f64; 4]>,
    /// By node and role: what each node holds now, and the heaviest of the slots that fill a node.
    held: Vec<f64>,
    heaviest: Vec<f64>,
    owner: Vec<usize>,
    /// The least value, and its owners.
    best: (f64, Vec<usize>),
    budget: Budget,
}

impl<'s, 'a> Few<'s, 'a> {
    fn new(before: &'s PlanState<'a>, aims: &'s Aims, prices: Prices, slots: Vec<usize>) -> Self {
        let (shares, roles) = (before.shares, before.shares.weighed());
        let price = |slot: &usize| prices.of_run(shares, Run::single(*slot)) + prices.range;
        let loads = slots
            .iter()
            .flat_map(|slot| (0..roles).map(|role| shares.load(*slot, role)));
        let places = (0..shares.nodes).flat_map(|node| (0..roles).map(move |role| (node, role)));
        let mut nodes: Vec<usize> = shares.request.staying().collect();
        // Of equally good nodes one without slots is filled first.
        nodes.sort_by_key(|node| !before.held(*node).is_empty());
        Few {
            marks: places
                .map(|(node, role)| aims.marks(shares, node, role, 0.0))
                .collect(),
            roles,
            nodes,
            price: slots.iter().map(price).collect(),
            loads: loads.collect(),
            held: vec![0.0; shares.nodes * roles],
            heaviest: vec![0.0; shares.nodes * roles],
            owner: vec![0; slots.len()],
            best: (f64::INFINITY, Vec::new()),
            budget: Budget::new(WORK),
            slots,
            before,
            aims,
        }
    }

    fn search(&mut self, today: &[usize]) {
        let starts = STARTS.iter().find(|(most, _)| self.slots.len() <= *most);
        let random = &mut 12345_u64;
        for start in 0..starts.map_or(0, |(_, starts)| *starts) {
            if self.budget.is_spent() {
                break;
            }
            let owner = match start {
                0 => today.to_vec(),
                _ if start < FRESH => self.heaviest_first(start),
                _ => self.kicked(2 + start % 3, random),
            };
            self.descend(owner);
        }
    }

    /// The heaviest slots first, each to the node that it fills least.
    fn heaviest_first(&mut self, start: usize) -> Vec<usize> {
        let roles = self.roles;
        let key = |at: usize| {
            let loads = &self.loads[at * roles..(at + 1) * roles];
            match start % 3 {
                0 => loads.iter().sum(),
                1 => loads.iter().copied().fold(0.0, f64::max),
                _ => loads[start / 3 % roles],
            }
        };
        let mut order: Vec<(bool, f64, usize)> = (0..self.slots.len())
            .map(|at| (!self.is_fixed(at), key(at), at))
            .collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        let within = self.aims.within(self.before, &self.aims.aims);
        let mut owner = vec![0; self.slots.len()];
        let mut held = vec![0.0; self.held.len()];
        for (_, _, at) in order {
            let home = self.home(at);
            let fill = |node: &usize| {
                let of_role = |role: usize| {
                    let most = within.most(*node, role, 0.0);
                    let most = if most.is_finite() {
                        most.max(1e-9)
                    } else {
                        1e3
                    };
                    (held[node * roles + role] + self.loads[at * roles + role]) / most
                };
                let fill = (0..roles).map(of_role).fold(0.0, f64::max);
                // Equally good: the slot stays.
                if *node == home { fill * 0.999 } else { fill }
            };
            let nodes = self.nodes.iter().map(|node| (fill(node), *node));
            let least = nodes.reduce(|least, next| if next.0 < least.0 { next } else { least });
            owner[at] = match least {
                Some((_, node)) if !self.is_fixed(at) => node,
                _ => home,
            };
            for role in 0..roles {
                held[owner[at] * roles + role] += self.loads[at * roles + role];
            }
        }
        owner
    }

    /// The best so far with a few slots elsewhere.
    fn kicked(&self, kicks: usize, random: &mut u64) -> Vec<usize> {
        let mut below = |most: usize| {
            *random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (*random >> 33) as usize % most
        };
        let mut owner = self.best.1.clone();
        for _ in 0..kicks {
            let (at, node) = (below(self.slots.len()), self.nodes[below(self.nodes.len())]);
            if !self.is_fixed(at) {
                owner[at] = node;
            }
        }
        owner
    }

    fn home(&self, at: usize) -> usize {
        usize::from(self.before.home(self.slots[at]))
    }

    fn is_fixed(&self, at: usize) -> bool {
        self.before.shares.is_fixed(self.slots[at])
    }

    /// Moves and exchanges of single slots until none is better.
    fn descend(&mut self, owner: Vec<usize>) {
        self.held.fill(0.0);
        self.heaviest.fill(0.0);
        self.owner = owner;
        for at in 0..self.slots.len() {
            self.add(at, self.owner[at]);
        }
        let slots: Vec<usize> = (0..self.slots.len())
            .filter(|at| !self.is_fixed(*at))
            .collect();
        let mut value = self.value();
        loop {
            let before = value;
            for at in &slots {
                let mut best = self.owner[*at];
                for to in self.nodes.clone() {
                    self.give(*at, to);
                    let then = self.value();
                    if then < value - 1e-9 {
                        (value, best) = (then, to);
                    }
                }
                self.give(*at, best);
            }
            for (place, one) in slots.iter().enumerate() {
                for other in &slots[place + 1..] {
                    let (a, b) = (self.owner[*one], self.owner[*other]);
                    if a == b {
                        continue;
                    }
                    self.exchange([*one, *other], [b, a]);
                    let then = self.value();
                    if then < value - 1e-9 {
                        value = then;
                    } else {
                        self.exchange([*one, *other], [a, b]);
                    }
                }
            }
            if value >= before || self.budget.is_spent() {
                break;
            }
        }
        if value < self.best.0 - 1e-9 {
            self.best = (value, self.owner.clone());
        }
    }

    fn exchange(&mut self, slots: [usize; 2], nodes: [usize; 2]) {
        self.give(slots[0], nodes[0]);
        self.give(slots[1], nodes[1]);
    }

    fn give(&mut self, at: usize, to: usize) {
        let from = self.owner[at];
        if from == to {
            return;
        }
        self.owner[at] = to;
        let roles = self.roles;
        for role in 0..roles {
            let load = self.loads[at * roles + role];
            self.held[from * roles + role] -= load;
            if load > self.before.shares.largest(role) {
                let rest = (0..self.owner.len()).filter(|other| self.owner[*other] == from);
                let fills = rest.map(|other| self.loads[other * roles + role]);
                let fills = fills.filter(|load| *load > self.before.shares.largest(role));
                self.heaviest[from * roles + role] = fills.fold(0.0, f64::max);
            }
        }
        self.add(at, to);
    }

    fn add(&mut self, at: usize, to: usize) {
        for role in 0..self.roles {
            let (load, place) = (self.loads[at * self.roles + role], to * self.roles + role);
            self.held[place] += load;
            if load > self.before.shares.largest(role) {
                self.heaviest[place] = self.heaviest[place].max(load);
            }
        }
    }

    /// Whether the best is within all bands.
    fn is_even(&self) -> bool {
        self.best.0 < WEIGHTS[1] * 1e-6
    }

    /// How far from all goals a placement is: lower is better.
    fn value(&mut self) -> f64 {
        self.budget.spent += self.nodes.len() as u64;
        let aims = self.aims;
        let (mut value, mut squares) = (0.0, 0.0);
        for role in 0..self.roles {
            let weight = OF_ROLES.get(role).copied().unwrap_or(0.5);
            let mut heights = [0.0_f64; 4];
            for node in &self.nodes {
                let place = node * self.roles + role;
                let (held, heaviest) = (self.held[place], self.heaviest[place]);
                let marks = if heaviest > 0.0 {
                    aims.marks(self.before.shares, *node, role, heaviest)
                } else {
                    self.marks[place]
                };
                heights[0] = heights[0].max(held - marks[0]);
                for (height, mark) in heights.iter_mut().zip(marks).skip(1) {
                    *height = height.max(held / mark - 1.0);
                }
                squares += held * held;
                let caps = [Cap::HardOrToday, Cap::Hard, Cap::Aimed];
                for (cap, weight) in caps.into_iter().zip(OF_CAPS) {
                    value += weight * (held - self.before.cap(*node, role, cap)).max(0.0);
                }
            }
            let [ceiling, band, mid, aim] = heights.map(|height| (height - 1e-9).max(0.0));
            let aim = (aim - SLACK).max(0.0);
            let above = WEIGHTS[1] * band + WEIGHTS[2] * mid + WEIGHTS[3] * aim;
            value += WEIGHTS[0] * ceiling + weight * above;
        }
        let moved = (0..self.owner.len()).filter(|at| self.owner[*at] != self.home(*at));
        let price: f64 = moved.map(|at| self.price[at]).sum();
        value + OF_SQUARES * squares / self.nodes.len() as f64 + OF_PRICE * price
    }
}
