//! What runs of slots could not level: single slots leave the fullest node for one of the emptiest, or change places
//! with one there, while that brings it down.

use crate::plan::state::PlanState;

/// How many of the emptiest nodes are tried each time.
const TRIED: usize = 8;
/// Steps for each node, and for all: a node needs two or three where slots are coarse.
const STEPS: (usize, usize) = (4, 64);

/// A step: `slot` leaves the fullest node for `to`, which may give one back.
struct Step {
    slot: u16,
    to: usize,
    back: Option<u16>,
}

/// Takes steps until no node that stays is above the bound, or none helps.
pub fn level(state: &mut PlanState<'_>) {
    let mut held = vec![Vec::new(); state.load.len()];
    for (slot, node) in state.owned().filter(|(slot, _)| !state.is_fixed(*slot)) {
        held[node].push(slot);
    }
    held.iter_mut()
        .for_each(|slots| slots.sort_by_key(|slot| state.load_of(*slot)));
    let share = |state: &PlanState<'_>, node: usize| state.share(node, state.load[node]);
    let mut order: Vec<usize> = state.staying().collect();
    order.sort_by(|a, b| share(state, *a).total_cmp(&share(state, *b)));
    for _ in 0..STEPS.0 * held.len() + STEPS.1 {
        let Some(fullest) = order.pop().filter(|node| state.excess(*node) > 0) else {
            return;
        };
        let Some(step) = best_step(state, &held, fullest, &order[..order.len().min(TRIED)]) else {
            return;
        };
        if !take(state, &mut held, fullest, &step) {
            return;
        }
        order.retain(|node| *node != step.to);
        for changed in [fullest, step.to] {
            let at = order.partition_point(|node| {
                share(state, *node)
                    .total_cmp(&share(state, changed))
                    .is_lt()
            });
            order.insert(at, changed);
        }
    }
}

fn take(state: &mut PlanState<'_>, held: &mut [Vec<u16>], from: usize, step: &Step) -> bool {
    let mut give = |slot: u16, from: usize, to: usize| {
        let given = state.give(slot, to);
        if given {
            held[from].retain(|other| *other != slot);
            let at = held[to].partition_point(|other| state.load_of(*other) < state.load_of(slot));
            held[to].insert(at, slot);
        }
        given
    };
    give(step.slot, from, step.to) && step.back.is_none_or(|back| give(back, step.to, from))
}

/// The step after which the fuller of both nodes is the least full, as far as that is below what `from` is now. Below
/// the bound it is the one that moves least.
fn best_step(
    state: &PlanState<'_>,
    held: &[Vec<u16>],
    from: usize,
    others: &[usize],
) -> Option<Step> {
    let now = state.share(from, state.load[from]);
    let mut best: Option<((f64, u64), Step)> = None;
    for to in others.iter().copied() {
        let (mine, theirs) = (&held[from], &held[to]);
        // With this much less, and the other with as much more, both are equally full.
        let (per_mine, per_theirs) = (state.share(from, 1), state.share(to, 1));
        let apart = now - state.share(to, state.load[to]);
        let wanted = (apart / (per_mine + per_theirs)).max(0.0) as u64;
        let backs = std::iter::once(None).chain(theirs.iter().copied().map(Some));
        for back in backs {
            let returned = back.map_or(0, |slot| state.load_of(slot));
            let at =
                mine.partition_point(|slot| state.load_of(*slot) < wanted.saturating_add(returned));
            for slot in [at.checked_sub(1), Some(at)]
                .into_iter()
                .flatten()
                .filter_map(|at| mine.get(at).copied())
            {
                let load = state.load_of(slot);
                if load <= returned {
                    continue;
                }
                let (left, there) = (
                    state.load[from] - load + returned,
                    state.load[to] - returned + load,
                );
                let after = state.share(from, left).max(state.share(to, there));
                let within = left <= state.cap(from) && there <= state.cap(to);
                let rank = (if within { 0.0 } else { after }, load + returned);
                let is_better = |(least, _): &((f64, u64), Step)| {
                    rank.0
                        .total_cmp(&least.0)
                        .then(rank.1.cmp(&least.1))
                        .is_lt()
                };
                if after < now && best.as_ref().is_none_or(is_better) {
                    best = Some((rank, Step { slot, to, back }));
                }
            }
        }
    }
    best.map(|(_, step)| step)
}
