//! How many keys occur repeatedly: counted of all keys while they are few, then of a sample of them.
//!
//! The sample has the smallest keys in an order by slot, then by hash: whether a key may be in it is usually known by its
//! slot. Some slots share the first place of the order, so that a sample of very many keys is not of one slot.
//!
//! A key is stored as its slot and 50 bits of its hash. Among u distinct keys, two collide with a probability below u^2
//! / 2^51, one in eight million. A key in two databases is two keys.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{KeyBatch, Number};
use slotscope_base::hash::hash_span;
use slotscope_base::simd::rows::{Flags, list_rows};
use slotscope_base::slot::{SlotBatch, spread, unspread};

use crate::tally::Tally;
use crate::tally::sketch::bottom_k::BottomK;

/// Distinct keys kept.
const KEPT: usize = 1 << 14;
/// Maximum repeats counted per key, if only a sample of keys is counted.
const OFTEN: u32 = 4;
/// Spreads a database number over all bits.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Bits of the hash of a key.
const HASH_BITS: u32 = 50;
/// How many slots share the first place, and the bits of a number below that.
const FIRST: u16 = 1 << FIRST_BITS;
const FIRST_BITS: u32 = 4;

/// The keys of the sample, with their frequency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Duplicates(BottomK<u32, KEPT>);

impl Duplicates {
    /// The share of keys that repeat an earlier key; `None` without keys. An estimate if only a sample of keys is counted;
    /// then a single key that repeats very often is capped.
    pub fn share(&self) -> Option<f64> {
        self.share_in(&|_| true)
    }

    /// The same for the keys in a set of slots.
    pub fn share_in(&self, is_in: &dyn Fn(u16) -> bool) -> Option<f64> {
        let most = if self.is_exact() { u32::MAX } else { OFTEN };
        let keys = self.0.iter().filter(|(key, _)| is_in(slot_of(**key)));
        let (total, distinct) = keys.fold((0, 0), |(total, distinct), (_, count)| {
            (total + u64::from((*count).min(most)), distinct + 1)
        });
        (total > 0).then(|| (total - distinct) as f64 / total as f64)
    }

    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        self.0.is_sound() && self.0.values().all(|count| *count > 0)
    }

    /// Whether all keys were counted, so that the share is exact.
    pub fn is_exact(&self) -> bool {
        self.0.is_whole()
    }

    fn add_key(&mut self, key: u64) {
        self.0
            .update(key, || 0, |count| *count = count.saturating_add(1));
    }
}

/// The position of a key in the order.
fn key_of(slot: u16, hash: u64) -> u64 {
    let (place, hash) = (spread(slot), hash & ((1 << HASH_BITS) - 1));
    match place {
        ..FIRST => hash << FIRST_BITS | u64::from(place),
        _ => u64::from(place) << HASH_BITS | hash,
    }
}

fn slot_of(key: u64) -> u16 {
    let place = match (key >> HASH_BITS) as u16 {
        ..FIRST => key as u16 % FIRST,
        place => place,
    };
    unspread(place)
}

/// Selects the keys that may be in the sample: few, once there are many keys.
struct InSample<'a> {
    slots: &'a [u16],
    last: u16,
}

impl Flags for InSample<'_> {
    #[inline(always)]
    fn flag(&self, from: usize, flags: &mut [u8]) {
        for (flag, slot) in flags.iter_mut().zip(&self.slots[from..]) {
            *flag = u8::from(spread(*slot) <= self.last);
        }
    }
}

impl Tally for Duplicates {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let in_sample = InSample {
            slots: keys.slots,
            last: ((self.0.largest() >> HASH_BITS) as u16).max(FIRST - 1),
        };
        let mut listed = Vec::new();
        list_rows(keys.kernel, keys.len(), in_sample, &mut listed);
        let KeyBatch {
            base,
            keys: spans,
            values,
        } = keys.batch;
        let databases = values.number(Number::Database);
        for i in listed.into_iter().map(|i| i as usize) {
            let database = databases
                .get(i)
                .map_or(0, |database| database.wrapping_mul(ODD));
            let hash = hash_span(base, spans.start[i], spans.end[i]) ^ database;
            self.add_key(key_of(keys.slots[i], hash));
        }
    }

    fn merge(&mut self, other: Self) {
        self.0
            .merge_with(other.0, |mine, theirs| *mine = mine.saturating_add(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;
    use slotscope_base::slot::slot;

    fn count(keys: impl Iterator<Item = u64>) -> Duplicates {
        let mut duplicates = Duplicates::default();
        for key in keys.map(|i| format!("user:{i}")) {
            duplicates.add_key(key_of(slot(key.as_bytes()), hash(key.as_bytes())));
        }
        duplicates
    }

    #[test]
    fn few_keys_are_all_looked_at() {
        let found = count((0..10_000).chain(0..100));
        assert!(found.is_exact());
        assert_eq!(found.share(), Some(100.0 / 10_100.0));
        assert_eq!(found.share_in(&|other| other == slot(b"user:7")), Some(0.5));
        assert_eq!(Duplicates::default().share(), None);
    }

    #[test]
    fn a_key_tells_its_slot() {
        for slot in 0..0x4000 {
            assert_eq!(slot_of(key_of(slot, u64::MAX)), slot);
        }
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
}
