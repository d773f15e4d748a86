//! A bounded sample of distinct items with everything counted for each: those with the smallest hashes (bottom-k
//! sampling, Cohen & Kaplan, "Summarizing data using bottom-k sketches", PODC 2007).
//!
//! An item in the final sample was in the sample of every part of the input, from its first key. The sample thus
//! does not depend on the order of keys, and samples of parts can be merged.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Tags in a `SampledTags`.
pub(crate) const SAMPLED: usize = 1 << 14;

/// Key counts of a sample of tags.
pub(crate) type SampledTags = BottomK<u64, SAMPLED, { 2 * SAMPLED - 1 }>;

/// The values of the `K` items with the smallest hashes. Items are identified by hash alone. Up to `MOST` are kept
/// before cutting: cutting is rare if that is much more than `K`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "SerializedSample<V>", try_from = "SerializedSample<V>")]
#[serde(bound(
    serialize = "V: Clone + Serialize",
    deserialize = "V: Deserialize<'de>"
))]
pub struct BottomK<V, const K: usize, const MOST: usize> {
    values: HashMap<u64, V>,
    /// An upper bound on the hashes in the sample.
    largest: u64,
}

/// The serialized form: items by hash, and whether others were dropped.
#[derive(Serialize, Deserialize)]
struct SerializedSample<V> {
    values: Vec<(u64, V)>,
    dropped: bool,
}

impl<V, const K: usize, const MOST: usize> From<BottomK<V, K, MOST>> for SerializedSample<V> {
    fn from(sample: BottomK<V, K, MOST>) -> Self {
        let (values, is_whole) = sample.into_sample();
        let mut values: Vec<(u64, V)> = values.into_iter().collect();
        values.sort_unstable_by_key(|(hash, _)| *hash);
        SerializedSample {
            values,
            dropped: !is_whole,
        }
    }
}

impl<V, const K: usize, const MOST: usize> TryFrom<SerializedSample<V>> for BottomK<V, K, MOST> {
    type Error = &'static str;

    fn try_from(listed: SerializedSample<V>) -> Result<Self, &'static str> {
        let len = listed.values.len();
        let last = listed.values.last().map(|(hash, _)| *hash);
        let values: HashMap<u64, V> = listed.values.into_iter().collect();
        let is_one = values.len() == len && len <= K && (!listed.dropped || len == K);
        let largest = last.filter(|_| listed.dropped).unwrap_or(u64::MAX);
        if is_one && values.keys().all(|hash| *hash <= largest) {
            Ok(BottomK { values, largest })
        } else {
            Err("a sample of the wrong size")
        }
    }
}

impl<V, const K: usize, const MOST: usize> Default for BottomK<V, K, MOST> {
    fn default() -> Self {
        BottomK {
            values: HashMap::new(),
            largest: u64::MAX,
        }
    }
}

impl<V, const K: usize, const MOST: usize> BottomK<V, K, MOST> {
    /// Whether the item with this hash may be in the sample; most items of a large input are not.
    #[inline]
    pub(crate) fn admits(&self, hash: u64) -> bool {
        hash <= self.largest
    }

    /// Updates the value of an item, created by `first` if new, provided it may be in the sample.
    #[inline]
    pub fn update(&mut self, hash: u64, first: impl FnOnce() -> V, change: impl FnOnce(&mut V)) {
        if self.admits(hash) {
            change(self.values.entry(hash).or_insert_with(first));
            if self.values.len() > MOST {
                self.cut();
            }
        }
    }

    /// Drops items beyond the sample.
    fn cut(&mut self) {
        if self.values.len() > K {
            let mut hashes: Vec<u64> = self.values.keys().copied().collect();
            let (_, largest, _) = hashes.select_nth_unstable(K - 1);
            self.largest = *largest;
            self.values.retain(|hash, _| *hash <= self.largest);
        }
    }

    /// Merges another sample; `combine` merges two values of one item.
    pub fn merge_with(&mut self, other: Self, combine: impl Fn(&mut V, V)) {
        self.largest = self.largest.min(other.largest);
        self.values.retain(|hash, _| *hash <= self.largest);
        for (hash, theirs) in other.values {
            if !self.admits(hash) {
                continue;
            }
            match self.values.get_mut(&hash) {
                Some(mine) => combine(mine, theirs),
                None => drop(self.values.insert(hash, theirs)),
            }
            if self.values.len() > MOST {
                self.cut();
            }
        }
    }

    /// Whether nothing was dropped so far, so that `whole` has every item.
    pub fn is_whole(&self) -> bool {
        self.largest == u64::MAX
    }

    /// Every item, if nothing was dropped; else the sample.
    pub fn whole(mut self) -> HashMap<u64, V> {
        if !self.is_whole() {
            self.cut();
        }
        self.values
    }

    /// The sample, and whether it has every item.
    pub fn into_sample(mut self) -> (HashMap<u64, V>, bool) {
        self.cut();
        (self.values, self.largest == u64::MAX)
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

    /// The key counts of the sampled tags.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.clone().into_sample().0.into_values()
    }
}

/// Ignores items that will not stay.
impl<V: Clone + PartialEq, const K: usize, const MOST: usize> PartialEq for BottomK<V, K, MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.clone().into_sample() == other.clone().into_sample()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;
    use std::collections::BTreeMap;

    fn sample(hashes: &[u64]) -> SampledTags {
        let mut sample = SampledTags::default();
        sample.add_keys(hashes);
        sample
    }

    #[test]
    fn it_is_the_same_for_any_order_and_any_parts_and_counts_each_tag_whole() {
        let tags: Vec<u64> = (0..200_000u64)
            .map(|i| hash(&(i * i % 70_001).to_le_bytes()))
            .collect();
        let whole = sample(&tags);
        assert_eq!(whole.sizes().count(), SAMPLED);
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
        assert!(
            truth.into_iter().take(SAMPLED).eq(whole
                .into_sample()
                .0
                .into_iter()
                .collect::<BTreeMap<_, _>>())
        );
    }
}
