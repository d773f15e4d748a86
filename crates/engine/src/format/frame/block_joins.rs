//! Stage 2, KEYS: what must be known of two neighbouring rows, where a block may end between them. What is at the
//! ends of each block comes in, in any order and from any thread; every pair of neighbours goes out, once.
//!
//! Stretches that touch are joined, so there are never more of them than blocks in work and places that could not be
//! read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// The stretches of one input that were read so far, by where they start.
pub struct Borders<T>(Mutex<BTreeMap<u64, Stretch<T>>>);

/// Where a stretch ends, and the rows at its ends, which have no neighbours yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch<T> {
    /// The offset after it.
    pub end: u64,
    /// The first row; none where it has no row.
    pub first: Option<T>,
    /// The last row.
    pub last: Option<T>,
}

impl<T> Default for Borders<T> {
    fn default() -> Self {
        Borders(Mutex::default())
    }
}

impl<T: Copy> Borders<T> {
    /// Takes the first and the last row of the stretch at `bytes`, if it has any, and calls `meet` with every pair of
    /// neighbours that this completes: the part before the border, and the part after it.
    pub fn join(
        &self,
        bytes: Range<u64>,
        first: Option<T>,
        last: Option<T>,
        mut meet: impl FnMut(T, T),
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

    /// The stretches that were read elsewhere.
    pub fn of(stretches: BTreeMap<u64, Stretch<T>>) -> Self {
        Borders(Mutex::new(stretches))
    }

    /// The stretches, by where they start: what other parts of the input may be joined to.
    pub fn stretches(&self) -> BTreeMap<u64, Stretch<T>> {
        let stretches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stretches.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_neighbours_meets_once_in_any_order() {
        // Rows 1 to 5, one a stretch; the third stretch has none.
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
