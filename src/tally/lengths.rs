//! Key lengths: exact below 4096 bytes, to three significant digits above, count, sum and extremes always exact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Tally;
use super::slots::add_all;
use crate::slot::SlotBatch;

/// Lengths below this have a counter each: all that real keys have.
const SHORT: usize = 4096;

/// Bits of a longer length that are kept: 2048 steps an octave, more than three digits.
const KEPT_BITS: u32 = 12;

/// How many keys there are of each length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    short: Vec<u64>,
    long: BTreeMap<u64, u64>,
    /// Sum of all lengths in bytes.
    pub sum: u128,
    /// The shortest, in bytes; 0 without keys.
    pub min: u64,
    /// The longest, in bytes.
    pub max: u64,
    /// How many there are.
    pub count: u64,
}

impl Default for Lengths {
    fn default() -> Self {
        Lengths { short: vec![0; SHORT], long: BTreeMap::new(), sum: 0, min: 0, max: 0, count: 0 }
    }
}

impl Lengths {
    /// Every length that occurs, ascending, and how many keys have it.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        let short = self.short.iter().enumerate().map(|(length, count)| (length as u64, *count));
        short.filter(|(_, count)| *count > 0).chain(self.long.iter().map(|(length, count)| (*length, *count)))
    }

    fn add_long(&mut self, length: u64) {
        let dropped_bits = (u64::BITS - length.leading_zeros()) - KEPT_BITS;
        *self.long.entry(length >> dropped_bits << dropped_bits).or_default() += 1;
    }

    /// Takes in `count` lengths between `min` and `max` that were counted one by one.
    fn add_extremes(&mut self, count: u64, min: u64, max: u64) {
        if count > 0 {
            self.min = if self.count == 0 { min } else { self.min.min(min) };
            self.max = self.max.max(max);
            self.count += count;
        }
    }
}

impl Tally for Lengths {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let keys = keys.batch.keys;
        let (mut sum, mut min, mut max) = (0, u64::MAX, 0);
        for (start, end) in keys.start.iter().zip(&keys.end) {
            let length = (end - start) as usize;
            match self.short.get_mut(length) {
                Some(count) => *count += 1,
                None => self.add_long(length as u64),
            }
            (sum, min, max) = (sum + length as u64, min.min(length as u64), max.max(length as u64));
        }
        self.sum += u128::from(sum);
        self.add_extremes(keys.len() as u64, min, max);
    }

    fn merge(&mut self, other: Self) {
        add_all(&mut self.short, &other.short);
        for (length, count) in other.long {
            *self.long.entry(length).or_default() += count;
        }
        self.sum += other.sum;
        self.add_extremes(other.count, other.min, other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{KeyBatch, Spans, Values};
    use crate::source::block::Block;

    fn tally(lengths: &[u32]) -> Lengths {
        let block = Block::from_bytes(&vec![b'x'; 1 << 20]);
        let keys = Spans { start: vec![0; lengths.len()], end: lengths.to_vec() };
        let slots = vec![0; lengths.len()];
        let mut tally = Lengths::default();
        tally.add(&SlotBatch {
            batch: KeyBatch { base: block.padded(), keys: &keys, values: &Values::default() },
            hashed: &keys,
            slots: &slots,
        });
        tally
    }

    #[test]
    fn short_lengths_are_exact_and_long_ones_to_three_digits() {
        let tally = tally(&[0, 34, 34, 4095, 4096, 5001, 1_000_001]);
        let pairs: Vec<_> = tally.pairs().collect();
        assert_eq!(pairs[..4], [(0, 1), (34, 2), (4095, 1), (4096, 1)]);
        for ((found, _), truth) in pairs[4..].iter().zip([5001.0, 1_000_001.0]) {
            assert!((*found as f64 / truth - 1.0).abs() < 0.0005, "{found}");
        }
        assert_eq!((tally.count, tally.max, tally.min), (7, 1_000_001, 0));
        assert_eq!(tally.sum, 34 + 34 + 4095 + 4096 + 5001 + 1_000_001);
    }
}
