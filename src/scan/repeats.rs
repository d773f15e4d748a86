//! The same key twice in a row, whatever blocks and batches its rows are in: a dump whose names were cut short at a
//! NUL or a newline has such rows, one of whole names has few.

use crate::hash::hash;
use crate::slot::SlotBatch;

/// The hashes of the first and the last key of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edges {
    /// Of the first.
    pub first: u64,
    /// Of the last.
    pub last: u64,
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
    /// Takes in the next keys of the block. Empty keys are counted elsewhere and left out here.
    pub fn look_at(&mut self, keys: &SlotBatch<'_>) {
        let spans = keys.batch.keys;
        let name = |i: usize| spans.get(keys.batch.base, i);
        let is_empty = |i: &usize| spans.start[*i] == spans.end[*i];
        let (first, last) = (0..keys.len(), (0..keys.len()).rev());
        let ends = first
            .into_iter()
            .find(|i| !is_empty(i))
            .zip(last.into_iter().find(|i| !is_empty(i)));
        let Some((first, last)) = ends else { return };
        let next = Edges {
            first: hash(name(first)),
            last: hash(name(last)),
        };
        self.repeated += u64::from(self.edges.is_some_and(|edges| edges.last == next.first));
        self.edges = Some(Edges {
            first: self.edges.map_or(next.first, |edges| edges.first),
            ..next
        });
        // Few neighbours share a slot, and few keys are empty, so most batches need no more than this.
        let lengths = || spans.start.iter().zip(&spans.end);
        let any_empty = lengths().fold(0, |any, (start, end)| any | u32::from(start == end)) != 0;
        let same_slot = |pair: &[u16]| u16::from(pair[0] == pair[1]);
        if any_empty
            || keys
                .slots
                .windows(2)
                .fold(0, |any, pair| any | same_slot(pair))
                != 0
        {
            let mut before = first;
            for i in (first + 1..=last).filter(|i| !is_empty(i)) {
                self.repeated +=
                    u64::from(keys.slots[before] == keys.slots[i] && name(before) == name(i));
                before = i;
            }
        }
    }
}
