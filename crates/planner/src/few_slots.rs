//! Clusters with few loaded slots: local search over single moves and swaps, from many starting points.

use crate::aims::Aims;
use crate::budget::Budget;
use crate::shares::{MOST_ROLES, Shares, allowed};
use crate::state::{Cap, PlanState, above};

/// With more loaded slots than this, the other searches get closer in the same time.
const MOST: usize = 64;
/// Starts per number of loaded slots; starts after the first ones perturb the best placement.
const STARTS: [(usize, usize); 3] = [(26, 240), (40, 60), (MOST, 8)];
/// Starts from today's placement, the best known one, and loads by size.
const FIRST: usize = 8;
/// Work of one search in node loads, and how many of those cost as much as one slot.
const WORK: u64 = 4_000_000;
const LOADS: u64 = 8;

/// Cost weights: roles weigh less in their order; limits and ceilings outweigh everything.
const OF_LIMIT: f64 = 1e7;
const OF_CEILING: f64 = 1e5;
const OF_BAND: f64 = 6e3;
const OF_AIM: f64 = 1e2;
const OF_LEVEL: f64 = 1e-3;
const OF_PRICE: f64 = 1e-2;
const NEXT_ROLE: f64 = 0.1;
/// The price of a slot, in shares of all data.
const OF_SLOT: f64 = 1e-3;

/// A better placement for a request with few loaded slots, from the best one known; `None` where there are many.
pub(crate) fn placed(
    known: &PlanState<'_>,
    aims: &Aims,
    budget: &mut Budget,
) -> Option<Vec<Option<usize>>> {
    let shares = known.shares;
    let roles = 0..shares.weighed();
    let is_loaded = |slot: &usize| {
        let owned = usize::from(known.owner[*slot]) < shares.nodes;
        owned && roles.clone().any(|role| shares.load(*slot, role) > 0.0)
    };
    let slots: Vec<usize> = (0..shares.slots).filter(is_loaded).collect();
    let (_, starts) = STARTS.into_iter().find(|(most, _)| slots.len() <= *most)?;
    let is_giant = |slot: usize| {
        roles
            .clone()
            .any(|role| shares.load(slot, role) > shares.largest(role))
    };
    let nodes: Vec<usize> = shares.request.staying().collect();
    let place = |node: u16| nodes.iter().position(|other| *other == usize::from(node));
    let mut few = Few {
        shares,
        aims,
        most: nodes
            .iter()
            .map(|node| known.cap(*node, Cap::Aimed))
            .collect(),
        giants: (0..slots.len()).filter(|at| is_giant(slots[*at])).collect(),
        movable: (0..slots.len())
            .filter(|at| !shares.is_fixed(slots[*at]))
            .collect(),
        home: slots.iter().map(|slot| place(known.home(*slot))).collect(),
        known: slots
            .iter()
            .map(|slot| place(known.owner[*slot]))
            .collect::<Option<_>>()?,
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

/// The slots and nodes of a search; nodes index into `nodes`, slots into `slots`.
struct Few<'s, 'a> {
    shares: &'a Shares<'a>,
    aims: &'s Aims,
    /// Per node: the memory limit in shares.
    most: Vec<f64>,
    slots: Vec<usize>,
    nodes: Vec<usize>,
    /// Slots that fill a node alone, and movable slots.
    giants: Vec<usize>,
    movable: Vec<usize>,
    /// Today's owner (`None` for a leaving node), and the owner in the best known placement.
    home: Vec<Option<usize>>,
    known: Vec<usize>,
    work: u64,
}

/// A placement with node loads by role and the cost of each node.
struct Placed {
    node: Vec<usize>,
    load: Vec<[f64; MOST_ROLES]>,
    over: Vec<Over>,
    moved: f64,
}

/// A node's cost: its excess over aims and bands, and all other terms.
#[derive(Clone, Copy, Default)]
struct Over {
    aim: [f64; MOST_ROLES],
    band: [f64; MOST_ROLES],
    fixed: f64,
}

/// A deterministic pseudo-random sequence.
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
    /// The best placement over all starts.
    fn best(&mut self, starts: usize) -> Option<Vec<usize>> {
        let sequence = &mut Sequence(12345);
        let mut best: Option<(f64, Vec<usize>)> = None;
        for start in 0..starts {
            if self.work == 0 {
                break;
            }
            let begin = match &best {
                Some((_, best)) if start >= FIRST && start % 4 > 0 => self.kicked(best, sequence),
                _ if start == 0 => self.known.clone(),
                _ if start == 1 => self.today(),
                _ => self.by_size(start, sequence),
            };
            let (cost, found) = self.descend(begin);
            if best.as_ref().is_none_or(|(least, _)| cost < least - 1e-9) {
                best = Some((cost, found));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Today's placement; slots of leaving nodes start where they are known to fit.
    fn today(&self) -> Vec<usize> {
        let both = self.home.iter().zip(&self.known);
        both.map(|(home, known)| home.unwrap_or(*known)).collect()
    }

    /// Perturbs a placement: a few slots go elsewhere.
    fn kicked(&self, best: &[usize], sequence: &mut Sequence) -> Vec<usize> {
        let mut placement = best.to_vec();
        for _ in 0..2 + sequence.below(4) {
            if let Some(at) = self.movable.get(sequence.below(self.movable.len())) {
                placement[*at] = sequence.below(self.nodes.len());
            }
        }
        placement
    }

    /// Places the heaviest slots first, each on the node left least full.
    fn by_size(&self, start: usize, sequence: &mut Sequence) -> Vec<usize> {
        let roles = self.shares.weighed();
        let mut size = |at: &usize| {
            let load = |role: usize| self.shares.load(self.slots[*at], role);
            let size = match start % 3 {
                0 => (0..roles).map(load).sum::<f64>(),
                1 => (0..roles).map(load).fold(0.0, f64::max),
                _ => load(start / 3 % roles),
            };
            let noise = if start < 5 {
                0.5
            } else {
                sequence.below(1000) as f64 / 1000.0
            };
            (size * (0.85 + 0.3 * noise), *at)
        };
        let mut order: Vec<(f64, usize)> = self.movable.iter().map(&mut size).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut placement = self.known.clone();
        let mut load = vec![[0.0; MOST_ROLES]; self.nodes.len()];
        let fixed = (0..self.slots.len()).filter(|at| !self.movable.contains(at));
        fixed.for_each(|at| self.add(&mut load[placement[at]], at, 1.0));
        for (_, at) in order {
            let fullest = |node: &usize| {
                let of = (0..roles).map(|role| {
                    let own = self.shares.load(self.slots[at], role);
                    (load[*node][role] + own) / self.shares.capacity(self.nodes[*node], role)
                });
                let stays = self.home[at] == Some(*node);
                of.fold(0.0, f64::max) * if stays { 0.999 } else { 1.0 }
            };
            let nodes = 0..self.nodes.len();
            let chosen = nodes.min_by(|a, b| fullest(a).total_cmp(&fullest(b)));
            placement[at] = chosen.unwrap_or(placement[at]);
            self.add(&mut load[placement[at]], at, 1.0);
        }
        placement
    }

    /// Moves and swaps until neither helps; returns the cost and the placement.
    fn descend(&mut self, node: Vec<usize>) -> (f64, Vec<usize>) {
        let mut placed = self.placed(node);
        let mut cost = self.cost(&placed.over, placed.moved);
        loop {
            let before = cost;
            for index in 0..self.movable.len() {
                let at = self.movable[index];
                for to in 0..self.nodes.len() {
                    self.try_it(&mut placed, &mut cost, at, to, None);
                }
                for other in index + 1..self.movable.len() {
                    let back = self.movable[other];
                    let to = placed.node[back];
                    self.try_it(&mut placed, &mut cost, at, to, Some(back));
                }
            }
            if cost > before - 1e-9 || self.work == 0 {
                return (cost, placed.node);
            }
        }
    }

    /// Moves a slot to `to`, which gives another one back; undone if the cost does not drop.
    fn try_it(
        &mut self,
        placed: &mut Placed,
        cost: &mut f64,
        at: usize,
        to: usize,
        back: Option<usize>,
    ) {
        let from = placed.node[at];
        if from == to {
            return;
        }
        let work = (self.shares.weighed() * self.nodes.len()) as u64;
        self.work = self.work.saturating_sub(work);
        let (loads, overs) = (
            [placed.load[from], placed.load[to]],
            [placed.over[from], placed.over[to]],
        );
        let moved = placed.moved;
        self.transfer(placed, at, to);
        if let Some(back) = back {
            self.transfer(placed, back, from);
        }
        placed.over[from] = self.over(placed, from);
        placed.over[to] = self.over(placed, to);
        let tried = self.cost(&placed.over, placed.moved);
        if tried < *cost - 1e-9 {
            *cost = tried;
            return;
        }
        placed.node[at] = from;
        if let Some(back) = back {
            placed.node[back] = to;
        }
        [placed.load[from], placed.load[to]] = loads;
        [placed.over[from], placed.over[to]] = overs;
        placed.moved = moved;
    }

    fn placed(&self, node: Vec<usize>) -> Placed {
        let mut placed = Placed {
            load: vec![[0.0; MOST_ROLES]; self.nodes.len()],
            over: Vec::new(),
            moved: (0..node.len()).map(|at| self.price(at, node[at])).sum(),
            node,
        };
        for (at, node) in placed.node.iter().enumerate() {
            self.add(&mut placed.load[*node], at, 1.0);
        }
        placed.over = (0..self.nodes.len())
            .map(|node| self.over(&placed, node))
            .collect();
        placed
    }

    fn transfer(&self, placed: &mut Placed, at: usize, to: usize) {
        let from = std::mem::replace(&mut placed.node[at], to);
        self.add(&mut placed.load[from], at, -1.0);
        self.add(&mut placed.load[to], at, 1.0);
        placed.moved += self.price(at, to) - self.price(at, from);
    }

    fn add(&self, load: &mut [f64; MOST_ROLES], at: usize, times: f64) {
        for (role, load) in load.iter_mut().enumerate().take(self.shares.weighed()) {
            *load += times * self.shares.load(self.slots[at], role);
        }
    }

    fn price(&self, at: usize, node: usize) -> f64 {
        let slot = self.slots[at];
        if self.home[at] == Some(node) {
            0.0
        } else {
            self.shares.price(slot, slot + 1) / self.shares.staying as f64 + OF_SLOT
        }
    }

    fn over(&self, placed: &Placed, node: usize) -> Over {
        let mut over = Over::default();
        for role in 0..self.shares.weighed() {
            let load = placed.load[node][role];
            let capacity = self.shares.capacity(self.nodes[node], role);
            let its = self.giants.iter().filter(|at| placed.node[**at] == node);
            let heaviest = its.map(|at| self.shares.load(self.slots[*at], role));
            let (heaviest, largest) = (heaviest.fold(0.0, f64::max), self.shares.largest(role));
            let at = |level, beside| allowed(level, beside, capacity, heaviest, largest);
            let aims = self.aims;
            let in_aims = load / at(aims.aims[role], aims.beside[role]);
            over.aim[role] = in_aims - 1.0;
            over.band[role] = load / at(aims.bands[role], aims.beside[role]) - 1.0;
            let ceiling = at(aims.ceilings[role], aims.most_beside[role]);
            let ceiling = ceiling.min(aims.tops[role] * capacity);
            over.fixed += OF_LEVEL * in_aims * in_aims / self.nodes.len() as f64;
            over.fixed += OF_CEILING * above(load - ceiling);
            let caps = self.shares.request.caps.as_ref();
            if caps.is_some_and(|caps| caps.role == role) {
                over.fixed += OF_LIMIT * above(load - self.most[node]);
            }
        }
        over
    }

    fn cost(&self, over: &[Over], moved: f64) -> f64 {
        let mut cost = OF_PRICE * moved + over.iter().map(|of| of.fixed).sum::<f64>();
        let mut weight = 1.0;
        for role in 0..self.shares.weighed() {
            let (mut aim, mut band) = (0.0f64, 0.0f64);
            for of in over {
                (aim, band) = (aim.max(of.aim[role]), band.max(of.band[role]));
            }
            cost += weight * (OF_AIM * aim + OF_BAND * band);
            weight *= NEXT_ROLE;
        }
        cost
    }
}
