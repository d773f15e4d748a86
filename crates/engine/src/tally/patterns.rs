//! Patterns of key names: keys that differ only in their ids are counted together, with the machinery of hash tags.
//!
//! Beyond the table size, coarser patterns are counted exactly. If even the coarsest are too many, a second pass
//! recounts the heavy ones of the finest level, or in a single pass they are tracked by name.

use serde::{Deserialize, Serialize};

use crate::hash::hash;
use crate::metric::Load;
use crate::name::Name;
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::by_place::SlotsOfPatterns;
use crate::tally::coarse_patterns::CoarsePatterns;
use crate::tally::pattern_recount::PatternRecount;
use crate::tally::recent_patterns::{PatternCounts, RecentPatterns};
use crate::tally::recount::Candidates;
use crate::tally::slot_sets::SlotSets;
use crate::tally::table::Full;
use crate::tally::tags::{TagCounter, TagCounts};

/// Loads by pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    counts: TagCounter,
    /// Coarser patterns, if the table overflowed.
    coarse: Option<CoarsePatterns>,
    slots: SlotSets,
    separator: Vec<u8>,
    /// The result of a second pass.
    again: Option<SecondPassCounts>,
    #[serde(skip)]
    recent: RecentPatterns,
}

/// The heavy patterns, if there are too many at every level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SecondPassCounts {
    /// Exact counts.
    pub rows: Vec<(Name, Load)>,
    /// An upper bound on any other pattern.
    pub max_error: Load,
}

impl Patterns {
    /// Counts keys whose segments are separated by `separator`; `follow` if the input can be read only once.
    pub fn new(separator: &[u8], follow: bool) -> Self {
        Patterns {
            counts: TagCounter::new(follow),
            coarse: None,
            slots: SlotSets::default(),
            separator: separator.to_vec(),
            again: None,
            recent: RecentPatterns::default(),
        }
    }

    /// Whether another one counts the same patterns in the same way.
    pub(crate) fn is_like(&self, other: &Patterns) -> bool {
        self.separator == other.separator && self.counts.is_like(&other.counts)
    }

    /// The counts of the patterns.
    pub fn counts(&self) -> &TagCounts {
        &self.counts.counts
    }

    /// Coarser patterns, if there are too many.
    pub fn coarse(&self) -> Option<&CoarsePatterns> {
        self.coarse.as_ref()
    }

    /// The patterns worth a second pass; `None` if none is needed.
    pub fn candidates(&self) -> Option<Candidates> {
        let coarse = self.coarse.as_ref()?;
        let TagCounts::CountMin(rows) = self.counts() else {
            return None;
        };
        let is_enough = coarse.table().is_some();
        (!is_enough).then(|| Candidates::of_names(rows.clone()))
    }

    /// Merges the counts of a second pass.
    pub fn take_again(&mut self, again: &PatternRecount) {
        self.again = Some(SecondPassCounts {
            rows: again.rows(),
            max_error: again.max_error(),
        });
    }

    /// The result of a second pass.
    pub fn again(&self) -> Option<&SecondPassCounts> {
        self.again.as_ref()
    }

    /// The distinct slots of a counted pattern's keys; `None` if there are too many patterns.
    pub fn slots(&self, pattern: &[u8]) -> Option<impl Iterator<Item = u16>> {
        self.slots.of(hash(pattern))
    }

    /// Takes the coarser patterns, computing them now if the table did not overflow.
    fn take_coarse(&mut self) -> Option<CoarsePatterns> {
        match &self.counts.counts {
            TagCounts::Exact(table) => Some(CoarsePatterns::of(table, &self.separator)),
            _ => self.coarse.take(),
        }
    }
}

impl PatternCounts for Patterns {
    fn count(&mut self, hash: u64, name: &[u8], load: Load) {
        if let TagCounts::Exact(table) = &mut self.counts.counts {
            match table.add(hash, name, load) {
                Ok(()) => return,
                Err(Full) => self.coarse = Some(CoarsePatterns::of(table, &self.separator)),
            }
        }
        if let Some(coarse) = &mut self.coarse {
            coarse.add(name, load);
        }
        self.counts.add_known(hash, name, load);
    }

    fn set_of(&mut self, hash: u64) -> u32 {
        self.slots.place(hash)
    }
}

impl SlotsOfPatterns for Patterns {
    #[inline(always)]
    fn add_slot(&mut self, set: u32, slot: u16) {
        self.slots.add(set, slot);
    }

    fn has_all_slots(&self, set: u32) -> bool {
        self.slots.has_all(set)
    }
}

impl Tally for Patterns {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut recent = std::mem::take(&mut self.recent);
        recent.add(keys, self);
        self.recent = recent;
    }

    fn merge(&mut self, mut other: Self) {
        match (&self.counts.counts, &other.counts.counts) {
            (TagCounts::Exact(_), TagCounts::Exact(theirs)) => {
                let rows = theirs.iter();
                rows.for_each(|(name, hash, load)| self.count(hash, name, load));
            }
            _ => {
                self.coarse = self.take_coarse();
                let pair = self.coarse.as_mut().zip(other.take_coarse());
                pair.into_iter()
                    .for_each(|(mine, theirs)| mine.merge(theirs));
                self.counts.merge(other.counts);
            }
        }
        self.slots.merge(other.slots);
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
                let mut patterns = Patterns::new(b":", false);
                let mut columns = SlotColumns::default();
                let batch = KeyBatch { base: block.padded(), keys: &spans, values: &values };
                patterns.add(&columns.compute(kernel, batch, 0));
                let TagCounts::Exact(table) = patterns.counts() else { panic!("few patterns are exact") };
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
