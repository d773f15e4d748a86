//! Greedy steps from the fullest node until every node is at its targets or nothing helps; then unneeded moves are
//! given back.

use crate::budget::Budget;
use crate::prices::Prices;
use crate::shed::shed;
use crate::state::{NEAR, PlanState, Run};

/// Steps that move runs: per node, and overall.
const STEPS: (usize, usize) = (6, 4000);
/// How often the pace is checked, in slots.
const LOOK: u64 = 50_000;
/// By which factor the pace may still improve.
const HOPE: f64 = 3.0;
const PASSES: usize = 3;

/// Brings all nodes to their targets, or as close as it finds; `level` is the first level that nodes are filled to.
pub(crate) fn solve(
    state: &mut PlanState<'_>,
    prices: Prices,
    level: Option<&[f64]>,
    budget: &mut Budget,
) {
    if level.is_some() {
        state.set_level(level);
        shed_all(state, prices, budget);
        state.set_level(None);
    }
    shed_all(state, prices, budget);
    give_back(state, prices);
}

/// Steps out of the fullest node that a step still helps, until none is left.
fn shed_all(state: &mut PlanState<'_>, prices: Prices, budget: &mut Budget) {
    let nodes = state.shares.nodes;
    let mut stuck = vec![false; nodes];
    let mut pace = (budget.spent, state.total_over());
    for _ in 0..STEPS.0 * nodes + STEPS.1 {
        if budget.is_spent() || is_hopeless(state, budget, &mut pace) {
            return;
        }
        let Some(node) = fullest(state, &stuck) else {
            return;
        };
        stuck[node] = !shed(state, prices, node, budget);
    }
}

/// Whether, at the pace since the last check, the budget runs out long before all nodes reach their targets.
fn is_hopeless(state: &PlanState<'_>, budget: &Budget, pace: &mut (u64, f64)) -> bool {
    let worked = budget.spent - pace.0;
    if worked < LOOK {
        return false;
    }
    let over = state.total_over();
    let gained = pace.1 - over;
    *pace = (budget.spent, over);
    let left = budget.most.saturating_sub(budget.spent) as f64;
    HOPE * gained * left < over * worked as f64
}

/// The node furthest above its targets that is not stuck; the first of equals.
fn fullest(state: &PlanState<'_>, stuck: &[bool]) -> Option<usize> {
    let mut fullest = None;
    let mut most = NEAR;
    for node in (0..stuck.len()).filter(|node| !stuck[*node]) {
        let over = state.over(node);
        if over > most {
            (most, fullest) = (over, Some(node));
        }
    }
    fullest
}

/// Gives back what owners can hold after all, the shortest runs first: a run, or the dearer of its longest prefix and
/// suffix that fit.
pub(crate) fn give_back(state: &mut PlanState<'_>, prices: Prices) {
    for _ in 0..PASSES {
        let mut runs = state.moved_runs();
        runs.sort_by_key(|run| (run.len(), run.first));
        let mut any = false;
        for run in runs {
            any |= give_back_run(state, prices, run);
        }
        if !any {
            return;
        }
    }
}

fn give_back_run(state: &mut PlanState<'_>, prices: Prices, run: Run) -> bool {
    let shares = state.shares;
    let home = usize::from(state.home(run.first));
    let loads = state.targets(home).iter().zip(state.loads(home));
    let room: Vec<f64> = loads.map(|(target, load)| target - load).collect();
    if shares.leaves(home) || room.iter().any(|room| *room < 0.0) {
        return false;
    }
    if shares.is_giant[run.first..run.end].contains(&true) {
        let fits = |gain: f64| gain >= -1e-12;
        let is_free = run.len() == 1 && fits(state.gain_of_single(run.first, home));
        if is_free {
            state.give(run, home);
        }
        return is_free;
    }
    let fits = |first: usize, end: usize| {
        let loads = shares.before(end).iter().zip(shares.before(first));
        loads
            .zip(&room)
            .all(|((end, first), room)| end - first <= *room)
    };
    let end = (run.first..run.end)
        .take_while(|end| fits(run.first, end + 1))
        .count()
        + run.first;
    let first = run.end
        - (run.first..run.end)
            .rev()
            .take_while(|first| fits(*first, run.end))
            .count();
    let prefix = Run {
        first: run.first,
        end,
    };
    let suffix = Run {
        first,
        end: run.end,
    };
    let given = if prices.of_run(shares, prefix) >= prices.of_run(shares, suffix) {
        prefix
    } else {
        suffix
    };
    if given.len() > 0 {
        state.give(given, home);
    }
    given.len() > 0
}
