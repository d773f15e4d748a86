//! One step out of an overfull node: the run of slots that removes the most overshoot for its price.
//!
//! Tries every start within every unmoved run, with the ends that cover the excess in one role or in all, or that fill
//! the receiver. Giants and already moved slots go singly.

use std::cell::Cell;

use crate::budget::Budget;
use crate::move_request::MoveLimits;
use crate::prices::Prices;
use crate::receivers::receivers;
use crate::shares::{FEW_ROLES, MOST_ROLES, Shares};
use crate::state::{PlanState, Run, above};

/// Receivers tried.
const RECEIVERS: usize = 8;

/// Windows start at about this many slots of a node, plus at its heaviest ones.
const STARTS: usize = 512;
const HEAVIEST: usize = 512;
/// Skipping this many slots costs as much as trying one.
const SCANNED: u64 = 8;
/// Steps with a smaller gain are skipped.
const LEAST_GAIN: f64 = 1e-7;
/// Weight of bringing two nodes closer to each other, next to bringing them to their targets.
const LEVELLING: f64 = 0.15;
/// Steps taken before searching again, if each keeps this part of the best score and of its own gain.
const AT_ONCE: usize = 12;
const PART: f64 = 0.8;
/// Steps that are free, or refund earlier moves, come first.
const REFUND: f64 = 1e12;

#[derive(Clone, Copy)]
struct Step {
    score: f64,
    gain: f64,
    run: Run,
    to: usize,
}

/// The best steps found, best first: none is much worse than the best, and no two share a slot.
struct Best(Vec<Step>);

impl Best {
    /// The minimum score to enter the list.
    #[inline]
    fn least(&self) -> f64 {
        let of_first = self.0.first().map_or(0.0, |first| PART * first.score);
        match self.0.get(AT_ONCE - 1) {
            Some(last) => of_first.max(last.score),
            None => of_first,
        }
    }

    fn offer(&mut self, step: Step) {
        let overlaps = |kept: &Step| step.run.first < kept.run.end && kept.run.first < step.run.end;
        // Ties keep the earlier step.
        let is_better = |kept: &Step| step.score > kept.score * (1.0 + 1e-12);
        let mut overlapping = self.0.iter().filter(|kept| overlaps(kept));
        if step.score <= self.least() || !overlapping.all(is_better) {
            return;
        }
        self.0.retain(|kept| !overlaps(kept));
        let at = self.0.partition_point(|kept| !is_better(kept));
        self.0.insert(at, step);
        let least = self.least();
        self.0.truncate(AT_ONCE);
        self.0.retain(|kept| kept.score >= least);
    }
}

/// Takes the best steps out of a node; false if no step gains anything. The budget is charged and not asked: see `greedy`.
pub(crate) fn shed(
    state: &mut PlanState<'_>,
    prices: Prices,
    node: usize,
    budget: &mut Budget,
) -> bool {
    let receivers = receivers(state, node, RECEIVERS);
    // A compile-time number of roles lets the compiler unroll the role loops, which halves the time.
    let (best, work) = if state.shares.roles == FEW_ROLES {
        Search::<FEW_ROLES>::new(state, prices, node, receivers).best()
    } else {
        Search::<MOST_ROLES>::new(state, prices, node, receivers).best()
    };
    budget.spent += work;
    let mut steps = best.0.into_iter();
    let Some(Step { run, to, .. }) = steps.next() else {
        return false;
    };
    state.give(run, to);
    // If moves are limited, each must be the best one.
    let is_limited = state.limits != MoveLimits::default();
    for Step { run, to, gain, .. } in steps.filter(|_| !is_limited) {
        // An earlier step may already have achieved the same.
        if !is_giant(state, run) && gain_of(state, run, to) > PART * gain && state.allows(run, to) {
            state.give(run, to);
        }
    }
    true
}

fn is_giant(state: &PlanState<'_>, run: Run) -> bool {
    state.shares.is_giant[run.first..run.end].contains(&true)
}

/// How much closer the owner of a giant-free run and `to` get to their targets.
fn gain_of(state: &PlanState<'_>, run: Run, to: usize) -> f64 {
    let from = usize::from(state.owner[run.first]);
    let mut gain = state.over(from) + state.over(to);
    for role in 0..state.shares.roles {
        let load = state.shares.before(run.end)[role] - state.shares.before(run.first)[role];
        gain -= above(state.loads(from)[role] - load - state.targets(from)[role]);
        gain -= above(state.loads(to)[role] + load - state.targets(to)[role]);
    }
    gain
}

/// State that is constant while runs and receivers are tried, for `R` roles.
struct Search<'s, 'a, const R: usize> {
    state: &'s PlanState<'a>,
    shares: &'a Shares<'a>,
    prices: Prices,
    node: usize,
    /// The node's load above its targets.
    need: [f64; R],
    receivers: Vec<Receiver<R>>,
    /// Windows start at multiples of this.
    stride: usize,
    /// Starts and receivers tried.
    tried: Cell<u64>,
}

/// A node that may receive a run.
struct Receiver<const R: usize> {
    node: usize,
    /// Its remaining room.
    room: [f64; R],
    over: f64,
    /// The giver's load minus this node's.
    below: [f64; R],
}

/// A run, and its value for the giver.
struct Candidate<const R: usize> {
    run: Run,
    load: [f64; R],
    /// How much closer the giver gets to its targets.
    gain: f64,
    /// Price of bytes and slots, without the range.
    price: f64,
    /// On how many sides neighbouring slots have left this node: the run may then extend an existing range.
    sides: u8,
}

impl<'s, 'a, const R: usize> Search<'s, 'a, R> {
    fn new(state: &'s PlanState<'a>, prices: Prices, node: usize, receivers: Vec<usize>) -> Self {
        let shares = state.shares;
        let receiver = |to: usize| {
            let room = difference(state.targets(to), state.loads(to));
            Receiver {
                node: to,
                room,
                over: room.iter().map(|room| above(-room)).sum(),
                below: difference(state.loads(node), state.loads(to)),
            }
        };
        let over: [f64; R] = difference(state.loads(node), state.targets(node));
        Search {
            shares,
            prices,
            node,
            need: over.map(|over| over.max(0.0)),
            receivers: receivers.into_iter().map(receiver).collect(),
            stride: (state.held(node).len() / STARTS).max(1),
            tried: Cell::new(0),
            state,
        }
    }

    /// The best steps, and the work of finding them.
    fn best(&self) -> (Best, u64) {
        let mut best = Best(Vec::new());
        self.giants(&mut best);
        for run in runs(self.state, self.node) {
            if self.state.owner[run.first] == self.state.home(run.first) {
                self.windows(run, &mut best);
            } else {
                self.moved(run, &mut best);
            }
        }
        let scanned = self.state.held(self.node).len() as u64 / SCANNED;
        (best, scanned + self.tried.get())
    }

    /// Whether windows start at this slot. On a node with many slots: every `stride`-th, and slots heavy for their
    /// price.
    #[inline]
    fn is_start(&self, slot: usize) -> bool {
        let is_heavy = |ranks: &Vec<u16>| usize::from(ranks[slot]) < HEAVIEST;
        slot.is_multiple_of(self.stride) || self.shares.ranks().iter().any(is_heavy)
    }

    fn giants(&self, best: &mut Best) {
        let giants = self.shares.giants.iter().map(|slot| usize::from(*slot));
        let on_node = giants.filter(|slot| usize::from(self.state.owner[*slot]) == self.node);
        for slot in on_node.filter(|slot| !self.shares.is_fixed(*slot)) {
            let run = Run::single(slot);
            for to in self.receivers.iter().map(|receiver| receiver.node) {
                let gain = self.state.gain_of_single(slot, to);
                if gain > LEAST_GAIN && self.state.allows(run, to) {
                    let price = self.prices.of_step(self.state, run, to);
                    rank(gain, price, run, to, best);
                }
            }
        }
    }

    /// Tries a slot that has moved before.
    fn moved(&self, run: Run, best: &mut Best) {
        let candidate = self.candidate(run, run);
        for to in &self.receivers {
            if let Some(worth) = self.worth(&candidate, to)
                && self.state.allows(run, to.node)
            {
                let price = self.prices.of_step(self.state, run, to.node);
                rank(worth, price, run, to.node, best);
            }
        }
    }

    /// Tries the windows of a run of unmoved slots.
    fn windows(&self, run: Run, best: &mut Best) {
        let leaves = self.shares.leaves(self.node);
        let mut covers = [run.first; R];
        let mut fits = vec![run.first; self.receivers.len()];
        for first in run.first..run.end {
            let before = self.before(first);
            let load: [f64; R] = difference(self.before(first + 1), before);
            let mut helps = self.need.iter().zip(&load);
            let is_help = leaves || helps.any(|(need, load)| *need > 0.0 && *load > 0.0);
            if !is_help || !self.is_start(first) {
                continue;
            }
            self.tried
                .set(self.tried.get() + self.receivers.len() as u64);
            let (mut least, mut most) = (run.end, first + 1);
            for role in (0..R).filter(|role| self.need[*role] > 0.0) {
                let end = &mut covers[role];
                *end = (*end).max(first + 1);
                while *end < run.end && self.before(*end)[role] - before[role] < self.need[role] {
                    *end += 1;
                }
                (least, most) = (least.min(*end), most.max(*end));
            }
            let allowed = self.state.last_end_within_limits(first, run.end);
            if allowed <= first {
                continue;
            }
            let [shortest, least, most] = [first + 1, least, most].map(|end| end.min(allowed));
            let window = |end: usize| self.candidate(Run { first, end }, run);
            self.give_to_each(&window(shortest), best);
            if least > shortest {
                self.give_to_each(&window(least), best);
            }
            if most > least {
                self.give_to_each(&window(most), best);
            }
            // Ends that fill a receiver.
            let last = if leaves { run.end.min(allowed) } else { most };
            for (to, fits) in self.receivers.iter().zip(&mut fits) {
                if to.has_room(before, self.before(last)) {
                    if last > most {
                        self.give(&window(last), to, best);
                    }
                    continue;
                }
                *fits = (*fits).max(first + 1);
                while *fits < last && to.has_room(before, self.before(*fits + 1)) {
                    *fits += 1;
                }
                if *fits > shortest && *fits != least && *fits != most {
                    self.give(&window(*fits), to, best);
                }
            }
        }
    }

    /// The loads of the slots before `slot`.
    #[inline]
    fn before(&self, slot: usize) -> &'a [f64; R] {
        self.shares.before(slot).first_chunk().unwrap_or(&[0.0; R])
    }

    fn give_to_each(&self, candidate: &Candidate<R>, best: &mut Best) {
        if self.may_beat(candidate, best) {
            for to in &self.receivers {
                self.give(candidate, to, best);
            }
        }
    }

    fn give(&self, candidate: &Candidate<R>, to: &Receiver<R>, best: &mut Best) {
        if self.may_beat(candidate, best)
            && let Some(worth) = self.worth(candidate, to)
        {
            let run = candidate.run;
            let mut ranges = 1.0;
            if candidate.sides > 0 {
                ranges -= f64::from(u8::from(
                    run.first > 0 && self.goes_to(run.first - 1, to.node),
                ));
                ranges -= f64::from(u8::from(self.goes_to(run.end, to.node)));
            }
            let price = candidate.price + self.prices.range * ranges;
            rank(worth, price, run, to.node, best);
        }
    }

    /// Whether a slot already goes from this node to `to`.
    fn goes_to(&self, slot: usize, to: usize) -> bool {
        self.has_gone(slot) && usize::from(self.state.owner[slot]) == to
    }

    /// Whether a slot of this node goes to another.
    fn has_gone(&self, slot: usize) -> bool {
        slot < self.shares.slots
            && usize::from(self.state.home(slot)) == self.node
            && usize::from(self.state.owner[slot]) != self.node
    }

    /// Whether any receiver could do better with it than the best step so far.
    #[inline]
    fn may_beat(&self, candidate: &Candidate<R>, best: &Best) -> bool {
        let price = candidate.price + self.prices.range * (1.0 - f64::from(candidate.sides));
        candidate.gain > LEAST_GAIN
            && (price <= 0.0 || candidate.gain * (1.0 + 2.0 * LEVELLING) > best.least() * price)
    }

    #[inline]
    fn candidate(&self, run: Run, part_of: Run) -> Candidate<R> {
        let load = difference(self.before(run.end), self.before(run.first));
        let gains = self.need.iter().zip(&load);
        let gain = gains
            .map(|(need, load)| above(*need) - above(need - load))
            .sum();
        let is_first = run.first == part_of.first && run.first > 0;
        Candidate {
            gain,
            price: self.prices.of_run(self.shares, run),
            load,
            sides: u8::from(is_first && self.has_gone(run.first - 1))
                + u8::from(run.end == part_of.end && self.has_gone(run.end)),
            run,
        }
    }

    /// How much closer both nodes get to their targets, plus a little for getting closer to each other; `None` if they
    /// do not. The run must have no giant.
    #[inline]
    fn worth(&self, candidate: &Candidate<R>, to: &Receiver<R>) -> Option<f64> {
        let mut gain = candidate.gain + to.over;
        let mut nearer = 0.0;
        for role in 0..R {
            let load = candidate.load[role];
            gain -= above(load - to.room[role]);
            if role < self.shares.weighed() {
                nearer += 2.0 * load * (to.below[role] - load);
            }
        }
        (gain > LEAST_GAIN).then(|| gain + LEVELLING * nearer.clamp(-2.0 * gain, 2.0 * gain))
    }
}

impl<const R: usize> Receiver<R> {
    #[inline]
    fn has_room(&self, first: &[f64; R], end: &[f64; R]) -> bool {
        let mut has_room = true;
        for role in 0..R {
            has_room &= end[role] - first[role] <= self.room[role].max(0.0);
        }
        has_room
    }
}

#[inline]
fn difference<const R: usize>(end: &[f64], start: &[f64]) -> [f64; R] {
    std::array::from_fn(|role| end[role] - start[role])
}

/// The movable non-giant slots of a node: unmoved neighbours as one run, moved slots singly.
fn runs(state: &PlanState<'_>, node: usize) -> Vec<Run> {
    let shares = state.shares;
    let mut runs: Vec<Run> = Vec::new();
    let is_home = |slot: usize| usize::from(state.home(slot)) == node;
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

/// Records a step.
fn rank(worth: f64, price: f64, run: Run, to: usize, best: &mut Best) {
    let score = if price > 0.0 {
        worth / price
    } else {
        REFUND + worth
    };
    if score > 0.0 {
        best.offer(Step {
            score,
            gain: worth,
            run,
            to,
        });
    }
}
