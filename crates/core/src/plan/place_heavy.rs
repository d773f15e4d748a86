//! Coarse slots, the heaviest first: each stays where it is while that keeps within the bound, else it goes where the
//! least is. Fine slots give way to them later.
//!
//! That is longest-processing-time-first with a home: of the n + 1 heaviest slots two share a node in any plan, so a
//! slot of more than half the floor finds a node without one, and a lighter one a node below its fair share. No node
//! ends above 1.5 times the floor, where all have the same capacity (Graham, SIAM J. Appl. Math. 17, 1969).

use std::cmp::Reverse;

use crate::plan::state::PlanState;

/// Places all coarse slots.
pub fn place(state: &mut PlanState<'_>) {
    let mut slots: Vec<(u16, usize)> = state
        .owned()
        .filter(|(slot, _)| state.is_coarse(*slot))
        .collect();
    // What cannot move is placed first.
    slots.sort_by_key(|(slot, _)| (!state.is_fixed(*slot), Reverse(state.load_of(*slot)), *slot));
    let mut firm = vec![0; state.load.len()];
    for (slot, home) in slots {
        let load = state.load_of(slot);
        let stays =
            state.is_fixed(slot) || firm[home] + load <= state.cap(home) && !state.leaves(home);
        let to = if stays {
            home
        } else {
            best(state, &firm, load)
        };
        let moved = to == home || state.give(slot, to);
        firm[if moved { to } else { home }] += load;
    }
}

/// The emptiest of the nodes that have room in addition to their own coarse slots; where none has, the one that comes to the
/// least.
fn best(state: &PlanState<'_>, firm: &[u64], load: u64) -> usize {
    let comes_to = |node: usize| {
        let fits = firm[node] + load <= state.cap(node);
        (
            !fits,
            state.share(
                node,
                load + if fits { state.load[node] } else { firm[node] },
            ),
        )
    };
    let order = |a: &(bool, f64), b: &(bool, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    let rated = state.staying().map(|node| (comes_to(node), node));
    rated
        .min_by(|a, b| order(&a.0, &b.0))
        .map_or(0, |(_, node)| node)
}
