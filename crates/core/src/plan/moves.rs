//! A plan as moves: for each pair of nodes the ranges of slots that go from one to the other.

use std::collections::BTreeMap;

use crate::topology::ranges;

/// Slots that go from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The node that gives them, by its index.
    pub from: usize,
    /// The node that gets them.
    pub to: usize,
    /// First and last slot of each range, both included; ascending, with a gap between neighbours.
    pub ranges: Vec<(u16, u16)>,
}

impl Move {
    /// Its slots, ascending.
    pub fn slots(&self) -> impl Iterator<Item = u16> + '_ {
        ranges::slots(&self.ranges)
    }
}

/// The moves from the owners `before` to those `after`, by the nodes' indices.
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
}
