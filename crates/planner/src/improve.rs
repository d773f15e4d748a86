//! Ruin and recreate: undo all moves from or to one node and solve again, also at other prices. Keeps results that are
//! cheaper and no worse.

use std::collections::BTreeMap;

use crate::budget::Budget;
use crate::greedy::solve;
use crate::prices::Prices;
use crate::state::{NEAR, PlanState, Run};

/// Attempts per plan.
const TRIES: usize = 40;
/// Rounds over all nodes.
const ROUNDS: usize = 3;
/// A plan cheaper by less than this fraction is not worth it: tomorrow's loads would flip it back.
const CHEAPER: f64 = 0.01;
/// Stop once the price is within this factor of the lower bound.
const GOOD: f64 = 1.05;
/// Factors on the price of ranges and slots in an attempt.
const FACTORS: [f64; 3] = [1.0, 4.0, 0.25];

/// The moves that are undone: all from one node, or all to one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ruined {
    From(usize),
    To(usize),
}

impl Ruined {
    fn has(self, state: &PlanState<'_>, run: Run) -> bool {
        match self {
            Ruined::From(node) => usize::from(state.home(run.first)) == node,
            Ruined::To(node) => usize::from(state.owner[run.first]) == node,
        }
    }
}

/// Makes a plan cheaper, within the budget.
pub(crate) fn improve(
    state: &mut PlanState<'_>,
    prices: Prices,
    level: Option<&[f64]>,
    budget: &mut Budget,
) {
    let mut price = prices.of_plan(state);
    let mut over = state.total_over();
    let mut left = TRIES;
    let least = prices.least;
    for _ in 0..ROUNDS {
        let mut any = false;
        for ruined in dearest(state, prices) {
            for factor in FACTORS {
                if left == 0 || budget.is_spent() || price <= GOOD * least {
                    return;
                }
                left -= 1;
                let mark = state.mark();
                for run in state.moved_runs() {
                    if ruined.has(state, run) {
                        state.give(run, usize::from(state.home(run.first)));
                    }
                }
                solve(state, prices.scaled(factor), level, budget);
                let (price_then, over_then) = (prices.of_plan(state), state.total_over());
                let is_better = over_then < over - 1e-7
                    || over_then <= over + NEAR && price_then < price * (1.0 - CHEAPER);
                if is_better {
                    (price, over, any) = (price_then, over_then, true);
                } else {
                    state.undo(mark);
                }
            }
        }
        if !any {
            return;
        }
    }
}

/// Nodes that give or receive, most expensive first.
fn dearest(state: &PlanState<'_>, prices: Prices) -> Vec<Ruined> {
    let mut costs: BTreeMap<Ruined, f64> = BTreeMap::new();
    for run in state.moved_runs() {
        let price = prices.of_run(state.shares, run) + prices.range;
        let home = usize::from(state.home(run.first));
        let owner = usize::from(state.owner[run.first]);
        for ruined in [Ruined::From(home), Ruined::To(owner)] {
            *costs.entry(ruined).or_insert(0.0) += price;
        }
    }
    let mut ordered: Vec<(Ruined, f64)> = costs.into_iter().collect();
    ordered.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ordered.into_iter().map(|(ruined, _)| ruined).collect()
}
