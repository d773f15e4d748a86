//! Patterns of key names: keys that differ only in their ids are counted together. Beyond the table size, coarser
//! patterns are counted.

use serde::{Deserialize, Serialize};

use slotscope_base::hash::hash;
use slotscope_base::slot::SlotBatch;

use crate::pattern::coarse::COARSEST;
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
