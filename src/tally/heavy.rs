//! Frequent hash tags in bounded memory: every tag exactly while they fit a table, past that two rows of counters
//! from which the heavy ones can be found again (`recount`).
//!
//! A row adds each tag to the one of its 2^16 cells that the tag's hash names, so a cell never holds less than any
//! of its tags (Cormode & Muthukrishnan, "Count-Min sketch", 2005). Adding rows is merging them: the order of keys,
//! the cut and the number of threads do not show.

use serde::{Deserialize, Serialize};

use super::Tally;
use super::distinct::Distinct;
use super::followed::Followed;
use super::slots::add_all;
use super::table::NameTable;
use super::tagged::Tagged;
use crate::slot::SlotBatch;

/// Cells in a row.
pub const CELLS: usize = 1 << 16;

/// Counts of hash tags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeavyTags {
    /// Keys that have a hash tag.
    pub tagged: u64,
    /// What is known of the tags.
    pub counts: TagCounts,
    /// Whether heavy tags are followed by name past the table, because there is no second pass.
    follow: bool,
    #[serde(skip)]
    scratch: Tagged,
}

/// What is known of the tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TagCounts {
    /// Every tag and how many keys it has.
    Exact(NameTable),
    /// There are too many: cells of counters, and how many tags there are.
    Rows(Box<Rows>),
    /// The same, and the names of heavy tags.
    Followed(Box<Followed>),
}

impl Default for TagCounts {
    fn default() -> Self {
        TagCounts::Exact(NameTable::default())
    }
}

/// Two rows of cells and the registers that tell how many tags went in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    cells: [Vec<u64>; 2],
    /// How many distinct tags there are.
    pub distinct: Distinct,
}

impl Rows {
    pub(super) fn new() -> Self {
        Rows { cells: [vec![0; CELLS], vec![0; CELLS]], distinct: Distinct::default() }
    }

    #[inline]
    pub(super) fn add(&mut self, hash: u64, count: u64) {
        let [first, second] = cells_of(hash);
        self.cells[0][first] += count;
        self.cells[1][second] += count;
        self.distinct.add(hash);
    }

    pub(super) fn merge(&mut self, other: &Rows) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(cells, other)| add_all(cells, other));
        self.distinct.merge(&other.distinct);
    }

    /// No tag with this hash holds more than this.
    pub fn at_most(&self, hash: u64) -> u64 {
        let [first, second] = cells_of(hash);
        self.cells[0][first].min(self.cells[1][second])
    }

    /// The cells of row `row`.
    pub fn row(&self, row: usize) -> &[u64] {
        &self.cells[row]
    }

    /// An unbiased estimate of the sum of the squared tag counts, standard error at most sqrt(2 / 2^16) = 0.55 %:
    /// with W keys in m cells, the expected sum of squared cells is F2 + (W^2 - F2) / m.
    pub fn second_moment(&self) -> f64 {
        let m = CELLS as f64;
        let total: f64 = self.cells[0].iter().map(|cell| *cell as f64).sum();
        let squares: f64 = self.cells[0].iter().map(|cell| (*cell as f64).powi(2)).sum();
        ((m * squares - total * total) / (m - 1.0)).max(total)
    }
}

/// The cells of a hash, one in each row; independent bits of it.
pub fn cells_of(hash: u64) -> [usize; 2] {
    [hash as usize % CELLS, (hash >> 16) as usize % CELLS]
}

impl HeavyTags {
    /// Nothing counted yet; `follow` where the input can be read only once.
    pub fn new(follow: bool) -> Self {
        HeavyTags { follow, ..HeavyTags::default() }
    }

    /// Gives up the table; what is in it goes to the rows.
    fn spill(&mut self) {
        let TagCounts::Exact(table) = &self.counts else { return };
        let mut rows = Rows::new();
        table.iter().for_each(|(_, hash, keys)| rows.add(hash, keys));
        self.counts = match self.follow {
            true => TagCounts::Followed(Box::new(Followed::of(rows, table))),
            false => TagCounts::Rows(Box::new(rows)),
        };
    }

    /// Adds keys of one tag that is known by name.
    fn add_known(&mut self, hash: u64, name: &[u8], keys: u64) {
        if let TagCounts::Exact(table) = &mut self.counts
            && table.add(hash, name, keys) == Ok(())
        {
            return;
        }
        self.spill();
        match &mut self.counts {
            TagCounts::Exact(_) => {}
            TagCounts::Rows(rows) => rows.add(hash, keys),
            TagCounts::Followed(followed) => followed.add(hash, name, keys),
        }
    }
}

impl Tally for HeavyTags {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let mut tagged = std::mem::take(&mut self.scratch);
        tagged.find(keys, |_| true);
        self.tagged += tagged.keys.len() as u64;
        let name = |key: u32| keys.hashed.get(keys.batch.base, key as usize);
        let mut done = 0;
        // The table may fill up in the middle of the batch; the rest of it goes to the rows.
        while let TagCounts::Exact(_) = self.counts
            && done < tagged.keys.len()
        {
            self.add_known(tagged.hashes[done], name(tagged.keys[done]), 1);
            done += 1;
        }
        let (keys, hashes) = (&tagged.keys[done..], &tagged.hashes[done..]);
        match &mut self.counts {
            TagCounts::Exact(_) => {}
            TagCounts::Rows(rows) => hashes.iter().for_each(|hash| rows.add(*hash, 1)),
            TagCounts::Followed(followed) => followed.add_all(hashes, |i| name(keys[i])),
        }
        self.scratch = tagged;
    }

    fn merge(&mut self, mut other: Self) {
        self.tagged += other.tagged;
        if let TagCounts::Exact(theirs) = &other.counts
            && !matches!(self.counts, TagCounts::Followed(_))
        {
            theirs.iter().for_each(|(name, hash, keys)| self.add_known(hash, name, keys));
            return;
        }
        self.spill();
        other.spill();
        match (&mut self.counts, other.counts) {
            (TagCounts::Rows(mine), TagCounts::Rows(theirs)) => mine.merge(&theirs),
            (TagCounts::Followed(mine), TagCounts::Followed(theirs)) => mine.merge(*theirs),
            _ => unreachable!("tallies of one scan follow tags, or none does"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::hash::hash;

    fn rows(tags: impl Iterator<Item = (String, u64)>) -> Rows {
        let mut rows = Rows::new();
        tags.for_each(|(tag, count)| rows.add(hash(tag.as_bytes()), count));
        rows
    }

    #[test]
    fn a_cell_never_holds_less_than_a_tag_in_it() {
        let tags = || (0..200_000u64).map(|i| (format!("cart:{i}"), 1 + 1_000_000 / (i + 1)));
        let rows = rows(tags());
        assert!(tags().all(|(tag, count)| rows.at_most(hash(tag.as_bytes())) >= count));
    }

    #[test]
    fn the_second_moment_is_estimated_within_its_error() {
        let tags = || (0..100_000u64).map(|i| (format!("cart:{i}"), 1 + 100_000 / (i + 1)));
        let truth: f64 = tags().map(|(_, count)| (count * count) as f64).sum();
        let error = rows(tags()).second_moment() / truth - 1.0;
        assert!(error.abs() < 4.0 * 0.0055, "{error}");
    }
}
