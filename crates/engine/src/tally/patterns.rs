//! Patterns of key names: keys that differ only in their ids are counted together. Beyond the table size, coarser
//! patterns are counted.

use serde::{Deserialize, Serialize};

use crate::hash::hash;
use crate::pattern::coarse::COARSEST;
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::pattern_counts::PatternCounts;
use crate::tally::recent_patterns::RecentPatterns;
use crate::tally::table::NameTable;

/// Loads by pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    counts: PatternCounts,
    #[serde(skip)]
    recent: RecentPatterns,
}

impl Patterns {
    /// Counts keys whose segments are separated by `separator`.
    pub fn new(separator: &[u8]) -> Self {
        Patterns {
            counts: PatternCounts::new(separator),
            recent: RecentPatterns::default(),
        }
    }

    /// Whether another one counts the same patterns in the same way.
    pub(crate) fn is_like(&self, other: &Patterns) -> bool {
        self.counts.separator == other.counts.separator
    }

    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        self.counts.level <= COARSEST + 1
    }

    /// 0 if each pattern is counted; else how much coarser they are.
    pub fn coarseness(&self) -> u8 {
        self.counts.level
    }

    /// The counts of the patterns; `None` if there are too many at any level.
    pub fn table(&self) -> Option<&NameTable> {
        self.counts.table.as_ref()
    }

    /// The distinct slots of a counted pattern's keys; `None` if there are too many patterns.
    pub fn slots(&self, pattern: &[u8]) -> Option<impl Iterator<Item = u16>> {
        self.counts.slots.of(hash(pattern))
    }
}

impl Tally for Patterns {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.recent.add(keys, &mut self.counts);
    }

    fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
        // Sets may have been dropped or moved.
        self.recent = RecentPatterns::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{KeyBatch, Spans, Values};
    use crate::metric::Metric;
    use crate::slot::SlotColumns;
    use crate::slot::{slot, tag};
    use crate::source::block::Block;
    use crate::tally::counted_pattern::Counted;
    use proptest::prelude::*;
    use slotscope_keyname::ids;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn every_kernel_counts_what_a_map_counts(keys in prop::collection::vec("(user|v1|s:)?(:[0-9a-f]{1,9}){0,3}|.{0,80}", 1..200)) {
            let mut truth: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            let mut slots: BTreeMap<Vec<u8>, BTreeSet<u16>> = BTreeMap::new();
            let (mut content, mut spans) = (Vec::new(), Spans::default());
            for key in keys.iter().map(String::as_bytes) {
                let pattern = Counted::written(&ids::pattern_of(key), tag(key).is_some());
                *truth.entry(pattern.clone()).or_default() += 1;
                slots.entry(pattern).or_default().insert(slot(key));
                spans.push(content.len() as u32, (content.len() + key.len()) as u32);
                content.extend_from_slice(key);
            }
            let block = Block::from_bytes(&content);
            let values = Values::default();
            for kernel in hashslot::available() {
                let mut patterns = Patterns::new(b":");
                let mut columns = SlotColumns::default();
                let batch = KeyBatch { base: block.padded(), keys: &spans, values: &values };
                patterns.add(&columns.compute(kernel, batch, 0));
                let table = patterns.table().expect("few patterns are exact");
                let found: BTreeMap<Vec<u8>, u64> =
                    table.iter().map(|(name, _, load)| (name.to_vec(), load[Metric::Keys])).collect();
                prop_assert_eq!(&found, &truth, "{}", kernel.name);
                for (pattern, slots) in &slots {
                    let found = patterns.slots(pattern).map(|slots| slots.collect::<BTreeSet<_>>());
                    prop_assert_eq!(found.as_ref(), Some(slots), "{}", kernel.name);
                }
            }
        }
    }
}
