//! Tags whose keys part company: the slots that the keys of each tag come to go in, how many tags have several goes out.
//!
//! Up to a budget every tag is known; past it those of smallest hash are, which are the same ones in any order.

use std::collections::HashMap;

use serde::Serialize;

/// Tags that are all known.
const MAX_TAGS: usize = 1 << 16;
/// Tags of a sample.
const SAMPLE: usize = 1 << 14;

/// In place of a slot: several of them.
const SEVERAL: u16 = u16::MAX;

/// What becomes of tags.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fates {
    /// By the hash of the tag, the slot of its keys.
    slots: HashMap<u64, u16>,
    /// Only tags of smaller hash are known, since there were too many.
    below: Option<u64>,
}

/// How many tags are parted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parted {
    /// Whether every tag was looked at; else a sample was.
    pub exact: bool,
    /// Tags that were looked at.
    pub tags: u64,
    /// Those of them whose keys come to several slots.
    pub parted: u64,
}

impl Fates {
    /// Takes in a key of the tag with this hash, which comes to `slot`.
    pub fn add(&mut self, hash: u64, slot: u16) {
        if self.below.is_some_and(|below| hash >= below) {
            return;
        }
        let known = self.slots.entry(hash).or_insert(slot);
        if *known != slot {
            *known = SEVERAL;
        }
        if self.slots.len() > MAX_TAGS {
            self.sample();
        }
    }

    /// Takes over what others know.
    pub fn merge(&mut self, other: Fates) {
        if let Some(below) = other.below {
            self.below = Some(self.below.map_or(below, |mine| mine.min(below)));
            self.slots.retain(|hash, _| *hash < below);
        }
        other.slots.into_iter().for_each(|(hash, slot)| self.add(hash, slot));
    }

    /// Keeps the tags of smallest hash.
    fn sample(&mut self) {
        let mut hashes: Vec<u64> = self.slots.keys().copied().collect();
        let (_, limit, _) = hashes.select_nth_unstable(SAMPLE);
        let limit = *limit;
        self.below = Some(limit);
        self.slots.retain(|hash, _| *hash < limit);
    }

    /// How many are parted.
    pub fn count(mut self) -> Parted {
        let exact = self.below.is_none();
        if !exact && self.slots.len() > SAMPLE {
            self.sample();
        }
        let parted = self.slots.values().filter(|slot| **slot == SEVERAL).count() as u64;
        Parted { exact, tags: self.slots.len() as u64, parted }
    }
}

impl Parted {
    /// How many of `distinct` tags are: counted, or estimated from the sample.
    pub fn of_all(&self, distinct: u64) -> u64 {
        match self.exact {
            true => self.parted,
            false => (self.parted as f64 / self.tags.max(1) as f64 * distinct as f64).round() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;

    /// Three keys a tag; those of every fourth tag are parted.
    fn keys(tags: u32) -> Vec<(u64, u16)> {
        let key = |i: u32| {
            let (tag, copy) = (i % tags, i / tags);
            (hash(&tag.to_le_bytes()), if tag % 4 == 0 { copy as u16 } else { 7 })
        };
        (0..3 * tags).map(key).collect()
    }

    fn count(keys: impl Iterator<Item = (u64, u16)>) -> Fates {
        let mut fates = Fates::default();
        keys.for_each(|(hash, slot)| fates.add(hash, slot));
        fates
    }

    #[test]
    fn few_tags_are_counted_exactly() {
        let parted = count(keys(1000).into_iter()).count();
        assert_eq!(parted, Parted { exact: true, tags: 1000, parted: 250 });
        assert_eq!(parted.of_all(1000), 250);
    }

    #[test]
    fn many_tags_are_sampled_the_same_way_in_any_order_and_any_parts() {
        let keys = keys(200_000);
        let forward = count(keys.iter().copied()).count();
        assert_eq!((forward.exact, forward.tags), (false, SAMPLE as u64));
        assert_eq!(count(keys.iter().rev().copied()).count(), forward);
        let mut merged = Fates::default();
        keys.chunks(70_000).rev().for_each(|part| merged.merge(count(part.iter().copied())));
        assert_eq!(merged.count(), forward);
        let all = forward.of_all(200_000) as f64;
        assert!((all / 50_000.0 - 1.0).abs() < 0.1, "{all}");
    }
}
