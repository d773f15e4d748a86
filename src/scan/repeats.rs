//! The same key twice in a row, whatever blocks and batches its rows are in: a dump whose names were cut short at a
//! NUL or a newline has such rows, one of whole names hardly any.

use crate::slot::SlotBatch;
use crate::tally::hash::hash;

/// The hashes of the first and the last key of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edges {
    first: u64,
    last: u64,
}

/// What is known of the neighbours in one block.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// Keys that are the one before them.
    pub repeated: u64,
    /// The first and the last key so far.
    pub edges: Option<Edges>,
}

impl Neighbours {
    /// Takes in the next keys of the block.
    pub fn look_at(&mut self, keys: &SlotBatch<'_>) {
        let name = |i: usize| keys.batch.keys.get(keys.batch.base, i);
        let Some(last) = keys.len().checked_sub(1) else { return };
        let next = Edges { first: hash(name(0)), last: hash(name(last)) };
        self.repeated += u64::from(self.edges.is_some_and(|edges| edges.last == next.first));
        self.edges = Some(Edges { first: self.edges.map_or(next.first, |edges| edges.first), ..next });
        // Neighbours seldom share a slot, so most batches need no more than this.
        let same_slot = |pair: &[u16]| u16::from(pair[0] == pair[1]);
        if keys.slots.windows(2).fold(0, |any, pair| any | same_slot(pair)) != 0 {
            let pairs = keys.slots.windows(2).enumerate().filter(|(_, pair)| pair[0] == pair[1]);
            self.repeated += pairs.filter(|(i, _)| name(*i) == name(i + 1)).count() as u64;
        }
    }
}

/// How often the last key of a block is the first of the next, over the blocks of one input in their order.
pub fn across(blocks: impl Iterator<Item = Edges>) -> u64 {
    let mut last = None;
    let repeated = |edges: Edges| last.replace(edges.last) == Some(edges.first);
    blocks.map(repeated).filter(|is| *is).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_of_blocks_are_looked_at_too() {
        let blocks = [(1, 2), (2, 3), (4, 4), (4, 5)].map(|(first, last)| Edges { first, last });
        assert_eq!(across(blocks.into_iter()), 2);
    }
}
