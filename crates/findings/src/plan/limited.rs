//! As much of a plan as limits let, best first: the lowest aims that are reached within the limits, then what still fits.

use crate::plan::aims::{Aims, leftovers};
use crate::plan::budget::Budget;
use crate::plan::greedy::solve;
use crate::plan::prices::Prices;
use crate::plan::state::PlanState;

/// The work of one attempt, in slots and pairs of slots.
const WORK: u64 = 3_000_000;
/// Halvings in the search for the lowest aims.
const HALVINGS: usize = 12;

/// The plan that keeps to the limits of the problem.
pub(super) fn within_limits<'a>(before: &PlanState<'a>, aims: &Aims) -> PlanState<'a> {
    let mut first = before.clone();
    first.set_bounds(&aims.bounds(&aims.aims));
    let prices = Prices::new(&first);
    let heights = (0..aims.aims.len()).map(|role| height(aims, before, role));
    let highest = heights.fold(1.0, f64::max);
    let attempt = |factor: f64| {
        let mut state = before.clone();
        state.set_bounds(&aims.bounds(&scaled(&aims.aims, factor)));
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
    found.limits = before.shares.request.limits;
    found.set_bounds(&aims.bounds(&aims.aims));
    solve(&mut found, prices, None, &mut budget());
    found
}

/// Nodes that leave give what the limits let them, to all that stay: the fullest of those is as low as it can be then.
fn emptied_in_part<'a>(before: &PlanState<'a>, aims: &Aims, prices: Prices) -> PlanState<'a> {
    let attempt = |factor: f64| {
        let mut state = before.clone();
        state.limits = before.shares.request.limits;
        state.set_bounds(&aims.bounds(&aims.aims));
        solve(
            &mut state,
            prices,
            Some(&scaled(&aims.aims, factor)),
            &mut budget(),
        );
        state
    };
    let mut found = attempt(1.0);
    let sum = |state: &PlanState<'_>| -> f64 {
        let roles = 0..aims.aims.len();
        roles.map(|role| height(aims, state, role)).sum()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let tried = attempt(middle);
        if leftovers(&tried) <= leftovers(&found) && sum(&tried) <= sum(&found) {
            (high, found) = (middle, tried);
        } else {
            low = middle;
        }
    }
    found
}

/// The fullest node of a role, in what it is to hold.
fn height(aims: &Aims, state: &PlanState<'_>, role: usize) -> f64 {
    aims.height(state, role, aims.aims[role])
}

fn budget() -> Budget {
    Budget::new(WORK)
}

fn scaled(aims: &[f64], factor: f64) -> Vec<f64> {
    aims.iter().map(|aim| aim * factor).collect()
}

fn is_within(state: &PlanState<'_>) -> bool {
    let limits = state.shares.request.limits;
    let (slots, bytes) = state.moved();
    limits.slots.is_none_or(|most| slots <= most)
        && limits.bytes.is_none_or(|most| bytes <= u128::from(most))
}

/// Whether the limits of the problem keep a plan from being carried out as a whole.
pub(super) fn exceeds_limits(state: &PlanState<'_>) -> bool {
    !is_within(state)
}
