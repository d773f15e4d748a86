//! A bounded sample of distinct items with everything counted for each: those with the smallest hashes (bottom-k
//! sampling, Cohen & Kaplan, "Summarizing data using bottom-k sketches", PODC 2007).
//!
//! An item in the final sample was in the sample of every part of the input, from its first key. The sample thus
//! does not depend on the order of keys, and samples of parts can be merged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Tags in a `SampledTags`.
pub(crate) const SAMPLED: usize = 1 << 14;

/// Key counts of a sample of tags.
pub(crate) type SampledTags = BottomK<u64, SAMPLED>;

/// The values of the `K` items with the smallest hashes. Items are identified by hash alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BottomK<V, const K: usize> {
    values: BTreeMap<u64, V>,
    /// The largest hash in the sample, if others were dropped.
    largest: u64,
}

impl<V, const K: usize> Default for BottomK<V, K> {
    fn default() -> Self {
        BottomK {
            values: BTreeMap::new(),
            largest: u64::MAX,
        }
    }
}

impl<V, const K: usize> BottomK<V, K> {
    /// Updates the value of an item, created by `first` if new, provided it may be in the sample; most items of a large
    /// input are not.
    #[inline]
    pub fn update(&mut self, hash: u64, first: impl FnOnce() -> V, change: impl FnOnce(&mut V)) {
        if hash <= self.largest {
            change(self.values.entry(hash).or_insert_with(first));
            self.cut();
        }
    }

    /// Drops the items beyond the sample.
    fn cut(&mut self) {
        while self.values.len() > K {
            self.values.pop_last();
            let largest = self.values.last_key_value();
            self.largest = largest.map_or(0, |(hash, _)| *hash);
        }
    }

    /// Merges another sample; `combine` merges two values of one item.
    pub fn merge_with(&mut self, other: Self, combine: impl Fn(&mut V, V)) {
        self.largest = self.largest.min(other.largest);
        self.values.retain(|hash, _| *hash <= self.largest);
        for (hash, theirs) in other.values.into_iter() {
            match self.values.get_mut(&hash) {
                _ if hash > self.largest => break,
                Some(mine) => combine(mine, theirs),
                None => drop(self.values.insert(hash, theirs)),
            }
            self.cut();
        }
    }

    /// Whether a scan can have written this sample.
    pub(in crate::tally) fn is_sound(&self) -> bool {
        let last = self.values.last_key_value().map(|(hash, _)| *hash);
        self.values.len() <= K
            && (self.is_whole() || self.values.len() == K && last == Some(self.largest))
    }

    /// Whether nothing was dropped, so that the sample has every item.
    pub fn is_whole(&self) -> bool {
        self.largest == u64::MAX
    }

    /// The largest hash that may be in the sample.
    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// The sample, by hash.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&u64, &V)> {
        self.values.iter()
    }

    /// The values of the sample.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.values.values()
    }
}

impl SampledTags {
    /// Adds keys of a tag.
    #[inline]
    pub(crate) fn add(&mut self, hash: u64, keys: u64) {
        if keys > 0 {
            self.update(hash, || 0, |count| *count = count.saturating_add(keys));
        }
    }

    /// Adds one key of each tag.
    pub(crate) fn add_keys(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.add(*hash, 1));
    }

    /// Merges another sample.
    pub(crate) fn merge(&mut self, other: Self) {
        self.merge_with(other, |mine, theirs| *mine = mine.saturating_add(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;

    fn sample(hashes: &[u64]) -> SampledTags {
        let mut sample = SampledTags::default();
        sample.add_keys(hashes);
        sample
    }

    #[test]
    fn samples_that_no_scan_writes_are_told() {
        let hashes: Vec<u64> = (0..=SAMPLED as u64)
            .map(|i| hash(&i.to_le_bytes()))
            .collect();
        for (items, is_whole) in [(3, true), (SAMPLED, true), (SAMPLED + 1, false)] {
            let sample = sample(&hashes[..items]);
            assert_eq!((sample.is_sound(), sample.is_whole()), (true, is_whole));
        }
        let mut few = sample(&hashes[..3]);
        few.largest = hashes[0];
        let mut many = sample(&hashes[1..]);
        many.values.insert(hashes[0], 1);
        assert!(!few.is_sound() && !many.is_sound());
    }

    #[test]
    fn it_is_the_same_for_any_order_and_any_parts_and_counts_each_tag_whole() {
        let tags: Vec<u64> = (0..200_000u64)
            .map(|i| hash(&(i * i % 70_001).to_le_bytes()))
            .collect();
        let whole = sample(&tags);
        assert_eq!(whole.values().len(), SAMPLED);
        let mut turned = tags.clone();
        turned.reverse();
        assert_eq!(sample(&turned), whole);
        for cut in [0, 1, 9, 20_000, 150_000] {
            let mut parts = sample(&tags[..cut]);
            parts.merge(sample(&tags[cut..]));
            assert_eq!(parts, whole, "cut at {cut}");
        }
        let mut truth: BTreeMap<u64, u64> = BTreeMap::new();
        tags.iter()
            .for_each(|tag| *truth.entry(*tag).or_default() += 1);
        assert!(truth.into_iter().take(SAMPLED).eq(whole.values));
    }
}
