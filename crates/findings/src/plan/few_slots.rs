//! Clusters of which few slots hold anything: all moves of a slot and all exchanges of two, to the end, from many starts.

use crate::plan::aims::Aims;
use crate::plan::budget::Budget;
use crate::plan::shares::Shares;
use crate::plan::state::{Cap, PlanState, above, allowed};

/// With more loaded slots than this, others come closer in the same time.
const MOST: usize = 64;
/// Starts where there are few slots, more and most; those after the first ones change the best placement a little.
const STARTS: [(usize, usize); 3] = [(26, 240), (40, 60), (MOST, 8)];
/// The starts from today, from the best placement known and from the loads by size.
const FIRST: usize = 8;
/// The work of one search, in loads of nodes.
const WORK: u64 = 6_000_000;
/// Loads of nodes that are looked at in the time of a slot.
const LOADS: u64 = 4;

/// The cost of a placement: the weight of a role falls with its place, and limits and ceilings outweigh all.
const OF_LIMIT: f64 = 1e7;
const OF_CEILING: f64 = 1e5;
const OF_BAND: f64 = 6e3;
const OF_AIM: f64 = 1e2;
const OF_LEVEL: f64 = 1e-3;
const OF_PRICE: f64 = 1e-2;
const NEXT_ROLE: f64 = 0.1;

/// A better placement for a request with few loaded slots, from the best one known; `None` where there are many.
pub(super) fn placed(
    known: &PlanState<'_>,
    aims: &Aims,
    budget: &mut Budget,
) -> Option<Vec<Option<usize>>> {
    let shares = known.shares;
    let is_loaded = |slot: &usize| {
        let owned = usize::from(known.owner[*slot]) < shares.nodes;
        owned && (0..shares.weighed()).any(|role| shares.load(*slot, role) > 0.0)
    };
    let slots: Vec<usize> = (0..shares.slots).filter(is_loaded).collect();
    let (_, starts) = STARTS.into_iter().find(|(most, _)| slots.len() <= *most)?;
    let nodes: Vec<usize> = shares.request.staying().collect();
    let mut few = Few {
        known,
        shares,
        aims,
        most: nodes
            .iter()
            .map(|node| known.cap(*node, Cap::Aimed))
            .collect(),
        slots,
        nodes,
        work: WORK.min(budget.part(WORK).most * LOADS),
    };
    let begin = few.work;
    let best = few.best(starts);
    budget.spent += (begin - few.work) / LOADS;
    let mut owner = known.owners();
    for (slot, at) in few.slots.iter().zip(best?) {
        owner[*slot] = Some(few.nodes[at]);
    }
    Some(owner)
}

struct Few<'s, 'a> {
    known: &'s PlanState<'a>,
    shares: &'a Shares<'a>,
    aims: &'s Aims,
    /// By node: the limit of memory in shares.
    most: Vec<f64>,
    slots: Vec<usize>,
    nodes: Vec<usize>,
    work: u64,
}

/// A fixed sequence of numbers.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

impl Few<'_, '_> {
    /// The best placement of all starts, by the places of nodes.
    fn best(&mut self, starts: usize) -> Option<Vec<usize>> {
        let sequence = &mut Sequence(12345);
        let mut best: Option<(f64, Vec<usize>)> = None;
        for start in 0..starts {
            if self.work == 0 {
                break;
            }
            let mut placement = match &best {
                Some((_, best)) if start >= FIRST && start % 4 > 0 => self.kicked(best, sequence),
                _ if start == 0 => self.today()?,
                _ if start == 1 => self.of_known(),
                _ => self.by_size(start, sequence),
            };
            let cost = self.descend(&mut placement);
            if best.as_ref().is_none_or(|(least, _)| cost < least - 1e-9) {
                best = Some((cost, placement));
            }
        }
        best.map(|(_, placement)| placement)
    }

    fn place(&self, node: usize) -> usize {
        self.nodes
            .iter()
            .position(|other| *other == node)
            .unwrap_or(0)
    }

    /// Slots of nodes that leave begin on the first that stays; `None` where one of them may not move.
    fn today(&self) -> Option<Vec<usize>> {
        let stuck = |slot: &&usize| {
            let home = usize::from(self.known.home(**slot));
            self.shares.is_fixed(**slot) && self.shares.leaves(home)
        };
        let homes = self
            .slots
            .iter()
            .map(|slot| self.place(usize::from(self.known.home(*slot))));
        self.slots
            .iter()
            .find(stuck)
            .is_none()
            .then(|| homes.collect())
    }

    fn of_known(&self) -> Vec<usize> {
        let owner = |slot: &usize| self.place(usize::from(self.known.owner[*slot]));
        self.slots.iter().map(owner).collect()
    }

    /// A few slots of a placement go elsewhere.
    fn kicked(&self, best: &[usize], sequence: &mut Sequence) -> Vec<usize> {
        let mut placement = best.to_vec();
        for _ in 0..2 + sequence.below(4) {
            let at = sequence.below(self.slots.len());
            if !self.shares.is_fixed(self.slots[at]) {
                placement[at] = sequence.below(self.nodes.len());
            }
        }
        placement
    }

    /// The heaviest slots first, each to the node that is least full with it.
    fn by_size(&self, start: usize, sequence: &mut Sequence) -> Vec<usize> {
        let roles = self.shares.weighed();
        let mut order: Vec<(f64, usize)> = (0..self.slots.len())
            .map(|at| {
                let load = |role: usize| self.shares.load(self.slots[at], role);
                let size = match start % 3 {
                    0 => (0..roles).map(load).sum::<f64>(),
                    1 => (0..roles).map(load).fold(0.0, f64::max),
                    _ => load(start / 3 % roles),
                };
                let noise = if start < 5 {
                    0.0
                } else {
                    sequence.below(1000) as f64 / 1000.0 - 0.5
                };
                (size * (1.0 + 0.3 * noise), at)
            })
            .collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut placement = self.of_known();
        let mut held = vec![0.0; self.nodes.len() * roles];
        for (_, at) in order {
            let slot = self.slots[at];
            let home = self.place(usize::from(self.known.home(slot)));
            let fullest = |node: &usize| {
                let of = (0..roles).map(|role| {
                    let capacity = self.shares.capacity(self.nodes[*node], role);
                    (held[node * roles + role] + self.shares.load(slot, role)) / capacity
                });
                of.fold(0.0, f64::max) * if *node == home { 0.999 } else { 1.0 }
            };
            let nodes = 0..self.nodes.len();
            let chosen = if self.shares.is_fixed(slot) {
                home
            } else {
                nodes
                    .min_by(|a, b| fullest(a).total_cmp(&fullest(b)))
                    .unwrap_or(home)
            };
            placement[at] = chosen;
            for role in 0..roles {
                held[chosen * roles + role] += self.shares.load(slot, role);
            }
        }
        placement
    }

    /// The best single moves and exchanges until none helps.
    fn descend(&mut self, placement: &mut [usize]) -> f64 {
        let mut cost = self.cost(placement);
        let movable: Vec<usize> = (0..self.slots.len())
            .filter(|at| !self.shares.is_fixed(self.slots[*at]))
            .collect();
        loop {
            let mut best: Option<(f64, usize, usize, bool)> = None;
            let mut try_it =
                |few: &mut Self, placement: &mut [usize], at: usize, to: usize, is_swap: bool| {
                    let from = placement[at];
                    let apply = |placement: &mut [usize]| {
                        if is_swap {
                            placement.swap(at, to)
                        } else {
                            placement[at] = to
                        }
                    };
                    apply(placement);
                    let tried = few.cost(placement);
                    if is_swap {
                        placement.swap(at, to)
                    } else {
                        placement[at] = from
                    }
                    if tried < best.map_or(cost, |(least, ..)| least) - 1e-9 {
                        best = Some((tried, at, to, is_swap));
                    }
                };
            for (index, at) in movable.iter().enumerate() {
                for to in (0..self.nodes.len())
                    .filter(|to| *to != placement[*at])
                    .collect::<Vec<_>>()
                {
                    try_it(self, placement, *at, to, false);
                }
                for other in &movable[index + 1..] {
                    if placement[*other] != placement[*at] {
                        try_it(self, placement, *at, *other, true);
                    }
                }
            }
            let Some((then, at, to, is_swap)) = best else {
                return cost;
            };
            if is_swap {
                placement.swap(at, to)
            } else {
                placement[at] = to
            }
            cost = then;
            if self.work == 0 {
                return cost;
            }
        }
    }

    fn cost(&mut self, placement: &[usize]) -> f64 {
        let (roles, count) = (self.shares.weighed(), self.nodes.len());
        self.work = self
            .work
            .saturating_sub((roles * (count + self.slots.len())) as u64);
        let (mut held, mut heaviest) = (vec![0.0; count * roles], vec![0.0f64; count * roles]);
        let mut moved = 0.0;
        for (slot, at) in self.slots.iter().zip(placement) {
            for role in 0..roles {
                let load = self.shares.load(*slot, role);
                held[at * roles + role] += load;
                heaviest[at * roles + role] = heaviest[at * roles + role].max(load);
            }
            if self.nodes[*at] != usize::from(self.known.home(*slot)) {
                moved += self.shares.price(*slot, slot + 1) / self.shares.staying as f64 + 1e-3;
            }
        }
        let mut cost = OF_PRICE * moved;
        let mut weight = 1.0;
        for role in 0..roles {
            let (mut above_aim, mut above_band) = (0.0f64, 0.0f64);
            for node in 0..count {
                let (load, largest) = (held[node * roles + role], heaviest[node * roles + role]);
                let capacity = self.shares.capacity(self.nodes[node], role);
                let full = self.shares.largest(role);
                let at = |level, beside| allowed(level, beside, capacity, largest, full);
                let aims = self.aims;
                let over = load / at(aims.aims[role], aims.beside[role]);
                above_aim = above_aim.max(over - 1.0);
                above_band = above_band.max(load / at(aims.bands[role], aims.beside[role]) - 1.0);
                cost += OF_LEVEL * over * over / count as f64;
                let ceiling = at(aims.ceilings[role], aims.most_beside[role]);
                cost += OF_CEILING * above(load - ceiling.min(aims.tops[role] * capacity));
                if self
                    .shares
                    .request
                    .caps
                    .as_ref()
                    .is_some_and(|caps| caps.role == role)
                {
                    cost += OF_LIMIT * above(load - self.most[node]);
                }
            }
            cost += weight * (OF_AIM * above_aim + OF_BAND * above_band);
            weight *= NEXT_ROLE;
        }
        cost
    }
}
