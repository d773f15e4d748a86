//! Fine slots: what overflows a node leaves it in runs of neighbouring slots, cut from the ends of its ranges, for the
//! nodes with the most room.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::plan::state::PlanState;

/// Takes the nodes that overflow down to the bound, and empties those that leave.
pub fn shed(state: &mut PlanState<'_>) {
    let mut loose = vec![Vec::new(); state.load.len()];
    for (slot, node) in state.owned().filter(|(slot, _)| !state.is_fixed(*slot)) {
        if state.leaves(node) || state.excess(node) > 0 && !state.is_coarse(slot) {
            loose[node].push(slot);
        }
    }
    let mut givers: Vec<usize> = state
        .nodes()
        .filter(|node| !loose[*node].is_empty())
        .collect();
    givers.sort_by_key(|node| (!state.leaves(*node), Reverse(state.excess(*node)), *node));
    let mut rooms: BTreeSet<(u64, Reverse<usize>)> = state
        .staying()
        .map(|node| (state.room(node), Reverse(node)))
        .collect();
    for giver in givers {
        let mut slots = std::mem::take(&mut loose[giver]);
        while !slots.is_empty() && (state.leaves(giver) || state.excess(giver) > 0) {
            let Some((taken, to)) = next(state, giver, &slots, &rooms) else {
                break;
            };
            rooms.remove(&(state.room(to), Reverse(to)));
            let given = slots.drain(taken).all(|slot| state.give(slot, to));
            rooms.insert((state.room(to), Reverse(to)));
            if !given {
                return;
            }
        }
    }
}

/// The places in `slots` of what `giver` gives next, and the node that gets it.
fn next(
    state: &PlanState<'_>,
    giver: usize,
    slots: &[u16],
    rooms: &BTreeSet<(u64, Reverse<usize>)>,
) -> Option<(Range<usize>, usize)> {
    let leaves = state.leaves(giver);
    let (room, Reverse(to)) = *rooms.last()?;
    // A node that leaves gives all that fits, the others no more than overflows.
    let enough = if leaves {
        u64::MAX
    } else {
        state.excess(giver).min(room)
    };
    let touches = |slot: u16| {
        let is_its = |slot: Option<u16>| {
            slot.and_then(|slot| *state.owner.get(usize::from(slot))?) == Some(to)
        };
        is_its(slot.checked_sub(1)) || is_its(slot.checked_add(1))
    };
    if let Some(run) = best_run(slots, |slot| state.load_of(slot), enough, room, touches) {
        return Some((run, to));
    }
    if !leaves {
        return None;
    }
    let (at, slot) = slots
        .iter()
        .enumerate()
        .max_by_key(|(_, slot)| state.load_of(**slot))?;
    let comes_to = |node: usize| state.share(node, state.load[node] + state.load_of(*slot));
    let to = state
        .staying()
        .min_by(|a, b| comes_to(*a).total_cmp(&comes_to(*b)))?;
    Some((at..at + 1, to))
}

/// Of all runs from an end of a range the best of at most `room`: one that is `enough`, and of those the least that
/// touches; else the most. Where the ends are too heavy, a single slot from anywhere.
fn best_run(
    slots: &[u16],
    load: impl Fn(u16) -> u64,
    enough: u64,
    room: u64,
    touches: impl Fn(u16) -> bool,
) -> Option<Range<usize>> {
    let mut best = None;
    let mut consider = |run: Range<usize>, sum: u64| {
        let (reaches, at) = (sum >= enough, run.clone());
        let touching = touches(slots[at.start]) || touches(slots[at.end - 1]);
        let rank = (
            reaches,
            touching && reaches,
            if reaches { u64::MAX - sum } else { sum },
            at.len(),
        );
        if best.as_ref().is_none_or(|(least, _)| rank > *least) {
            best = Some((rank, run));
        }
    };
    let mut start = 0;
    for range in slots.chunk_by(|a, b| b - a == 1) {
        let grown = |order: &mut dyn Iterator<Item = &u16>| {
            let (mut len, mut sum) = (0, 0u64);
            for slot in order {
                if sum >= enough || sum + load(*slot) > room {
                    break;
                }
                (len, sum) = (len + 1, sum + load(*slot));
            }
            (len, sum)
        };
        let end = start + range.len();
        let (len, sum) = grown(&mut range.iter());
        if len > 0 {
            consider(start..start + len, sum);
        }
        let (len, sum) = grown(&mut range.iter().rev());
        if len > 0 {
            consider(end - len..end, sum);
        }
        start = end;
    }
    best.map(|(_, run)| run).or_else(|| {
        let fitting = (0..slots.len()).filter(|at| (1..=room).contains(&load(slots[*at])));
        fitting
            .max_by_key(|at| load(slots[*at]))
            .map(|at| at..at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best run of slots that all weigh 10, but slot 20, which weighs 55.
    fn run(slots: &[u16], enough: u64, room: u64, touching: u16) -> Vec<u16> {
        let load = |slot| if slot == 20 { 55 } else { 10 };
        let found = best_run(slots, load, enough, room, |slot| slot == touching);
        found.map_or(Vec::new(), |run| slots[run].to_vec())
    }

    #[test]
    fn a_run_is_cut_where_it_is_enough_and_touches() {
        let slots = [1, 2, 3, 4, 8, 9];
        assert_eq!(run(&slots, 30, 100, 4), [2, 3, 4]);
        assert_eq!(run(&slots, 20, 100, 8), [8, 9]);
        assert_eq!(
            run(&slots, 50, 100, 9),
            [1, 2, 3, 4],
            "where no range is enough, the most"
        );
        assert_eq!(run(&slots, 50, 25, 9), [1, 2], "never more than fits");
    }

    #[test]
    fn where_the_ends_are_too_heavy_a_slot_from_within_goes() {
        assert_eq!(run(&[20], 10, 50, 0), [0; 0]);
        assert_eq!(run(&[20, 21], 10, 50, 0), [21]);
        assert_eq!(run(&[20], 10, 55, 0), [20]);
    }
}
