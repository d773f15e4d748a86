//! One plan for a problem without limits: solve for the aims, and where they are not met, goal by goal, each from what
//! meets the goals before it, by smaller and smaller steps. The best result is kept, so that a node that
//! stays over by itself does not let its neighbours off.

use std::cmp::Ordering;

use crate::plan::aims::{Aims, GATE, excess, leftovers};
use crate::plan::budget::Budget;
use crate::plan::greedy;
use crate::plan::improve::improve;
use crate::plan::prices::Prices;
use crate::plan::state::{NEAR, PlanState};

/// The work of the search for one plan, in slots and pairs of slots.
const WORK: u64 = 48_000_000;
/// The same for one solution of it.
const SOLUTION: u64 = 8_000_000;
/// Once it has looked at as much, no solution is tried in two ways.
const SPARING: u64 = 16_000_000;
/// The same for improvements.
const IMPROVEMENT: u64 = 3_000_000;
/// Halvings between a target that was missed and the ratio that is met without it.
const HALVINGS: usize = 6;
/// Targets this close to each other are the same.
const CLOSE: f64 = 1.01;
/// Targets are raised up to this factor while none is met.
const FAR: f64 = 1.32;
/// A plan that is over its targets by fewer of these steps is better, whatever it costs: first goal by goal,
/// then all goals together.
const TIER: f64 = GATE - 1.0;
const STEP: f64 = 0.005;
/// Less over all targets than this is ignored.
const MET: f64 = 1e-6;

/// The best plan found; nothing moves if no moves are asked for.
pub(super) fn search<'a>(before: &PlanState<'a>, aims: &Aims) -> PlanState<'a> {
    let mut search = Search {
        before,
        aims,
        prices: Prices::new(before),
        best: None,
        budget: Budget::new(WORK),
    };
    search.run();
    let Some((_, mut best)) = search.best else {
        return before.clone();
    };
    let mut budget = Budget::new(IMPROVEMENT);
    improve(&mut best, search.prices, aims.level.as_deref(), &mut budget);
    best
}

struct Search<'s, 'a> {
    before: &'s PlanState<'a>,
    aims: &'s Aims,
    prices: Prices,
    best: Option<(Rank, PlanState<'a>)>,
    budget: Budget,
}

/// The lower, the better.
#[derive(Debug, Clone, PartialEq)]
struct Rank {
    leftovers: usize,
    exceeds_hard_limits: bool,
    /// How far each goal is above its target, in the steps in which a goal comes before those after it: a hair of the
    /// first is not worth a lot of the second.
    tiers: Vec<u64>,
    /// The same of all goals, in small steps.
    over: u64,
    price: f64,
}

impl Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        let key = |rank: &Rank| (rank.leftovers, rank.exceeds_hard_limits);
        let above = key(self)
            .cmp(&key(other))
            .then_with(|| self.tiers.cmp(&other.tiers))
            .then(self.over.cmp(&other.over));
        above.then(self.price.total_cmp(&other.price))
    }
}

impl<'a> Search<'_, 'a> {
    fn run(&mut self) {
        let aims = self.aims.raised.clone();
        if self.aims.may_meet_their_own() {
            if self.solve(self.before, &self.aims.own.clone()).is_some() {
                return;
            }
            // Near to the proven bound a few percents cost many times the ranges.
            self.best = None;
        }
        if self.solve_at(self.prices, self.before, &aims).is_some() {
            return;
        }
        self.solve_at(self.prices.sparing(), self.before, &aims);
        // One goal after the other, those after it left open. What meets the goals so far is where the next one begins.
        let mut settled = vec![f64::INFINITY; aims.len()];
        let mut met = self.solve(self.before, &settled);
        for goal in 0..aims.len() {
            settled[goal] = aims[goal];
            let from = met.as_ref().unwrap_or(self.before).clone();
            met = self
                .solve(&from, &settled)
                .or_else(|| self.raise(&mut settled, goal, met));
        }
    }

    /// Raises the aim of a goal as far as it is met, from what the goals before it leave.
    fn raise(
        &mut self,
        settled: &mut [f64],
        goal: usize,
        mut met: Option<PlanState<'a>>,
    ) -> Option<PlanState<'a>> {
        let mut low = settled[goal];
        let Some(before) = &met else {
            // The node that is over by itself is to let no other off.
            let best = self.best.as_ref();
            settled[goal] = best.map_or(low, |(_, best)| best.aims()[goal].min(FAR * low));
            return None;
        };
        let aim = low;
        let mut high = self.aims.height(before, goal).max(low);
        for _ in 0..HALVINGS {
            let is_close = high / low <= CLOSE;
            if high <= aim || is_close && low > aim || self.budget.is_spent() {
                break;
            }
            // A target out of reach from afar may be within reach from near by.
            settled[goal] = if is_close { aim } else { (low * high).sqrt() };
            let from = met.as_ref().unwrap_or(self.before).clone();
            match self.solve(&from, settled) {
                Some(found) => {
                    high = self.aims.height(&found, goal).clamp(aim, settled[goal]);
                    met = Some(found);
                }
                None if is_close => break,
                None => low = settled[goal],
            }
        }
        settled[goal] = high;
        met
    }

    /// Solves for these aims from some state on, where they are met: at the least price, else with as little of the room of
    /// the receivers as it takes. The best of all solutions is kept.
    fn solve(&mut self, from: &PlanState<'a>, aims: &[f64]) -> Option<PlanState<'a>> {
        let prices = self.prices;
        let met = self.solve_at(prices, from, aims);
        if met.is_some() || self.budget.spent > SPARING {
            return met;
        }
        self.solve_at(prices.sparing(), from, aims)
    }

    fn solve_at(
        &mut self,
        prices: Prices,
        from: &PlanState<'a>,
        aims: &[f64],
    ) -> Option<PlanState<'a>> {
        let mut state = from.settled();
        state.set_aims(aims, &self.aims.raised);
        let mut budget = self.budget.part(SOLUTION);
        greedy::solve(&mut state, prices, self.aims.level.as_deref(), &mut budget);
        self.budget.spent += budget.spent;
        let mut whole = self.before.clone();
        whole.set_aims(aims, &self.aims.raised);
        whole.carry_out(&state.owners());
        greedy::give_back(&mut whole, prices);
        let is_met = whole.total_over() < MET;
        let rank = self.rank(&whole);
        let is_better = |(best, _): &(Rank, PlanState<'_>)| rank.cmp(best).is_lt();
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some((rank, whole.clone()));
        }
        is_met.then_some(whole)
    }

    fn rank(&self, state: &PlanState<'_>) -> Rank {
        let over = |goal: usize| {
            let nodes = state.shares.problem.staying();
            let over = nodes.map(|node| {
                let target = self.aims.reachable(state, node, goal);
                (state.loads(node)[goal] - target) / state.shares.capacity(node, goal)
            });
            over.fold(0.0, f64::max)
        };
        let over: Vec<f64> = (0..state.shares.goals).map(over).collect();
        Rank {
            leftovers: leftovers(state),
            exceeds_hard_limits: excess(state) > NEAR,
            tiers: over.iter().map(|over| (over / TIER) as u64).collect(),
            over: (over.iter().sum::<f64>() / STEP - 1e-3).ceil().max(0.0) as u64,
            price: self.prices.of_plan(state),
        }
    }
}
