//! How many keys occur repeatedly: estimated from all keys in a set of slots that shrinks as keys are added; the final
//! set does not depend on their order.
//!
//! A key is stored as its slot and 50 bits of its hash. Among u distinct keys, two collide with a probability below u^2
//! / 2^51, one in eight million. A key in two databases is two keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::format::batch::{KeyBatch, Number};
use crate::hash::hash_span;
use crate::simd::rows::{Flags, list_rows};
use crate::slot::SlotBatch;
use crate::tally::Tally;

/// Distinct hashes kept.
const KEPT: usize = 1 << 14;
/// Maximum repeats counted per key, if only a sample of keys is counted.
const OFTEN: u32 = 4;
/// Spreads a database number over all bits.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
/// How often the set of slots is halved; after that the hashes themselves are sampled.
const SLOT_HALVINGS: u32 = 10;
/// How often the hashes are halved; the rest fits.
const HASH_HALVINGS: u32 = 40;

/// The hashes of all keys in a shrinking set, with their frequency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Duplicates {
    /// How often the set was halved.
    halvings: u32,
    seen: BTreeMap<u64, u32>,
}

impl Duplicates {
    /// The share of keys that repeat an earlier key; `None` without keys in the set. An estimate if only a sample of
    /// keys is counted; then a single key that repeats very often is capped.
    pub fn share(&self) -> Option<f64> {
        self.share_in(&|_| true)
    }

    /// The same for the keys in a set of slots.
    pub fn share_in(&self, is_in: &dyn Fn(u16) -> bool) -> Option<f64> {
        let most = if self.is_exact() { u32::MAX } else { OFTEN };
        let hashes = self.seen.iter().filter(|(hash, _)| is_in(slot_in(**hash)));
        let (total, distinct) = hashes.fold((0, 0), |(total, distinct), (_, count)| {
            (total + u64::from((*count).min(most)), distinct + 1)
        });
        (total > 0).then(|| (total - distinct) as f64 / total as f64)
    }

    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        self.seen.len() <= KEPT
            && self.halvings <= SLOT_HALVINGS + HASH_HALVINGS
            && self
                .seen
                .iter()
                .all(|(hash, count)| *count > 0 && keeps(self.halvings, slot_in(*hash), *hash))
    }

    /// Whether all keys were counted, so that the share is exact.
    pub fn is_exact(&self) -> bool {
        self.halvings == 0
    }

    fn add_key(&mut self, keys: &SlotBatch<'_>, i: usize, slot: u16) {
        let KeyBatch { base, keys, values } = keys.batch;
        let database = values
            .number(Number::Database)
            .get(i)
            .map_or(0, |database| database.wrapping_mul(ODD));
        let hash = hash_span(base, keys.start[i], keys.end[i]) ^ database;
        self.add_hash(slot, with_slot(hash, slot), 1);
    }

    fn add_hash(&mut self, slot: u16, hash: u64, count: u32) {
        if !keeps(self.halvings, slot, hash) {
            return;
        }
        let sum = self.seen.entry(hash).or_insert(0);
        *sum = sum.saturating_add(count);
        while self.seen.len() > KEPT {
            self.halvings += 1;
            let halvings = self.halvings;
            self.seen
                .retain(|hash, _| keeps(halvings, slot_in(*hash), *hash));
        }
    }
}

/// The position of a slot in an order that puts neighbouring slots far apart.
#[inline(always)]
fn place(slot: u16) -> u16 {
    slot.wrapping_mul(0x2F35) & 0x3FFF
}

fn keeps(halvings: u32, slot: u16, hash: u64) -> bool {
    let thinned = halvings.saturating_sub(SLOT_HALVINGS).min(HASH_HALVINGS);
    place(slot) < 0x4000 >> halvings.min(SLOT_HALVINGS) && hash & ((1 << thinned) - 1) == 0
}

/// A hash with its upper bits replaced by the slot, for halving the set again.
fn with_slot(hash: u64, slot: u16) -> u64 {
    hash << 14 >> 14 | u64::from(slot) << 50
}

fn slot_in(hash: u64) -> u16 {
    (hash >> 50) as u16
}

/// Selects the keys in the set: few, once there are many keys.
struct InSet<'a> {
    slots: &'a [u16],
    limit: u16,
}

impl Flags for InSet<'_> {
    #[inline(always)]
    fn flag(&self, from: usize, flags: &mut [u8]) {
        for (flag, slot) in flags.iter_mut().zip(&self.slots[from..]) {
            *flag = u8::from(place(*slot) < self.limit);
        }
    }
}

impl Tally for Duplicates {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let limit = 0x4000u16 >> self.halvings.min(SLOT_HALVINGS);
        let in_set = InSet {
            slots: keys.slots,
            limit,
        };
        let mut listed = Vec::new();
        list_rows(keys.kernel, keys.len(), in_set, &mut listed);
        for key in &listed {
            self.add_key(keys, *key as usize, keys.slots[*key as usize]);
        }
    }

    fn merge(&mut self, other: Self) {
        self.halvings = self.halvings.max(other.halvings);
        let halvings = self.halvings;
        self.seen
            .retain(|hash, _| keeps(halvings, slot_in(*hash), *hash));
        other
            .seen
            .into_iter()
            .for_each(|(hash, count)| self.add_hash(slot_in(hash), hash, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;
    use crate::slot::slot;

    fn count(keys: impl Iterator<Item = u64>) -> Duplicates {
        let mut duplicates = Duplicates::default();
        for key in keys.map(|i| format!("user:{i}")) {
            let slot = slot(key.as_bytes());
            duplicates.add_hash(slot, with_slot(hash(key.as_bytes()), slot), 1);
        }
        duplicates
    }

    #[test]
    fn few_keys_are_all_looked_at() {
        let found = count((0..10_000).chain(0..100));
        assert!(found.is_exact());
        assert_eq!(found.share(), Some(100.0 / 10_100.0));
        assert_eq!(Duplicates::default().share(), None);
    }

    #[test]
    fn of_many_the_share_is_estimated_in_any_order() {
        let keys = || (0..1_000_000).chain(500_000..530_000);
        let found = count(keys());
        let share = found.share().unwrap();
        assert!((share / (30.0 / 1030.0) - 1.0).abs() < 0.15, "{share}");
        let mut parts = count(keys().skip(600_000));
        parts.merge(count(keys().take(600_000)));
        assert!(parts == found);
    }

    #[test]
    fn one_slot_of_many_keys_is_thinned_out() {
        let mut duplicates = Duplicates::default();
        for i in 0..200_000u64 {
            duplicates.add_hash(0, with_slot(hash(&i.to_le_bytes()), 0), 1);
        }
        assert!(duplicates.seen.len() <= KEPT && duplicates.seen.len() > KEPT / 4);
        assert_eq!(duplicates.share(), Some(0.0));
    }
}
