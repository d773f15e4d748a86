//! A plan as moves: for each pair of nodes, the slot ranges that go from one to the other.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slotscope_planner::move_request::{Caps, MoveRequest};

use slotscope_topology::ranges;

/// Slots that go from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// Index of the source node.
    pub from: usize,
    /// Index of the target node.
    pub to: usize,
    /// First and last slot of each range, inclusive; ascending and not adjacent.
    pub ranges: Vec<(u16, u16)>,
}

impl Move {
    /// Its slots, ascending.
    pub fn slots(&self) -> impl Iterator<Item = u16> + '_ {
        ranges::slots(&self.ranges)
    }

    /// The load of its slots (saturating).
    pub(crate) fn load(&self, loads: &[u64]) -> u64 {
        self.slots().fold(0, |sum, slot| {
            u64::saturating_add(sum, loads[usize::from(slot)])
        })
    }
}

/// Node loads and their limits.
pub(crate) struct Room<'a> {
    loads: &'a [u64],
    held: Vec<u64>,
    hard: Vec<Option<u64>>,
}

impl<'a> Room<'a> {
    /// The room of the nodes of a request before anything moves.
    pub(crate) fn new(request: &'a MoveRequest<'_>, caps: &Caps) -> Self {
        let loads = &request.roles[caps.role].loads;
        Room {
            loads,
            held: request.loads_under(loads, &request.owner),
            hard: caps
                .hard
                .iter()
                .map(|cap| cap.map(|cap| cap as u64))
                .collect(),
        }
    }

    fn excess(&self, node: usize) -> u64 {
        self.hard[node].map_or(0, |hard| self.held[node].saturating_sub(hard))
    }

    /// The remaining room of a node.
    fn left(&self, node: usize) -> u64 {
        self.hard[node].map_or(u64::MAX, |hard| hard.saturating_sub(self.held[node]))
    }

    fn carry_out(&mut self, shift: &Move) {
        let load = shift.load(self.loads);
        self.held[shift.from] = self.held[shift.from].saturating_sub(load);
        self.held[shift.to] = self.held[shift.to].saturating_add(load);
    }

    /// Splits a move into the first slots that fit the receiver, and the rest.
    fn split(&self, shift: &Move) -> (Vec<u16>, Vec<u16>) {
        let (mut left, mut fitting, mut rest) = (self.left(shift.to), Vec::new(), Vec::new());
        for slot in shift.slots() {
            let load = self.loads[usize::from(slot)];
            if load <= left {
                left -= load;
                fitting.push(slot);
            } else {
                rest.push(slot);
            }
        }
        (fitting, rest)
    }
}

/// Orders moves so that no receiver exceeds its limit, if possible; nodes above theirs today are relieved first. Moves
/// that do not fit are split. Moves that never fit come last.
pub(crate) fn ordered(mut moves: Vec<Move>, mut room: Room<'_>) -> Vec<Move> {
    let mut ordered = Vec::new();
    while !moves.is_empty() {
        moves.sort_by_key(|shift| {
            // Heavy slots relieve a node soonest: a slot takes its time, whatever it holds.
            let of_slot = shift.load(room.loads) / shift.slots().count().max(1) as u64;
            let excess = room.excess(shift.from);
            let relief = if excess > 0 { of_slot } else { 0 };
            (Reverse(excess), Reverse(relief), shift.from, shift.to)
        });
        let fits = |shift: &Move| shift.load(room.loads) <= room.left(shift.to);
        if let Some(at) = moves.iter().position(fits) {
            let next = moves.remove(at);
            room.carry_out(&next);
            ordered.push(next);
            continue;
        }
        let parts = moves.iter().map(|shift| room.split(shift));
        let Some((at, (fitting, rest))) = parts
            .enumerate()
            .find(|(_, (fitting, _))| !fitting.is_empty())
        else {
            break;
        };
        let part = |slots: &[u16], shift: &Move| Move {
            ranges: ranges::of_slots(slots),
            ..shift.clone()
        };
        let next = part(&fitting, &moves[at]);
        moves[at] = part(&rest, &moves[at]);
        room.carry_out(&next);
        ordered.push(next);
    }
    ordered.append(&mut moves);
    ordered
}

/// Splits moves into parts of at most `most`, or a single slot.
pub fn in_parts(moves: Vec<Move>, loads: &[u64], most: u64) -> Vec<Move> {
    let parts = |shift: &Move| {
        let (mut parts, mut slots, mut held) = (Vec::new(), Vec::new(), 0u64);
        for slot in shift.slots() {
            let load = loads[usize::from(slot)];
            if !slots.is_empty() && held.saturating_add(load) > most {
                parts.push(std::mem::take(&mut slots));
                held = 0;
            }
            held = held.saturating_add(load);
            slots.push(slot);
        }
        parts.push(slots);
        let part = |slots: Vec<u16>| Move {
            ranges: ranges::of_slots(&slots),
            ..shift.clone()
        };
        parts.into_iter().map(part).collect::<Vec<_>>()
    };
    moves.iter().flat_map(parts).collect()
}

/// The moves that turn the owners `before` into `after`.
pub fn between(before: &[Option<usize>], after: &[Option<usize>]) -> Vec<Move> {
    let mut slots: BTreeMap<(usize, usize), Vec<u16>> = BTreeMap::new();
    for (slot, owners) in before.iter().zip(after).enumerate() {
        if let (Some(from), Some(to)) = owners
            && from != to
        {
            slots.entry((*from, *to)).or_default().push(slot as u16);
        }
    }
    slots
        .into_iter()
        .map(|((from, to), slots)| Move {
            from,
            to,
            ranges: ranges::of_slots(&slots),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::metric::Metric;
    use slotscope_planner::move_request::Role;

    /// A request for nodes with these caps.
    fn limited<'a>(loads: &'a [u64], owner: Vec<Option<usize>>, caps: &[f64]) -> MoveRequest<'a> {
        let role = Role::even(Metric::Bytes, loads, caps.len(), 0.03);
        let caps: Vec<Option<f64>> = caps.iter().copied().map(Some).collect();
        MoveRequest {
            caps: Some(Caps {
                role: 0,
                aimed: caps.clone(),
                hard: caps,
            }),
            ..MoveRequest::new(vec![role], owner)
        }
    }

    #[test]
    fn slots_that_follow_each_other_to_the_same_node_are_one_range() {
        let before = [Some(0), Some(0), Some(0), None, Some(1), Some(0)];
        let after = [Some(1), Some(1), Some(0), None, Some(0), Some(1)];
        let of = |from, to, ranges: &[(u16, u16)]| Move {
            from,
            to,
            ranges: ranges.to_vec(),
        };
        assert_eq!(
            between(&before, &after),
            [of(0, 1, &[(0, 1), (5, 5)]), of(1, 0, &[(4, 4)])]
        );
        assert_eq!(between(&before, &before), []);
    }

    #[test]
    fn no_receiver_is_ever_above_its_limit() {
        // Two nodes swap more than either has room for, so the moves are split into parts that fit.
        let loads = [30, 30, 30, 30, 30, 30];
        let owner = [0, 0, 0, 1, 1, 1].map(Some).to_vec();
        let request = limited(&loads, owner.clone(), &[120.0; 2]);
        let after: Vec<_> = [1, 1, 1, 0, 0, 0].map(Some).to_vec();
        let room = || Room::new(&request, request.caps.as_ref().unwrap());
        let ordered = ordered(between(&owner, &after), room());
        let mut held = room().held;
        for of in &ordered {
            held[of.from] -= of.load(&loads);
            held[of.to] += of.load(&loads);
            assert!(held.iter().all(|held| *held <= 120), "{ordered:?}");
        }
        let mut owners = owner;
        for of in &ordered {
            of.slots()
                .for_each(|slot| owners[usize::from(slot)] = Some(of.to));
        }
        assert_eq!(owners, after);
    }

    #[test]
    fn a_node_above_its_limit_is_relieved_first() {
        let loads = [10, 10, 90, 60];
        let owner = [0, 0, 1, 1].map(Some).to_vec();
        let request = limited(&loads, owner.clone(), &[100.0; 3]);
        let after = [2, 0, 1, 2].map(Some);
        let ordered = ordered(
            between(&owner, &after),
            Room::new(&request, request.caps.as_ref().unwrap()),
        );
        assert_eq!(ordered[0].from, 1);
    }

    #[test]
    fn parts_hold_no_more_than_they_may_or_are_one_slot() {
        let whole = Move {
            from: 0,
            to: 1,
            ranges: vec![(0, 3), (7, 8)],
        };
        let mut loads = vec![0; 16];
        for (slot, load) in [(0, 4), (1, 4), (2, 50), (3, 2), (7, 6), (8, 3)] {
            loads[slot] = load;
        }
        let parts = in_parts(vec![whole], &loads, 10);
        let found: Vec<_> = parts.iter().map(|of| of.ranges.clone()).collect();
        let expected = [
            vec![(0, 1)],
            vec![(2, 2)],
            vec![(3, 3), (7, 7)],
            vec![(8, 8)],
        ];
        assert_eq!(found, expected);
    }
}
