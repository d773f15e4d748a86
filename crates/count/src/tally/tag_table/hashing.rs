//! Hashes of hash tags, randomly keyed per table, so that collisions cannot be constructed.

use std::hash::{BuildHasher, RandomState};

use slotscope_base::hash::Keys;
use slotscope_base::slot::SlotBatch;

use crate::tally::tagged::Tagged;

/// Random keys, unknown in advance.
pub(super) struct Hashing(Keys);

impl Default for Hashing {
    fn default() -> Self {
        let state = RandomState::new();
        Hashing(Keys(std::array::from_fn(|i| state.hash_one(i))))
    }
}

impl Hashing {
    /// Finds the tagged keys of a batch, with keyed hashes.
    #[inline]
    pub(super) fn find_tagged(&self, keys: &SlotBatch<'_>, tagged: &mut Tagged) {
        tagged.find_with(&self.0, keys, |_| true);
    }

    /// The keyed hash of a name.
    pub(super) fn of_name(&self, name: &[u8]) -> u64 {
        self.0.hash(name).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn distinct(hashing: &Hashing, names: impl IntoIterator<Item = Vec<u8>>) -> usize {
        let hashes: HashSet<u64> = names
            .into_iter()
            .map(|name| hashing.of_name(&name))
            .collect();
        hashes.len()
    }

    #[test]
    fn names_have_hashes_of_their_own_that_spread_over_all_bits() {
        let names = (0..100_000u32).map(|i| match i % 4 {
            0 => format!("{i}").into_bytes(),
            1 => vec![0; i as usize % 200],
            2 => format!("user:{i}:of:a:shop:with:a:name:that:is:longer:than:lanes").into_bytes(),
            _ => format!("{i:065}").into_bytes(),
        });
        let names: HashSet<Vec<u8>> = names.collect();
        let hashing = Hashing::default();
        let hashes: Vec<u64> = names.iter().map(|name| hashing.of_name(name)).collect();
        let distinct: HashSet<u64> = hashes.iter().map(|hash| hash >> 8).collect();
        assert_eq!(distinct.len(), names.len());
        for shift in [0, 10, 25, 32, 54] {
            let mut counts = [0f64; 1024];
            for hash in &hashes {
                counts[(hash >> shift) as usize % 1024] += 1.0;
            }
            let mean = hashes.len() as f64 / 1024.0;
            let squares = counts.iter().map(|count| (count - mean).powi(2));
            let dispersion = squares.sum::<f64>() / mean / 1023.0;
            assert!((0.7..1.3).contains(&dispersion), "{shift}: {dispersion}");
        }
    }

    #[test]
    fn names_made_of_what_is_public_do_not_collide() {
        // The digits of pi of the stable hash, in each half of each of two blocks, and every pair that cancels there.
        let digits = Keys::FIXED.0;
        let block = |low: u64, high: u64| [low.to_le_bytes(), high.to_le_bytes()].concat();
        for digit in digits {
            for other in digits {
                let names = (0..1000u64)
                    .map(|x| [block(x ^ other, digit), block(x ^ other, digit)].concat());
                assert_eq!(distinct(&Hashing::default(), names), 1000);
                let names = (0..1000u64).map(|x| block(digit, x ^ other));
                assert_eq!(distinct(&Hashing::default(), names), 1000);
            }
        }
    }

    #[test]
    fn names_that_collide_in_one_table_do_not_in_another() {
        let names: Vec<Vec<u8>> = (0..200_000u32).map(|i| i.to_le_bytes().into()).collect();
        let (one, other) = (Hashing::default(), Hashing::default());
        // Names with equal 16 bits of a hash, as chosen by an attacker who knows it.
        let low = |hashing: &Hashing, name: &[u8]| hashing.of_name(name) >> 48;
        let chosen: Vec<_> = names.iter().filter(|name| low(&one, name) < 16).collect();
        let again = chosen.iter().filter(|name| low(&other, name) < 16).count();
        assert!(
            chosen.len() > 20 && again < 5,
            "{again} of {}",
            chosen.len()
        );
    }
}
