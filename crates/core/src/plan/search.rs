//! One plan for a problem without limits: solve for the aims, and where they are not met, for higher ones. Of all that was
//! found the best is kept, so that a node that stays over by itself does not let its neighbours off.

use std::cmp::Ordering;

use crate::plan::aims::{Aims, GATE, excess, leftovers};
use crate::plan::budget::Budget;
use crate::plan::greedy::solve;
use crate::plan::improve::improve;
use crate::plan::prices::Prices;
use crate::plan::state::{NEAR, PlanState};

/// What exchanges and improvements of one plan may look at, in slots and pairs of slots.
const WORK: u64 = 16_000_000;
/// The same for improvements alone.
const IMPROVEMENT: u64 = 6_000_000;
/// Targets are raised by 1%, 2%, 4% and so on as often as this.
const RAISES: usize = 7;
/// Halvings between the last target that was missed and the first that was met.
const HALVINGS: usize = 3;
/// Targets this close to each other are the same.
const CLOSE: f64 = 1.005;
/// Of two plans the one that is over its targets by less of these steps is better, whatever it costs: first goal by goal,
/// then all goals together.
const TIER: f64 = GATE - 1.0;
const STEP: f64 = 0.005;
/// Less over all targets than this is none.
const MET: f64 = 1e-6;

/// The best plan that is found; nothing moves where none is asked for.
pub(super) fn search<'a>(before: &PlanState<'a>, aims: &Aims) -> PlanState<'a> {
    let mut search = Search {
        before,
        aims,
        prices: Prices::new(before),
        best: None,
        budget: Budget {
            spent: 0,
            most: WORK,
        },
    };
    search.run();
    let Some((_, mut best)) = search.best else {
        return before.clone();
    };
    search.budget.most = WORK.min(search.budget.spent + IMPROVEMENT);
    improve(
        &mut best,
        search.prices,
        aims.level.as_deref(),
        &mut search.budget,
    );
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

impl Search<'_, '_> {
    fn run(&mut self) {
        let aims = self.aims.raised.clone();
        if self.aims.may_meet_their_own() {
            if self.is_met(&self.aims.own.clone()) {
                return;
            }
            // Near to what is proven a few percents cost many times the ranges.
            self.best = None;
        }
        if self.is_met(&aims) {
            return;
        }
        let goals = aims.len();
        // One goal after the other, those after it left open.
        let mut settled = vec![f64::INFINITY; goals];
        for goal in 0..goals {
            settled[goal] = aims[goal];
            let is_last = goal + 1 == goals;
            let was_tried = is_last && settled[..goal] == aims[..goal];
            if was_tried || !self.is_met(&settled) {
                self.raise(&mut settled, goal);
            }
        }
    }

    /// Raises the aim of a goal until it is met, and lowers it again as far as it is.
    fn raise(&mut self, settled: &mut [f64], goal: usize) {
        let aim = settled[goal];
        let mut low = aim;
        let mut high = None;
        for raise in 0..RAISES {
            settled[goal] = aim * (1.0 + 0.01 * f64::from(1 << raise));
            if self.is_met(settled) {
                high = Some(settled[goal]);
                break;
            }
            low = settled[goal];
        }
        let Some(mut high) = high else {
            // The node that is over by itself is to let no other off.
            settled[goal] = self
                .best
                .as_ref()
                .map_or(aim, |(_, best)| best.aims()[goal].min(low));
            return;
        };
        for _ in 0..HALVINGS {
            if high / low <= CLOSE {
                break;
            }
            settled[goal] = (low + high) / 2.0;
            if self.is_met(settled) {
                high = settled[goal];
            } else {
                low = settled[goal];
            }
        }
        settled[goal] = high;
    }

    /// Solves for these aims; whether they are met. The best of all solutions is kept.
    fn is_met(&mut self, aims: &[f64]) -> bool {
        let mut state = self.before.clone();
        state.set_aims(aims);
        solve(
            &mut state,
            self.prices,
            self.aims.level.as_deref(),
            &mut self.budget,
        );
        let is_met = state.total_over() < MET;
        let rank = self.rank(&state);
        let is_better = |(best, _): &(Rank, PlanState<'_>)| rank.cmp(best).is_lt();
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some((rank, state));
        }
        is_met
    }

    fn rank(&self, state: &PlanState<'_>) -> Rank {
        let over = |goal: usize| {
            let nodes = state.shares.problem.staying();
            let over = nodes.map(|node| {
                let target = self.aims.own_target(state, node, goal);
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
