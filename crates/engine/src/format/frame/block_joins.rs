//! Checks across block boundaries: relations between neighbouring rows that may be in different blocks. Blocks report
//! their first and last rows, in any order and from any thread; each pair of neighbours is reported exactly once.
//!
//! Adjacent stretches are merged, so there are never more of them than blocks in flight plus unreadable places.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// The stretches of one input read so far.
#[derive(Default)]
pub struct Borders(Mutex<OpenEnds>);

/// Stretches by start offset.
pub type OpenEnds = BTreeMap<u64, Stretch>;

/// The end of a stretch, and the hashes of its outermost keys, whose neighbours are still unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// Its end offset, exclusive.
    pub end: u64,
    /// The first row, if it has any.
    pub first: Option<u64>,
    /// The last row.
    pub last: Option<u64>,
}

impl Borders {
    /// Adds the stretch `bytes` with its first and last row, if any, and calls `meet` with every pair of neighbours
    /// this completes: the parts before and after the border.
    pub fn join(
        &self,
        bytes: Range<u64>,
        first: Option<u64>,
        last: Option<u64>,
        mut meet: impl FnMut(u64, u64),
    ) {
        if bytes.is_empty() {
            return;
        }
        let mut stretches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut start, mut joined) = (
            bytes.start,
            Stretch {
                end: bytes.end,
                first,
                last,
            },
        );
        let before = stretches
            .range(..start)
            .next_back()
            .filter(|(_, before)| before.end == start);
        if let Some(before) = before.map(|(at, _)| *at) {
            let left = stretches.remove(&before).expect("just found");
            left.last
                .zip(joined.first)
                .into_iter()
                .for_each(|(left, right)| meet(left, right));
            start = before;
            joined = Stretch {
                first: left.first.or(joined.first),
                last: joined.last.or(left.last),
                ..joined
            };
        }
        if let Some(right) = stretches.remove(&joined.end) {
            joined
                .last
                .zip(right.first)
                .into_iter()
                .for_each(|(left, right)| meet(left, right));
            let (first, last) = (joined.first.or(right.first), right.last.or(joined.last));
            joined = Stretch {
                end: right.end,
                first,
                last,
            };
        }
        stretches.insert(start, joined);
    }

    /// Restores stretches that were read elsewhere.
    pub fn of(stretches: OpenEnds) -> Self {
        Borders(Mutex::new(stretches))
    }

    /// The stretches by start offset, for joining other parts of the input.
    pub fn stretches(&self) -> OpenEnds {
        let stretches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stretches.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_neighbours_meets_once_in_any_order() {
        // Rows 1 to 5, one per stretch; the third stretch has none.
        let rows = [Some(1), Some(2), None, Some(3), Some(4), Some(5)];
        for seed in 0..720 {
            let (mut left, mut number) = ((0..rows.len()).collect::<Vec<_>>(), seed);
            let borders = Borders::default();
            let mut pairs = Vec::new();
            while !left.is_empty() {
                let at = left.remove(number % left.len());
                number /= left.len() + 1;
                let bytes = 10 * at as u64..10 * (at as u64 + 1);
                borders.join(bytes, rows[at], rows[at], |left, right| {
                    pairs.push((left, right))
                });
            }
            pairs.sort_unstable();
            assert_eq!(pairs, [(1, 2), (2, 3), (3, 4), (4, 5)], "order {seed}");
            assert_eq!(borders.0.lock().unwrap().len(), 1, "what touches is joined");
        }
    }
}
