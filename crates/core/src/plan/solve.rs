//! The planner: new owners for slots, so that the fullest node comes to the lower bound or near it.
//!
//! A plan is made against a bound on the fullest node. What overflows it moves, everything else stays: heavy slots
//! first (`place_heavy`), then runs of light ones (`move_ranges`), then single slots and swaps for what is left
//! (`refine`). In the end slots change places where that evens out another load (`others`).

use crate::plan::lower_bound::LowerBound;
use crate::plan::problem::Problem;
use crate::plan::state::PlanState;
use crate::plan::{move_ranges, others, place_heavy, refine};

/// Halvings in the search for the lowest bound that limits allow: 2^-30 of a fair share is less than any slot.
const HALVINGS: usize = 30;

/// Who owns what when the plan is carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// The least that the fullest node can come to.
    pub floor: LowerBound,
    /// The fullest node that stays, in fair shares by capacity.
    pub over_fair: f64,
    /// Whether more would move if the limits let it.
    pub limited: bool,
}

/// The plan that brings the fullest node to the floor, or as near to it as tolerance and limits have it, and moves
/// little on the way.
pub fn plan(problem: &Problem<'_>) -> Assignment {
    let floor = LowerBound::of(problem);
    let fair = problem.fair();
    let before = PlanState::new(problem, &fair);
    let least = bound_for(floor.over_fair, problem.tolerance);
    let whole = attempt(&before, least);
    let limited = whole.refused;
    let chosen = if limited {
        within_limits(&before, least)
    } else {
        whole
    };
    // Where not even the best that is found helps, nothing moves.
    let helps = before.holds_leftovers() || chosen.fullest() < before.fullest();
    let chosen = match helps {
        true => with_others_even(chosen),
        false => before,
    };
    Assignment {
        over_fair: chosen.fullest(),
        owner: chosen.owner,
        floor,
        limited,
    }
}

fn with_others_even(mut chosen: PlanState<'_>) -> PlanState<'_> {
    others::even_out(&mut chosen);
    chosen
}

/// What the fullest node may come to: so much above its fair share, or above a floor that is beyond that.
fn bound_for(floor: f64, tolerance: f64) -> f64 {
    let above_fair = 1.0 + tolerance;
    if floor > above_fair {
        floor * above_fair
    } else {
        above_fair
    }
}

/// Moves what overflows `bound` fair shares.
fn attempt<'a>(before: &PlanState<'a>, bound: f64) -> PlanState<'a> {
    let mut state = before.clone();
    state.set_bound(bound);
    place_heavy::place(&mut state);
    if bound > 1.0 + before.problem().tolerance {
        // One node is fuller than the others can ever be: those share what it sheds.
        let overflow = overflow(&state);
        let level = level_for(&state, overflow, bound);
        state.set_level(level * (1.0 + before.problem().tolerance));
        move_ranges::shed(&mut state);
        state.set_level(bound);
    }
    move_ranges::shed(&mut state);
    refine::level(&mut state);
    state
}

/// What is to leave nodes: all of those that go, and what others hold beyond the bound.
fn overflow(state: &PlanState<'_>) -> u64 {
    let of = |node: usize| match state.leaves(node) {
        true => state.load[node],
        false => state.excess(node),
    };
    state.nodes().map(of).sum()
}

/// The lowest level, up to `most`, at which the nodes that stay have room for so much.
fn level_for(state: &PlanState<'_>, load: u64, most: f64) -> f64 {
    let mut state = state.clone();
    let (mut low, mut high) = (0.0, most);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        state.set_level(middle);
        let room: u64 = state.staying().map(|node| state.room(node)).sum();
        if room < load {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The lowest bound, not below `least`, that is reached without a move being refused. Where even emptying the nodes
/// that go takes more than the limits, they are emptied in part.
fn within_limits<'a>(before: &PlanState<'a>, least: f64) -> PlanState<'a> {
    let (mut low, mut high) = (least, before.fullest().max(least));
    let mut found = attempt(before, high);
    if found.refused {
        return spread(before, found);
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        let tried = attempt(before, middle);
        if tried.refused {
            low = middle;
        } else {
            (high, found) = (middle, tried);
        }
    }
    found
}

/// What moves in `filled`, where limits end it, spread over all nodes that stay: as far as it comes, they are level.
fn spread<'a>(before: &PlanState<'a>, filled: PlanState<'a>) -> PlanState<'a> {
    let gained = |node: usize| filled.load[node].saturating_sub(before.load[node]);
    let moved: u64 = before.staying().map(gained).sum();
    let mut bounded = before.clone();
    bounded.set_bound(filled.fullest());
    let spread = attempt(before, level_for(&bounded, moved, filled.fullest()));
    let left = |state: &PlanState<'_>| -> u64 {
        let leaving = state.nodes().filter(|node| state.leaves(*node));
        leaving.map(|node| state.load[node]).sum()
    };
    if spread.fullest() < filled.fullest() && left(&spread) <= left(&filled) {
        spread
    } else {
        filled
    }
}
