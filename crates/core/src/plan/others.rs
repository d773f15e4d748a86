//! The loads that a plan is not made by: slots that weigh alike in the planned load change places until no node is far
//! above its fair share of another load either. So one move of slots evens out keys and bytes.

use crate::plan::lower_bound::LowerBound;
use crate::plan::state::PlanState;

/// Up to this many fair shares a node is even in another load: below what the verdict calls balanced, as keys come and go
/// until the slots have moved.
const EVEN: f64 = 1.04;

/// Of the emptiest nodes so many are tried for a step.
const NODES: usize = 3;
/// Of the slots of a node so many of each kind are tried.
const SLOTS: usize = 12;
/// Steps for one load. Each leaves two more ranges of slots, which every client of the cluster keeps.
const STEPS: usize = 256;

/// Brings every node to the ceiling of each other load in turn. Where that cannot be reached, no node is to be fuller
/// than the fullest of today; where that cannot be reached either, the plan stays as it is.
pub fn even_out(state: &mut PlanState<'_>) {
    let problem = state.problem();
    let loads = problem.others.iter();
    let mut others: Vec<Other<'_>> = loads.filter_map(|loads| Other::of(state, loads)).collect();
    for at in 0..others.len() {
        let floor = LowerBound::of(&problem.by(others[at].loads)).over_fair;
        let even = EVEN.max(floor * (1.0 + problem.tolerance));
        let today = others[at].under(&problem.owner).fullest(state).1;
        let reached = [even, today.max(even)].into_iter().find_map(|ceiling| {
            let (mut state, mut others) = (state.clone(), others.clone());
            others[at].ceiling = ceiling;
            lower(&mut state, &mut others, at).then_some((state, others))
        });
        if let Some(reached) = reached {
            (*state, others) = reached;
        }
        // What comes next may not undo it.
        others[at].ceiling = others[at].fullest(state).1.max(EVEN);
    }
}

/// One of the other loads, and what each node has of it so far.
#[derive(Clone)]
struct Other<'a> {
    loads: &'a [u64],
    fair: Vec<f64>,
    node: Vec<f64>,
    /// Of this load, and of the planned one.
    total: f64,
    planned: f64,
    /// What the fullest node may come to, in fair shares.
    ceiling: f64,
}

impl<'a> Other<'a> {
    /// `None` where all slots are empty of it.
    fn of(state: &PlanState<'_>, loads: &'a [u64]) -> Option<Self> {
        let problem = state.problem().by(loads);
        let unplaced = Other {
            loads,
            fair: problem.fair(),
            node: Vec::new(),
            total: problem.total() as f64,
            planned: state.problem().total() as f64,
            ceiling: 0.0,
        };
        let mut other = unplaced.under(&state.owner);
        other.ceiling = other.fullest(state).1.max(EVEN);
        (other.total > 0.0).then_some(other)
    }

    /// The same with other owners.
    fn under(&self, owner: &[Option<usize>]) -> Self {
        let mut node = vec![0.0; self.fair.len()];
        for (slot, owner) in owner.iter().enumerate() {
            owner
                .iter()
                .for_each(|of| node[*of] += self.loads[slot] as f64);
        }
        Other {
            node,
            fair: self.fair.clone(),
            ..*self
        }
    }

    fn load_of(&self, slot: u16) -> f64 {
        self.loads[usize::from(slot)] as f64
    }

    fn share(&self, node: usize) -> f64 {
        self.node[node] / self.fair[node]
    }

    /// What a node has beyond the ceiling.
    fn too_much(&self, node: usize) -> f64 {
        (self.node[node] - self.ceiling * self.fair[node]).max(0.0)
    }

    /// The fullest of the nodes that stay, and its fair shares.
    fn fullest(&self, state: &PlanState<'_>) -> (usize, f64) {
        let shares = state.staying().map(|node| (node, self.share(node)));
        shares
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0))
    }

    /// The emptiest of the nodes that stay.
    fn emptiest(&self, state: &PlanState<'_>) -> Vec<usize> {
        let mut nodes: Vec<usize> = state.staying().collect();
        nodes.sort_by(|a, b| self.share(*a).total_cmp(&self.share(*b)));
        nodes.truncate(NODES);
        nodes
    }

    /// What a slot adds to its node's share of this load beyond what it adds to that of the planned one.
    fn surplus(&self, state: &PlanState<'_>, slot: u16) -> f64 {
        self.load_of(slot) / self.total - state.load_of(slot) as f64 / self.planned
    }
}

/// `slot` leaves the fullest node for `to`, which may give one back.
struct Step {
    slot: u16,
    to: usize,
    back: Option<u16>,
}

impl Step {
    /// The slots that leave a node, each with both nodes; `from` is the one that is lowered.
    fn moves(&self, from: usize) -> impl Iterator<Item = (u16, usize, usize)> {
        let back = self.back.map(|back| (back, self.to, from));
        [(self.slot, from, self.to)].into_iter().chain(back)
    }

    /// The same as what is given to whom.
    fn given(&self, from: usize) -> Vec<(u16, usize)> {
        self.moves(from).map(|(slot, _, to)| (slot, to)).collect()
    }
}

/// Takes steps until the fullest node is at the ceiling of `others[at]`; false where that is not reached.
fn lower(state: &mut PlanState<'_>, others: &mut [Other<'_>], at: usize) -> bool {
    let mut held = vec![Vec::new(); others[at].fair.len()];
    for (slot, node) in state.owned().filter(|(slot, _)| !state.is_fixed(*slot)) {
        held[node].push((others[at].surplus(state, slot), slot));
    }
    for slots in &mut held {
        slots.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    for left in (1..=STEPS).rev() {
        let (from, share) = others[at].fullest(state);
        if share <= others[at].ceiling {
            return true;
        }
        let too_much = others[at].too_much(from);
        let Some((taken, step)) = best_step(state, others, at, &held, from) else {
            return false;
        };
        // Later steps rarely take more.
        let in_all: f64 = state.staying().map(|node| others[at].too_much(node)).sum();
        if taken < too_much && taken * left as f64 <= in_all {
            return false;
        }
        if !state.exchange(&step.given(from)) {
            return false;
        }
        for (slot, from, to) in step.moves(from) {
            for other in &mut *others {
                other.node[from] -= other.load_of(slot);
                other.node[to] += other.load_of(slot);
            }
            let surplus = others[at].surplus(state, slot);
            held[from].retain(|(_, held)| *held != slot);
            let place = held[to].partition_point(|(of, _)| *of < surplus);
            held[to].insert(place, (surplus, slot));
        }
    }
    false
}

/// Of the steps that the planned load, the limits and the other loads allow, the one that takes most off the fullest
/// node, as far as it is too much, and of those the one that moves least; with what it takes.
fn best_step(
    state: &PlanState<'_>,
    others: &[Other<'_>],
    at: usize,
    held: &[Vec<(f64, u16)>],
    from: usize,
) -> Option<(f64, Step)> {
    let other = &others[at];
    let too_much = other.too_much(from);
    let mut best: Option<((f64, f64), Step)> = None;
    for to in other.emptiest(state).into_iter().filter(|to| *to != from) {
        let backs = tried(held[to].iter()).map(Some);
        for back in std::iter::once(None).chain(backs) {
            for slot in tried(held[from].iter().rev()) {
                let returned = back.map_or(0.0, |back| other.load_of(back));
                let taken = (other.load_of(slot) - returned).min(too_much);
                let rank = (taken, -(other.load_of(slot) + returned));
                let is_better = best.as_ref().is_none_or(|(most, _)| rank > *most);
                let step = Step { slot, to, back };
                if taken > 0.0 && is_better && allows(state, others, at, from, &step) {
                    best = Some((rank, step));
                }
            }
        }
    }
    best.map(|((taken, _), step)| (taken, step))
}

/// The first slots of a node, and some of all.
fn tried<'a>(
    slots: impl ExactSizeIterator<Item = &'a (f64, u16)> + Clone,
) -> impl Iterator<Item = u16> {
    let every = slots.len().div_ceil(SLOTS).max(1);
    let first = slots.clone().take(SLOTS);
    first
        .chain(slots.skip(SLOTS).step_by(every))
        .map(|(_, slot)| *slot)
}

/// Whether no node that gains by a step, in whichever load, comes above what it may hold.
fn allows(
    state: &PlanState<'_>,
    others: &[Other<'_>],
    at: usize,
    from: usize,
    step: &Step,
) -> bool {
    let (given, returned) = (
        state.load_of(step.slot),
        step.back.map_or(0, |back| state.load_of(back)),
    );
    let fits = |node: usize, less: u64, more: u64| {
        more <= less || state.load[node] - less + more <= state.cap(node)
    };
    let fits_other = |(i, other): (usize, &Other<'_>)| {
        let gain = other.load_of(step.slot) - step.back.map_or(0.0, |back| other.load_of(back));
        let (gainer, gain) = if gain > 0.0 {
            (step.to, gain)
        } else {
            (from, -gain)
        };
        // What is being lowered may not get a new fullest node.
        let ceiling = if i == at {
            other.share(from)
        } else {
            other.ceiling
        };
        gain == 0.0 || other.node[gainer] + gain <= ceiling * other.fair[gainer]
    };
    fits(from, given, returned)
        && fits(step.to, returned, given)
        && state.allows(&step.given(from))
        && others.iter().enumerate().all(fits_other)
}
