//! Greedy steps from the fullest node until every node is at its targets or nothing helps; then unneeded moves are
//! given back.

use crate::budget::Budget;
use crate::exchange;
use crate::prices::Prices;
use crate::shed::shed;
use crate::state::{NEAR, PlanState, Run};

/// Steps that move runs: per node, and overall.
const STEPS: (usize, usize) = (6, 4000);
/// Pair swaps, in addition to one per node.
const EXCHANGES: usize = 2000;
/// Giants moved.
const GIANTS: usize = 6;
/// Work of the swaps of one search, in slots and groups of four pairs.
const EXCHANGE_WORK: u64 = 700_000;
/// Swaps only remove the last of the overshoot: above this, in shares, too many would be needed.
const LAST: f64 = 1.0;
/// How often the pace is checked, in slots and groups of four pairs.
const LOOK: u64 = 50_000;
/// By which factor the pace may still improve.
const HOPE: f64 = 3.0;
/// After this many swaps, stuck nodes are retried.
const RETRIED: usize = 16;
const PASSES: usize = 3;

/// Brings all nodes to their targets, or as close as it finds; `level` is the first level that nodes are filled to.
pub(crate) fn solve(
    state: &mut PlanState<'_>,
    prices: Prices,
    level: Option<&[f64]>,
    budget: &mut Budget,
) {
    if let Some(level) = level {
        state.set_level(level);
        shed_all(state, prices, false, budget);
        state.drop_level();
    }
    shed_all(state, prices, true, budget);
    give_back(state, prices);
}

fn shed_all(state: &mut PlanState<'_>, prices: Prices, exchanges: bool, budget: &mut Budget) {
    let nodes = state.shares.nodes;
    let mut stuck = Stuck::new(nodes);
    let mut pace = (budget.spent, state.total_over());
    for _ in 0..STEPS.0 * nodes + STEPS.1 {
        if budget.is_spent() || is_hopeless(state, budget, &mut pace) {
            return;
        }
        if let Some(node) = stuck.fullest(state) {
            stuck.nodes[node] = !shed(state, prices, node, budget);
        } else if !exchanges || state.total_over() >= LAST || !stuck.exchange(state, prices, budget)
        {
            return;
        }
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

/// Nodes that no run helps, and the swaps left.
struct Stuck {
    nodes: Vec<bool>,
    /// Nodes that no swap helps either.
    hopeless: Vec<bool>,
    pairs: usize,
    giants: usize,
    since_retried: usize,
    /// Work spent on swaps.
    work: u64,
}

impl Stuck {
    fn new(nodes: usize) -> Self {
        Stuck {
            nodes: vec![false; nodes],
            hopeless: vec![false; nodes],
            pairs: EXCHANGES + nodes,
            giants: GIANTS,
            since_retried: 0,
            work: 0,
        }
    }

    /// The node furthest above its targets that is not stuck; the first of equals.
    fn fullest(&self, state: &PlanState<'_>) -> Option<usize> {
        let mut fullest = None;
        let mut most = NEAR;
        for node in (0..self.nodes.len()).filter(|node| !self.nodes[*node]) {
            let over = state.over(node);
            if over > most {
                (most, fullest) = (over, Some(node));
            }
        }
        fullest
    }

    /// Helps one node by a swap; false if no swap helps any node.
    fn exchange(&mut self, state: &mut PlanState<'_>, prices: Prices, budget: &mut Budget) -> bool {
        for node in 0..self.nodes.len() {
            if self.pairs == 0 || self.work >= EXCHANGE_WORK || budget.is_spent() {
                return false;
            }
            if self.hopeless[node] || state.over(node) <= NEAR {
                continue;
            }
            let before = budget.spent;
            let pairs = exchange::pairs(state, prices, node, budget);
            let is_helped = pairs > 0
                || self.giants > 0 && {
                    self.giants -= 1;
                    exchange::giant(state, prices, node, budget)
                };
            self.work += budget.spent - before;
            if !is_helped {
                self.hopeless[node] = true;
                continue;
            }
            self.pairs = self.pairs.saturating_sub(pairs.max(1));
            self.since_retried += 1;
            self.nodes[node] = false;
            if self.since_retried == RETRIED {
                self.nodes.fill(false);
                self.since_retried = 0;
            }
            return true;
        }
        false
    }
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
