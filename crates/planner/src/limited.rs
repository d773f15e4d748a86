//! The best partial plan under limits on what moves: each step is the best that fits, starting at the fullest node.

use crate::aims::{Aims, leftovers};
use crate::budget::Budget;
use crate::greedy::solve;
use crate::prices::Prices;
use crate::state::PlanState;

/// Work of the plan, in slots and pairs of slots.
const WORK: u64 = 3_000_000;

/// The plan that keeps to the limits of the problem.
pub(crate) fn within_limits<'a>(before: &PlanState<'a>, aims: &Aims) -> PlanState<'a> {
    let mut limited = before.clone();
    limited.limits = before.shares.request.limits;
    limited.set_bounds(&aims.bounds(&aims.aims));
    let prices = Prices::new(&limited);
    let level = if leftovers(before) > 0 {
        Some(level_of_part(before, aims))
    } else {
        aims.level.clone()
    };
    let budget = &mut Budget::new(WORK);
    solve(&mut limited, prices, level.as_deref(), budget);
    limited
}

/// The level of each role on the staying nodes, scaled to what may move; without it the first role would use up the
/// limit.
fn level_of_part(before: &PlanState<'_>, aims: &Aims) -> Vec<f64> {
    let (shares, limits) = (before.shares, before.shares.request.limits);
    let leaving: usize = leftovers(before);
    let part = limits
        .slots
        .map_or(1.0, |most| most as f64 / leaving as f64);
    let load = |role: usize, leaves: bool| -> f64 {
        let nodes = (0..shares.nodes).filter(|node| shares.leaves(*node) == leaves);
        nodes.map(|node| before.loads(node)[role]).sum()
    };
    let of_role = |role: usize| {
        let (stays, leaves) = (load(role, false), load(role, true));
        (stays + part.min(1.0) * leaves) / (stays + leaves)
    };
    (0..aims.aims.len()).map(of_role).collect()
}

/// Whether the limits of the problem keep a plan from being carried out as a whole.
pub(crate) fn exceeds_limits(state: &PlanState<'_>) -> bool {
    let limits = state.shares.request.limits;
    let (slots, bytes) = state.moved();
    limits.slots.is_some_and(|most| slots > most)
        || limits.bytes.is_some_and(|most| bytes > u128::from(most))
}
