//! The second pass over patterns that are too many even at their coarsest: counts those exactly that the two rows of
//! the first pass cannot rule out as heavy.

use std::sync::Arc;

use crate::metric::Load;
use crate::name::Name;
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::by_place::SlotsOfPatterns;
use crate::tally::recent_patterns::{PatternCounts, RecentPatterns};
use crate::tally::recount::{Candidates, Recount};
use crate::tally::sketch::buckets::Buckets;

/// Exact counts of the candidates.
#[derive(Debug, Clone)]
pub struct PatternRecount {
    recount: Recount,
    recent: RecentPatterns,
}

impl PatternRecount {
    /// An empty count.
    pub fn new(candidates: Arc<Candidates>) -> Self {
        PatternRecount {
            recount: Recount::new(candidates),
            recent: RecentPatterns::default(),
        }
    }

    /// The counts.
    pub fn into_counted(self) -> Buckets {
        self.recount.into_counted()
    }

    /// Merges the counts of other keys for the same candidates; false if they do not match.
    pub fn take(&mut self, counted: Buckets) -> bool {
        self.recount.take(counted)
    }

    /// Every counted pattern by name, with its load.
    pub(crate) fn rows(&self) -> Vec<(Name, Load)> {
        let tags = self.recount.tags();
        let mut rows: Vec<_> = tags.map(|(name, load)| (name.clone(), load)).collect();
        rows.sort();
        rows
    }

    /// An upper bound on any pattern not counted.
    pub(crate) fn max_error(&self) -> Load {
        self.recount.max_error()
    }
}

impl PatternCounts for PatternRecount {
    fn count(&mut self, hash: u64, name: &[u8], load: Load) {
        self.recount.count_name(hash, name, load);
    }

    fn set_of(&mut self, _: u64) -> u32 {
        0
    }
}

/// Slots were counted in the first pass.
impl SlotsOfPatterns for PatternRecount {
    fn add_slot(&mut self, _: u32, _: u16) {}

    fn has_all_slots(&self, _: u32) -> bool {
        true
    }
}

impl Tally for PatternRecount {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut recent = std::mem::take(&mut self.recent);
        recent.add(keys, self);
        self.recent = recent;
    }

    fn merge(&mut self, other: Self) {
        self.recount.merge(other.recount);
    }
}
