//! Consecutive equal keys, across blocks and batches: frequent in a dump whose names were truncated at a NUL or
//! newline, rare in others.

use crate::hash::hash;
use crate::slot::SlotBatch;

/// Hashes of the first and last key of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edges {
    pub first: u64,
    pub last: u64,
}

/// Facts about neighbours within a block.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    /// Keys equal to their predecessor.
    pub repeated: u64,
    /// The first and the last key so far.
    pub edges: Option<Edges>,
}

impl Neighbours {
    /// Processes the next keys of the block. Empty keys are counted elsewhere and skipped here.
    pub(super) fn look_at(&mut self, keys: &SlotBatch<'_>) {
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
        let lengths = spans.start.iter().zip(&spans.end);
        if lengths.fold(0, |any, (start, end)| any | u32::from(start == end)) != 0 {
            let mut before = first;
            for i in (first + 1..=last).filter(|i| !is_empty(i)) {
                self.repeated += u64::from(name(before) == name(i));
                before = i;
            }
        } else {
            equal_neighbours(keys.slots, |i| {
                // In a dump in slot order all neighbours get here; most names differ in their last bytes.
                let end = |i: usize| keys.batch.base.eight_before(spans.end[i]);
                let len = |i: usize| spans.end[i] - spans.start[i];
                let may_repeat = len(i) == len(i + 1) && (len(i) < 8 || end(i) == end(i + 1));
                self.repeated += u64::from(may_repeat && name(i) == name(i + 1))
            });
        }
    }
}

/// Calls `visit` with each `i` where `slots[i]` equals `slots[i + 1]`. This is rare, so most pieces are skipped
/// quickly.
fn equal_neighbours(slots: &[u16], mut visit: impl FnMut(usize)) {
    const PIECE: usize = 16;
    let next = slots.get(1..).unwrap_or_default();
    let (pieces, rest) = slots[..next.len()].as_chunks::<PIECE>();
    let (next_pieces, next_rest) = next.as_chunks::<PIECE>();
    let mut each = |from: usize, slots: &[u16], next: &[u16]| {
        let pairs = slots.iter().zip(next).enumerate();
        let equal = pairs.filter(|(_, (slot, next))| slot == next);
        equal.for_each(|(i, _)| visit(from + i));
    };
    for (piece, (slots, next)) in pieces.iter().zip(next_pieces).enumerate() {
        let pairs = slots.iter().zip(next);
        if pairs.fold(0, |any, (slot, next)| any | u16::from(slot == next)) != 0 {
            each(piece * PIECE, slots, next);
        }
    }
    each(pieces.len() * PIECE, rest, next_rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Notice;
    use crate::scan::Scan;
    use crate::source::memory::memory;
    use crate::tally::{Parts, Tallies};

    #[test]
    fn neighbours_in_one_slot_repeat_where_all_of_their_names_is_equal() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.unwrap();
        for (dump, expected) in [
            ("{a}x\n{a}x\n{a}x\n", 2),
            ("{a}x\n{a}y\n{a}xx\n", 0),
            ("{a}:12345678\n{a}:12345678\n", 1),
            ("{a}:12345678\n{a}:12345679\n", 0),
            ("{a}:b:12345678\n{a}:c:12345678\n", 0),
            ("{a}:12345678\nx{a}:12345678\n", 0),
        ] {
            let inputs = [memory("dump", dump.as_bytes())];
            let scanned = Scan::new(&pool).run(&inputs, || Tallies::new(Parts::Slots));
            let seen = &scanned.unwrap().inputs[0].seen;
            assert_eq!(seen.count(Notice::Repeated), expected, "{dump}");
        }
    }

    #[test]
    fn equal_neighbours_are_found_across_pieces() {
        for len in [0, 1, 2, 15, 16, 17, 31, 32, 33, 100] {
            for equal in 0..len {
                // All differ from their neighbours, except those of `equal` and one ten after it.
                let mut slots: Vec<u16> = (0..len).map(|i| i as u16).collect();
                let mut expected = Vec::new();
                for i in [equal, equal + 10].into_iter().filter(|i| i + 1 < len) {
                    slots[i + 1] = slots[i];
                    expected.push(i);
                }
                let mut found = Vec::new();
                equal_neighbours(&slots, |i| found.push(i));
                assert_eq!(found, expected, "{len}: {slots:?}");
            }
        }
    }
}
