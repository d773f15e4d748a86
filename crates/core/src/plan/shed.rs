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
    let mut best = None;
    for to in receivers(state, node, RECEIVERS) {
        budget.spent += state.held(node).len() as u64;
        search.giants_to(to, &mut best);
        for run in &search.runs {
            if state.owner[run.first] == state.shares.home(run.first) {
                search.windows_to(*run, to, &mut best);
            } else {
                search.consider(*run, to, &mut best);
            }
        }
    }
    let Some(Step { run, to, .. }) = best else {
        return false;
    };
    state.give(run, to);
    true
}

/// What does not change while receivers are tried.
struct Search<'s, 'a> {
    state: &'s PlanState<'a>,
    shares: &'a Shares<'a>,
    prices: Prices,
    node: usize,
    over: f64,
    /// What the node has above its targets.
    need: Vec<f64>,
    /// Unmoved slots in a row that may move, and moved ones singly.
    runs: Vec<Run>,
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(state: &'s PlanState<'a>, prices: Prices, node: usize) -> Self {
        let both = state.loads(node).iter().zip(state.targets(node));
        Search {
            shares: state.shares,
            prices,
            node,
            over: state.over(node),
            need: both
                .map(|(load, target)| (load - target).max(0.0))
                .collect(),
            runs: runs(state, node),
            state,
        }
    }

    fn giants_to(&self, to: usize, best: &mut Option<Step>) {
        let giants = self.shares.giants.iter().map(|slot| usize::from(*slot));
        let its = giants.filter(|slot| usize::from(self.state.owner[*slot]) == self.node);
        for slot in its.filter(|slot| !self.shares.is_fixed(*slot)) {
            let run = Run::single(slot);
            let Some(gain) = self.state.gain_of_single(slot, to) else {
                continue;
            };
            if gain > LEAST_GAIN && self.state.allows(run, to) {
                let price = self.prices.of_step(self.state, run, to);
                rank(
                    Step {
                        score: score(gain, 0.0, price),
                        run,
                        to,
                    },
                    best,
                );
            }
        }
    }

    /// Tries the windows of a run whose slots have not moved.
    fn windows_to(&self, run: Run, to: usize, best: &mut Option<Step>) {
        let shares = self.shares;
        let leaves = shares.leaves(self.node);
        let both = self.state.targets(to).iter().zip(self.state.loads(to));
        let room: Vec<f64> = both
            .map(|(target, load)| (target - load).max(0.0))
            .collect();
        let roles = 0..shares.roles;
        let mut covers = vec![run.first; shares.roles];
        let mut fits = run.first;
        for first in run.first..run.end {
            let before = shares.before(first);
            let helps = |role: usize| {
                self.need[role] > 0.0 && shares.before(first + 1)[role] > before[role]
            };
            if !leaves && !roles.clone().any(helps) {
                continue;
            }
            let is_within = |end: usize| {
                let loads = shares.before(end).iter().zip(before);
                loads
                    .zip(&room)
                    .all(|((end, first), room)| end - first <= *room)
            };
            fits = fits.max(first + 1);
            while fits < run.end && is_within(fits + 1) {
                fits += 1;
            }
            let (mut least, mut most) = (run.end, first + 1);
            for role in roles.clone().filter(|role| self.need[*role] > 0.0) {
                let end = &mut covers[role];
                *end = (*end).max(first + 1);
                while *end < run.end && shares.before(*end)[role] - before[role] < self.need[role] {
                    *end += 1;
                }
                (least, most) = (least.min(*end), most.max(*end));
            }
            let allowed = self.state.last_end_within_limits(first, run.end);
            let whole = if leaves { run.end.min(fits) } else { first + 1 };
            let ends = [first + 1, least.min(fits), most.min(fits), most, whole];
            for (at, end) in ends.iter().enumerate() {
                let end = (*end).min(allowed);
                if end > first && !ends[..at].contains(&end) {
                    self.consider(Run { first, end }, to, best);
                }
            }
        }
    }

    /// Rates a run of slots that have all moved or have all not, none of them a giant.
    fn consider(&self, run: Run, to: usize, best: &mut Option<Step>) {
        let (state, shares) = (self.state, self.shares);
        let (first, end) = (shares.before(run.first), shares.before(run.end));
        let (left, left_target) = (state.loads(self.node), state.targets(self.node));
        let (there, there_target) = (state.loads(to), state.targets(to));
        let ceilings = shares.ceilings(to);
        let mut gain = self.over;
        let mut nearer = 0.0;
        for role in 0..shares.roles {
            let load = end[role] - first[role];
            let after = there[role] + load;
            if load > 0.0 && after > ceilings[role] + NEAR {
                return;
            }
            gain -= above(left[role] - load - left_target[role])
                + above(after - there_target[role])
                - above(there[role] - there_target[role]);
            if role < shares.goals {
                nearer += 2.0 * load * (left[role] - load - there[role]);
            }
        }
        if gain <= LEAST_GAIN {
            return;
        }
        let price = if state.owner[run.first] == shares.home(run.first) {
            self.price_of_unmoved(run, to)
        } else if state.allows(run, to) {
            self.prices.of_step(state, run, to)
        } else {
            return;
        };
        rank(
            Step {
                score: score(gain, nearer, price),
                run,
                to,
            },
            best,
        );
    }

    /// The price of a run of which nothing has moved: joined to a neighbour that goes the same way it is no new range.
    fn price_of_unmoved(&self, run: Run, to: usize) -> f64 {
        let is_beside = |slot: usize| {
            usize::from(self.state.owner[slot]) == to
                && usize::from(self.shares.home(slot)) == self.node
        };
        let joined = u8::from(run.first > 0 && is_beside(run.first - 1))
            + u8::from(run.end < self.shares.slots && is_beside(run.end));
        self.prices.of_run(self.shares, run) + self.prices.range * (1.0 - f64::from(joined))
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

fn score(gain: f64, nearer: f64, price: f64) -> f64 {
    if price > 0.0 {
        (gain + LEVELLING * nearer.clamp(-2.0 * gain, 2.0 * gain)) / price
    } else {
        REFUND + gain
    }
}

/// The first of equals stays.
fn rank(step: Step, best: &mut Option<Step>) {
    let is_better = |best: &Step| step.score > best.score * (1.0 + 1e-12);
    if step.score > 0.0 && best.as_ref().is_none_or(is_better) {
        *best = Some(step);
    }
}
