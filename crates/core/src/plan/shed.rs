//! One step out of a node that holds too much: the run of slots with most overshoot removed for its price.
//!
//! Every start within every unmoved run is tried, with the ends at which it covers the excess in one role or in all, or
//! fits the receiver. Giants, and slots that have moved before, go singly.

use crate::plan::budget::Budget;
use crate::plan::prices::Prices;
use crate::plan::receivers::receivers;
use crate::plan::shares::Shares;
use crate::plan::state::{NEAR, PlanState, Run, above};

/// Nodes of each kind that are tried as receivers.
const RECEIVERS: usize = 8;
/// A step that gains less is none.
const LEAST_GAIN: f64 = 1e-7;
/// How much bringing two nodes nearer to each other counts, beside bringing them to their targets.
const LEVELLING: f64 = 0.15;
/// Steps that cost nothing, or give back what was spent, come before all others.
const REFUND: f64 = 1e12;

/// A step that was found.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    run: Run,
    to: usize,
}

/// Takes the best step out of a node; false where none gains anything. The budget is charged and not asked.
pub(super) fn shed(
    state: &mut PlanState<'_>,
    prices: Prices,
    node: usize,
    budget: &mut Budget,
) -> bool {
    let search = Search::new(state, prices, node);
    budget.spent += (state.held(node).len() * search.receivers.len()) as u64;
    let mut best = None;
    search.giants(&mut best);
    for run in runs(state, node) {
        if state.owner[run.first] == state.shares.home(run.first) {
            search.windows(run, &mut best);
        } else {
            search.moved(run, &mut best);
        }
    }
    let Some(Step { run, to, .. }) = best else {
        return false;
    };
    state.give(run, to);
    true
}

/// What does not change while runs and receivers are tried.
struct Search<'s, 'a> {
    state: &'s PlanState<'a>,
    shares: &'a Shares<'a>,
    prices: Prices,
    node: usize,
    /// What the node has above its targets.
    need: Vec<f64>,
    receivers: Vec<Receiver>,
}

/// A node that may get a run.
struct Receiver {
    node: usize,
    /// What it may still get, by role.
    room: Vec<f64>,
    /// What no move may bring it above, less what it holds.
    most: Vec<f64>,
    /// What the other node holds more than this one, by goal.
    below: Vec<f64>,
}

/// A run, and what it is worth to the node that it leaves.
struct Candidate<'s> {
    run: Run,
    first: &'s [f64],
    end: &'s [f64],
    /// By how much the node comes nearer to its targets.
    gain: f64,
    /// Bytes and slots, without the range.
    price: f64,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(state: &'s PlanState<'a>, prices: Prices, node: usize) -> Self {
        let shares = state.shares;
        let difference = |of: &[f64], than: &[f64]| -> Vec<f64> {
            of.iter().zip(than).map(|(of, than)| of - than).collect()
        };
        let receiver = |to: usize| Receiver {
            node: to,
            room: difference(state.targets(to), state.loads(to)),
            most: difference(shares.ceilings(to), state.loads(to)),
            below: difference(state.loads(node), state.loads(to)),
        };
        let over = difference(state.loads(node), state.targets(node));
        Search {
            shares,
            prices,
            node,
            need: over.into_iter().map(|over| over.max(0.0)).collect(),
            receivers: receivers(state, node, RECEIVERS)
                .into_iter()
                .map(receiver)
                .collect(),
            state,
        }
    }

    fn giants(&self, best: &mut Option<Step>) {
        let giants = self.shares.giants.iter().map(|slot| usize::from(*slot));
        let its = giants.filter(|slot| usize::from(self.state.owner[*slot]) == self.node);
        for slot in its.filter(|slot| !self.shares.is_fixed(*slot)) {
            let run = Run::single(slot);
            for to in self.receivers.iter().map(|receiver| receiver.node) {
                let gain = self.state.gain_of_single(slot, to).unwrap_or(0.0);
                if gain > LEAST_GAIN && self.state.allows(run, to) {
                    let price = self.prices.of_step(self.state, run, to);
                    rank(gain, price, run, to, best);
                }
            }
        }
    }

    /// Tries a slot that has moved before.
    fn moved(&self, run: Run, best: &mut Option<Step>) {
        let candidate = self.candidate(run);
        for to in &self.receivers {
            if let Some(worth) = self.worth(&candidate, to)
                && self.state.allows(run, to.node)
            {
                let price = self.prices.of_step(self.state, run, to.node);
                rank(worth, price, run, to.node, best);
            }
        }
    }

    /// Tries the windows of a run whose slots have not moved.
    fn windows(&self, run: Run, best: &mut Option<Step>) {
        let shares = self.shares;
        let leaves = shares.leaves(self.node);
        let mut covers = vec![run.first; shares.roles];
        let mut fits = vec![run.first; self.receivers.len()];
        for first in run.first..run.end {
            let before = shares.before(first);
            let mut needed = self.need.iter().zip(shares.before(first + 1)).zip(before);
            if !leaves && !needed.any(|((need, end), first)| *need > 0.0 && end > first) {
                continue;
            }
            let (mut least, mut most) = (run.end, first + 1);
            for role in (0..shares.roles).filter(|role| self.need[*role] > 0.0) {
                let end = &mut covers[role];
                *end = (*end).max(first + 1);
                while *end < run.end && shares.before(*end)[role] - before[role] < self.need[role] {
                    *end += 1;
                }
                (least, most) = (least.min(*end), most.max(*end));
            }
            let allowed = self.state.last_end_within_limits(first, run.end);
            if allowed <= first {
                continue;
            }
            let [one, least, most] = [first + 1, least, most].map(|end| end.min(allowed));
            self.give_to_each(Run { first, end: one }, best);
            if least > one {
                self.give_to_each(Run { first, end: least }, best);
            }
            if most > least {
                self.give_to_each(Run { first, end: most }, best);
            }
            // Ends at which a receiver is full.
            let last = if leaves { run.end.min(allowed) } else { most };
            for (to, fits) in self.receivers.iter().zip(&mut fits) {
                if to.has_room(before, shares.before(last)) {
                    if last > most {
                        self.give(&self.candidate(Run { first, end: last }), to, best);
                    }
                    continue;
                }
                *fits = (*fits).max(first + 1);
                while *fits < last && to.has_room(before, shares.before(*fits + 1)) {
                    *fits += 1;
                }
                if *fits > one && *fits != least && *fits != most {
                    self.give(&self.candidate(Run { first, end: *fits }), to, best);
                }
            }
        }
    }

    fn give_to_each(&self, run: Run, best: &mut Option<Step>) {
        let candidate = self.candidate(run);
        if self.may_beat(&candidate, best.as_ref()) {
            for to in &self.receivers {
                self.give(&candidate, to, best);
            }
        }
    }

    fn give(&self, candidate: &Candidate<'_>, to: &Receiver, best: &mut Option<Step>) {
        if self.may_beat(candidate, best.as_ref())
            && let Some(worth) = self.worth(candidate, to)
        {
            let run = candidate.run;
            let joined = u8::from(run.first > 0 && self.goes_to(run.first - 1, to.node))
                + u8::from(run.end < self.shares.slots && self.goes_to(run.end, to.node));
            let price = candidate.price + self.prices.range * (1.0 - f64::from(joined));
            rank(worth, price, run, to.node, best);
        }
    }

    /// Whether a slot goes from this node to that one already: a run beside it is no new range.
    fn goes_to(&self, slot: usize, to: usize) -> bool {
        usize::from(self.state.owner[slot]) == to
            && usize::from(self.shares.home(slot)) == self.node
    }

    /// Whether some receiver could make more of it than the best step so far.
    fn may_beat(&self, candidate: &Candidate<'_>, best: Option<&Step>) -> bool {
        let run = candidate.run;
        let is_beside = |slot: usize| {
            usize::from(self.shares.home(slot)) == self.node
                && usize::from(self.state.owner[slot]) != self.node
        };
        let joins = u8::from(run.first > 0 && is_beside(run.first - 1))
            + u8::from(run.end < self.shares.slots && is_beside(run.end));
        let price = candidate.price + self.prices.range * (1.0 - f64::from(joins));
        candidate.gain > LEAST_GAIN
            && best.is_none_or(|best| {
                price <= 0.0 || candidate.gain * (1.0 + 2.0 * LEVELLING) > best.score * price
            })
    }

    fn candidate(&self, run: Run) -> Candidate<'a> {
        let (first, end) = (self.shares.before(run.first), self.shares.before(run.end));
        let loads = end.iter().zip(first).map(|(end, first)| end - first);
        let gains = self.need.iter().zip(loads);
        Candidate {
            run,
            first,
            end,
            gain: gains
                .map(|(need, load)| above(*need) - above(need - load))
                .sum(),
            price: self.prices.of_run(self.shares, run),
        }
    }

    /// By how much both nodes come nearer to their targets, and a little for what brings them nearer to each other; `None`
    /// where they do not, or a hard limit forbids it. The run has no giant.
    fn worth(&self, candidate: &Candidate<'_>, to: &Receiver) -> Option<f64> {
        let mut gain = candidate.gain;
        let mut nearer = 0.0;
        for role in 0..self.shares.roles {
            let load = candidate.end[role] - candidate.first[role];
            if load > to.most[role] + NEAR && load > 0.0 {
                return None;
            }
            gain -= above(load - to.room[role]) - above(-to.room[role]);
            if role < self.shares.goals {
                nearer += 2.0 * load * (to.below[role] - load);
            }
        }
        (gain > LEAST_GAIN).then(|| gain + LEVELLING * nearer.clamp(-2.0 * gain, 2.0 * gain))
    }
}

impl Receiver {
    fn has_room(&self, first: &[f64], end: &[f64]) -> bool {
        let loads = end.iter().zip(first);
        loads
            .zip(&self.room)
            .all(|((end, first), room)| end - first <= room.max(0.0))
    }
}

/// The slots of a node that are neither fixed nor giants: unmoved ones in a row together, moved ones singly.
fn runs(state: &PlanState<'_>, node: usize) -> Vec<Run> {
    let shares = state.shares;
    let mut runs: Vec<Run> = Vec::new();
    let is_home = |slot: usize| usize::from(shares.home(slot)) == node;
    for slot in state.held(node).iter().map(|slot| usize::from(*slot)) {
        if shares.is_fixed(slot) || shares.is_giant[slot] {
            continue;
        }
        match runs.last_mut() {
            Some(run) if run.end == slot && is_home(slot) && is_home(slot - 1) => run.end += 1,
            _ => runs.push(Run::single(slot)),
        }
    }
    runs
}

/// Keeps the better step; the first of equals stays.
fn rank(worth: f64, price: f64, run: Run, to: usize, best: &mut Option<Step>) {
    let score = if price > 0.0 {
        worth / price
    } else {
        REFUND + worth
    };
    let is_better = |best: &Step| score > best.score * (1.0 + 1e-12);
    if score > 0.0 && best.as_ref().is_none_or(is_better) {
        *best = Some(Step { score, run, to });
    }
}
