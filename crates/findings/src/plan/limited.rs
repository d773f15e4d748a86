//! As much of a plan as limits let, best first: the lowest aims that are reached within the limits, then what still fits.

use crate::plan::aims::{Aims, leftovers};
use crate::plan::budget::Budget;
use crate::plan::greedy::solve;
use crate::plan::prices::Prices;
use crate::plan::state::PlanState;

/// The work of one attempt, in slots and pairs of slots.
const WORK: u64 = 8_000_000;
/// Halvings in the search for the lowest aims.
const HALVINGS: usize = 12;

/// The plan that keeps to the limits of the problem.
pub(super) fn within_limits<'a>(before: &PlanState<'a>, aims: &Aims) -> PlanState<'a> {
    let prices = Prices::new(before);
    let heights = (0..aims.raised.len()).map(|goal| aims.height(before, goal) / aims.raised[goal]);
    let highest = heights.fold(1.0, f64::max);
    let attempt = |factor: f64| {
        let mut state = before.clone();
        state.set_aims(&scaled(&aims.raised, factor), &aims.raised);
        solve(&mut state, prices, aims.level.as_deref(), &mut budget());
        state
    };
    let mut found = attempt(highest);
    if !is_within(&found) {
        return emptied_in_part(before, aims, prices);
    }
    let (mut low, mut high) = (1.0, highest);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let tried = attempt(middle);
        if is_within(&tried) {
            (high, found) = (middle, tried);
        } else {
            low = middle;
        }
    }
    found.limits = before.shares.problem.limits;
    found.set_aims(&aims.raised, &aims.raised);
    solve(&mut found, prices, None, &mut budget());
    found
}

/// Nodes that leave give what the limits let them, to all that stay: the fullest of those is as low as it can be then.
fn emptied_in_part<'a>(before: &PlanState<'a>, aims: &Aims, prices: Prices) -> PlanState<'a> {
    let attempt = |factor: f64| {
        let mut state = before.clone();
        state.limits = before.shares.problem.limits;
        state.set_aims(&aims.raised, &aims.raised);
        solve(
            &mut state,
            prices,
            Some(&scaled(&aims.raised, factor)),
            &mut budget(),
        );
        state
    };
    let mut found = attempt(1.0);
    let height = |state: &PlanState<'_>| -> f64 {
        let goals = 0..aims.raised.len();
        goals.map(|goal| aims.height(state, goal)).sum()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let tried = attempt(middle);
        if leftovers(&tried) <= leftovers(&found) && height(&tried) <= height(&found) {
            (high, found) = (middle, tried);
        } else {
            low = middle;
        }
    }
    found
}

fn budget() -> Budget {
    Budget::new(WORK)
}

fn scaled(aims: &[f64], factor: f64) -> Vec<f64> {
    aims.iter().map(|aim| aim * factor).collect()
}

fn is_within(state: &PlanState<'_>) -> bool {
    let limits = state.shares.problem.limits;
    let (slots, bytes) = state.moved();
    limits.slots.is_none_or(|most| slots <= most)
        && limits.bytes.is_none_or(|most| bytes <= u128::from(most))
}

/// Whether the limits of the problem keep a plan from being carried out as a whole.
pub(super) fn exceeds_limits(state: &PlanState<'_>) -> bool {
    !is_within(state)
}
