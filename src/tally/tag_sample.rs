//! How many keys a hash tag has, in bounded memory: a sample of tags, each counted from its first key on.
//!
//! It is the tags of smallest hash (bottom-k sampling, Cohen & Kaplan, "Summarizing data using bottom-k sketches", PODC
//! 2007). A tag that is among them in the end was among them in every part of the input, so the sample does not depend on
//! the order of the keys, and samples of parts make that of the whole.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Tags in the sample.
pub const SAMPLED: usize = 1 << 14;

/// Keys by tag, for the tags of smallest hash. A tag is known by its hash alone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TagSample {
    keys: HashMap<u64, u64>,
    /// No tag of the sample has a larger hash.
    largest: u64,
}

impl Default for TagSample {
    fn default() -> Self {
        TagSample { keys: HashMap::new(), largest: u64::MAX }
    }
}

impl TagSample {
    /// Adds keys of a tag.
    #[inline]
    pub fn add(&mut self, hash: u64, keys: u64) {
        if hash <= self.largest {
            self.add_to_sample(hash, keys);
        }
    }

    fn add_to_sample(&mut self, hash: u64, keys: u64) {
        let count = self.keys.entry(hash).or_default();
        *count = count.saturating_add(keys);
        // Seldom: it has to fill up again before the next time.
        if self.keys.len() >= 2 * SAMPLED {
            self.cut();
        }
    }

    /// Adds one key of each tag.
    pub fn add_keys(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|hash| self.add(*hash, 1));
    }

    /// Leaves no more tags than belong to the sample.
    fn cut(&mut self) {
        if self.keys.len() > SAMPLED {
            let mut hashes: Vec<u64> = self.keys.keys().copied().collect();
            let (_, largest, _) = hashes.select_nth_unstable(SAMPLED - 1);
            self.largest = *largest;
            self.keys.retain(|hash, _| *hash <= self.largest);
        }
    }

    /// Takes over another sample.
    pub fn merge(&mut self, other: Self) {
        self.largest = self.largest.min(other.largest);
        self.keys.retain(|hash, _| *hash <= self.largest);
        other.keys.into_iter().for_each(|(hash, keys)| self.add(hash, keys));
    }

    /// How many keys each tag of the sample has.
    pub fn sizes(&self) -> impl Iterator<Item = u64> {
        self.clone().into_cut().into_values()
    }

    fn into_cut(mut self) -> HashMap<u64, u64> {
        self.cut();
        self.keys
    }
}

/// Tags that are still there but will not stay are not part of the value.
impl PartialEq for TagSample {
    fn eq(&self, other: &Self) -> bool {
        self.clone().into_cut() == other.clone().into_cut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::hash;
    use std::collections::BTreeMap;

    fn sample(hashes: &[u64]) -> TagSample {
        let mut sample = TagSample::default();
        sample.add_keys(hashes);
        sample
    }

    #[test]
    fn it_is_the_same_for_any_order_and_any_parts_and_counts_each_tag_whole() {
        let tags: Vec<u64> = (0..200_000u64).map(|i| hash(&(i * i % 70_001).to_le_bytes())).collect();
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
        tags.iter().for_each(|tag| *truth.entry(*tag).or_default() += 1);
        assert!(truth.into_iter().take(SAMPLED).eq(whole.into_cut().into_iter().collect::<BTreeMap<_, _>>()));
    }
}
