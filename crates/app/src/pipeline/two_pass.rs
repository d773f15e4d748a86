//! Exact counts of the heavy hash tags in bounded memory.
//!
//! If the tags fit a table, and the inputs can be reread at the locations of keys whose tags need names, all tags are
//! counted in it. Otherwise in a Count-Min sketch, which holds any number of them but no names. The names with the
//! largest cells are candidates: a second pass compares names and counts just these.

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SlotBatch;
use slotscope_count::scan::shares::Share;
use slotscope_count::scan::{Incomplete, Scan, Scanned};
use slotscope_count::tally::present::{self, Present};
use slotscope_count::tally::recount::Recount;
use slotscope_count::tally::sketch::buckets::Buckets;
use slotscope_count::tally::{Tallies, Tally};
use slotscope_read::format::frame::walk::Walking;
use slotscope_read::source::Source;

/// The result of all passes.
pub struct Counted {
    /// Everything counted in the first pass.
    pub first: Scanned<Tallies>,
    /// The tags of the second pass; `None` if the first counted by name.
    pub recount: Option<Recount>,
    /// The number of passes.
    pub passes: u32,
}

/// The counts of a second pass.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecondPassCounts {
    tags: Option<Buckets>,
    present: Option<Vec<bool>>,
}

impl SecondPassCounts {
    /// Merges the counts of other keys.
    pub(crate) fn merge(&mut self, other: SecondPassCounts) {
        match (&mut self.tags, other.tags) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
        match (&mut self.present, other.present) {
            (Some(mine), Some(theirs)) => present::merge(mine, &theirs),
            (none @ None, theirs) => *none = theirs,
            (Some(_), None) => {}
        }
    }
}

/// The candidates for a second pass.
#[derive(Clone)]
pub(crate) struct SecondPass {
    tags: Option<Recount>,
    present: Option<Present>,
}

impl Tally for SecondPass {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.tags.add(keys);
        self.present.add(keys);
    }

    fn merge(&mut self, other: Self) {
        self.tags.merge(other.tags);
        self.present.merge(other.present);
    }
}

impl Counted {
    /// Adds to the number of passes.
    pub(crate) fn after(self, passes: u32) -> Self {
        Counted {
            passes: self.passes + passes,
            ..self
        }
    }

    /// The counts of one or two passes.
    pub(crate) fn of(mut first: Scanned<Tallies>, again: Option<SecondPass>) -> Self {
        let passes = 1 + u32::from(again.is_some());
        let (mut recount, names) = (None, first.tally.names.as_mut());
        if let (Some(again), Some(names)) = (again, names) {
            names.operations.absent = again.present.map(|present| present.absent());
            recount = again.tags;
        }
        first.tally.settle_operations();
        Counted {
            first,
            recount,
            passes,
        }
    }
}

impl SecondPass {
    /// The candidates for a second pass; `None` if the first needs none.
    pub(crate) fn of(tallies: &Tallies) -> Option<Self> {
        let names = tallies.names.as_ref()?;
        let tags = names.tags.recount(&tallies.slots.loads);
        // With keys present, operations are on keys that exist or do not.
        let has_both = tallies.slots.total() > 0 && !names.operations.is_empty();
        let is_wanted = has_both && !names.tags.follows();
        let present = is_wanted.then(|| Present::of(names.operations.busy_keys().keys));
        (tags.is_some() || present.is_some()).then_some(SecondPass { tags, present })
    }

    /// The counts.
    pub(crate) fn into_counted(self) -> SecondPassCounts {
        SecondPassCounts {
            tags: self.tags.map(Recount::into_counted),
            present: self.present.map(Present::into_found),
        }
    }

    /// Merges counts from elsewhere; false if they do not match.
    pub(crate) fn take(&mut self, counted: SecondPassCounts) -> bool {
        let tags = take(&mut self.tags, counted.tags, Recount::take);
        let present = take(&mut self.present, counted.present, Present::take);
        tags && present
    }

    /// The second pass, over inputs that the first could not read beyond the `known` places.
    ///
    /// # Errors
    /// As for `Scan::run`, or an input could not be reread to the same place.
    pub(crate) fn run(
        self,
        scan: &Scan<'_>,
        sources: &[Box<dyn Source>],
        known: &[Incomplete],
    ) -> Result<Self> {
        let shares: Vec<Share> = (0..sources.len()).map(Share::all_of).collect();
        self.run_shares(scan, sources, &shares, known)
    }

    /// Like `run`, for a share of each input.
    ///
    /// # Errors
    /// As for `run`.
    pub(crate) fn run_shares(
        self,
        scan: &Scan<'_>,
        sources: &[Box<dyn Source>],
        shares: &[Share],
        known: &[Incomplete],
    ) -> Result<Self> {
        // Either the input is unchanged since the first pass verified it, or the scan reports the change.
        let verifies = false;
        let walking = Walking {
            verifies,
            ..scan.walking
        };
        let again = scan.clone().walking(walking);
        let scanned = again.run_shares(sources, shares, || self.clone())?;
        let is_new = |stop: &&Incomplete| !known.contains(stop);
        let Some(stop) = scanned.incomplete.iter().find(is_new) else {
            return Ok(scanned.tally);
        };
        let file = Name::from(sources[stop.input].path());
        Err(Error::bad(
            format!("{file}: byte {}", stop.byte),
            stop.reason
                .clone()
                .words(" when it was read again to count names; --one-pass reads it once"),
        ))
    }
}

/// Merges counts; false if only one of the two is present, or they do not match.
fn take<T, C>(mine: &mut Option<T>, counted: Option<C>, add: fn(&mut T, C) -> bool) -> bool {
    match (mine, counted) {
        (Some(mine), Some(counted)) => add(mine, counted),
        (mine, counted) => mine.is_none() && counted.is_none(),
    }
}
