//! Steps for nodes that moving a single run cannot help: swap two slots, or move a giant and let its receiver shed.

use crate::budget::Budget;
use crate::prices::Prices;
use crate::receivers::receivers;
use crate::shed::shed;
use crate::state::{NEAR, PlanState, Run, above};

/// Slots tried per node: the first of each order, plus as many spread evenly over it.
const SLOTS: usize = 64;
/// Receivers tried per kind.
const RECEIVERS: usize = 6;
/// Receivers tried for a giant; each needs its own search.
const GIANT_RECEIVERS: usize = 4;
/// Pairs swapped before looking at others.
const AT_ONCE: usize = 16;
/// Steps a giant's receiver may take to make room.
const REPAIRS: usize = 12;
/// This many pairs cost as much as one slot.
const PAIRS: u64 = 4;
/// Steps with a smaller gain are skipped.
const LEAST_GAIN: f64 = 1e-7;

/// Lets slots of `node` change places with slots elsewhere: of all pairs that are looked at the best, and others that still
/// gain after it; how many.
pub(crate) fn pairs(
    state: &mut PlanState<'_>,
    prices: Prices,
    node: usize,
    budget: &mut Budget,
) -> usize {
    let mine = picked(state, node);
    let mut exchanges: Vec<(f64, usize, usize, usize)> = Vec::new();
    for to in receivers(state, node, RECEIVERS) {
        let theirs = picked(state, to);
        budget.spent += (state.held(node).len() + state.held(to).len()) as u64
            + (mine.len() * theirs.len()) as u64 / PAIRS;
        let over = state.over(node) + state.over(to);
        for slot in &mine {
            for back in &theirs {
                let gain = over - over_after(state, (node, *slot), (to, *back));
                if gain > LEAST_GAIN {
                    let price =
                        price_of(state, prices, *slot, to) + price_of(state, prices, *back, node);
                    let score = gain / (price + 2.0 * prices.range).max(1e-9);
                    exchanges.push((score, *slot, *back, to));
                }
            }
        }
    }
    exchanges.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut count = 0;
    for (_, slot, back, to) in exchanges {
        let owns = |node: usize, slot: usize| usize::from(state.owner[slot]) == node;
        if count == AT_ONCE || !owns(node, slot) || !owns(to, back) {
            continue;
        }
        let gain = state.over(node) + state.over(to) - over_after(state, (node, slot), (to, back));
        let given = [(Run::single(slot), to), (Run::single(back), node)];
        if gain > LEAST_GAIN && state.allows_all(&given) {
            state.give(Run::single(slot), to);
            state.give(Run::single(back), node);
            count += 1;
        }
    }
    count
}

/// The excess of two nodes over their targets after swapping one slot each.
fn over_after(
    state: &PlanState<'_>,
    (node, slot): (usize, usize),
    (to, back): (usize, usize),
) -> f64 {
    let shares = state.shares;
    let mut over = 0.0;
    for role in 0..shares.roles {
        let load = shares.load(slot, role) - shares.load(back, role);
        let left = state.loads(node)[role] - load;
        let there = state.loads(to)[role] + load;
        over += above(left - state.targets(node)[role]) + above(there - state.targets(to)[role]);
    }
    over
}

/// The bytes and slot price that a step adds to the plan, or refunds.
fn price_of(state: &PlanState<'_>, prices: Prices, slot: usize, to: usize) -> f64 {
    let home = usize::from(state.home(slot));
    let price = prices.of_run(state.shares, Run::single(slot));
    let due = if to == home { 0.0 } else { price };
    let spent = if usize::from(state.owner[slot]) == home {
        0.0
    } else {
        price
    };
    due - spent
}

/// Movable non-giant slots of a node: the first of each order, and others at even intervals.
fn picked(state: &PlanState<'_>, node: usize) -> Vec<usize> {
    let shares = state.shares;
    let slots = state.held(node).iter().map(|slot| usize::from(*slot));
    let mut movable: Vec<usize> = slots
        .filter(|slot| !shares.is_fixed(*slot) && !shares.is_giant[*slot])
        .collect();
    if movable.len() <= SLOTS {
        return movable;
    }
    let most = SLOTS / shares.ranks().len();
    let first = (most / 2).max(1);
    let mut picked = Vec::with_capacity(SLOTS);
    for ranks in shares.ranks() {
        movable.select_nth_unstable_by_key(first, |slot| ranks[*slot]);
        picked.extend_from_slice(&movable[..first]);
        let rest = &movable[first..];
        let every = rest.len().div_ceil((most - first).max(1)).max(1);
        picked.extend(rest.iter().step_by(every));
    }
    picked.sort_unstable();
    picked.dedup();
    picked
}

/// Gives a giant of `node` to another node, which then sheds; false where that helps in no case.
pub(crate) fn giant(
    state: &mut PlanState<'_>,
    prices: Prices,
    node: usize,
    budget: &mut Budget,
) -> bool {
    let slots = state.shares.giants.iter().map(|slot| usize::from(*slot));
    let giants: Vec<usize> = slots
        .filter(|slot| usize::from(state.owner[*slot]) == node && !state.shares.is_fixed(*slot))
        .collect();
    let before = state.total_over();
    let mut best: Option<(f64, usize, usize)> = None;
    for slot in giants {
        for to in receivers(state, node, GIANT_RECEIVERS) {
            if budget.is_spent() {
                break;
            }
            let mark = state.mark();
            if give_giant(state, prices, slot, to, budget) {
                let gain = before - state.total_over();
                if gain > best.map_or(LEAST_GAIN, |(most, ..)| most) {
                    best = Some((gain, slot, to));
                }
            }
            state.undo(mark);
        }
    }
    best.is_some_and(|(_, slot, to)| give_giant(state, prices, slot, to, budget))
}

/// Moves a giant and lets its receiver shed; false if the plan's limits forbid it.
fn give_giant(
    state: &mut PlanState<'_>,
    prices: Prices,
    slot: usize,
    to: usize,
    budget: &mut Budget,
) -> bool {
    let run = Run::single(slot);
    if !state.allows(run, to) {
        return false;
    }
    state.give(run, to);
    for _ in 0..REPAIRS {
        if state.over(to) <= NEAR || !shed(state, prices, to, budget) {
            break;
        }
    }
    true
}
