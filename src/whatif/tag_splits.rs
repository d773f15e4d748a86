//! Counts tags whose keys end up in different slots.
//!
//! Counts every tag up to a budget; beyond it, a sample of those with the smallest hashes, which does not depend on
//! order.

use serde::Serialize;

use slotscope_count::tally::sketch::bottom_k::BottomK;

/// Maximum tags for complete counting, and tags in a sample of more.
const MAX_TAGS: usize = 1 << 16;

/// Stands for several slots.
const SEVERAL: u16 = u16::MAX;

/// The slot of each tag's keys, or `SEVERAL`, by tag hash.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TagSplits(BottomK<u16, MAX_TAGS>);

/// How many tags have keys in several slots.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SplitTags {
    /// Whether every tag was looked at; else a sample was.
    pub exact: bool,
    /// Tags that were looked at.
    pub tags: u64,
    /// Those of them whose keys are in several slots.
    pub split: u64,
}

impl TagSplits {
    /// Adds a key in `slot` with the tag of this hash.
    pub(crate) fn add(&mut self, hash: u64, slot: u16) {
        self.0
            .update(hash, || slot, |known| merge_slot(known, slot));
    }

    /// Merges the splits of another worker.
    pub(crate) fn merge(&mut self, other: TagSplits) {
        self.0.merge_with(other.0, merge_slot);
    }

    /// The number of tags with keys in several slots.
    pub(crate) fn count(self) -> SplitTags {
        let slots = self.0.values();
        SplitTags {
            exact: self.0.is_whole(),
            tags: slots.len() as u64,
            split: slots.filter(|slot| **slot == SEVERAL).count() as u64,
        }
    }
}

fn merge_slot(known: &mut u16, slot: u16) {
    if *known != slot {
        *known = SEVERAL;
    }
}

impl SplitTags {
    /// How many of `distinct` tags are split: counted, or estimated from the sample.
    pub(crate) fn of_all(&self, distinct: u64) -> u64 {
        if self.exact {
            self.split
        } else {
            (self.split as f64 / self.tags.max(1) as f64 * distinct as f64).round() as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::hash::hash;

    /// Three keys per tag; those of every fourth tag end up in different slots.
    fn keys(tags: u32) -> Vec<(u64, u16)> {
        let key = |i: u32| {
            let (tag, copy) = (i % tags, i / tags);
            (
                hash(&tag.to_le_bytes()),
                if tag % 4 == 0 { copy as u16 } else { 7 },
            )
        };
        (0..3 * tags).map(key).collect()
    }

    fn count(keys: impl Iterator<Item = (u64, u16)>) -> TagSplits {
        let mut tag_splits = TagSplits::default();
        keys.for_each(|(hash, slot)| tag_splits.add(hash, slot));
        tag_splits
    }

    #[test]
    fn few_tags_are_counted_exactly() {
        let split = count(keys(1000).into_iter()).count();
        assert_eq!(
            split,
            SplitTags {
                exact: true,
                tags: 1000,
                split: 250
            }
        );
        assert_eq!(split.of_all(1000), 250);
    }

    #[test]
    fn many_tags_are_sampled_the_same_way_in_any_order_and_any_parts() {
        let keys = keys(200_000);
        let forward = count(keys.iter().copied()).count();
        assert_eq!((forward.exact, forward.tags), (false, MAX_TAGS as u64));
        assert_eq!(count(keys.iter().rev().copied()).count(), forward);
        let mut merged = TagSplits::default();
        keys.chunks(70_000)
            .rev()
            .for_each(|part| merged.merge(count(part.iter().copied())));
        assert_eq!(merged.count(), forward);
        let all = forward.of_all(200_000) as f64;
        assert!((all / 50_000.0 - 1.0).abs() < 0.1, "{all}");
    }
}
