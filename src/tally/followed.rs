//! Heavy tags by name in one pass: a tag is taken in once its cells hold more than 1/4096 of all tagged keys.
//!
//! From then on its keys are counted; what it may have held before is what its cells held. So its true count lies
//! between `keys` and `ceiling`, and a tag that was never taken in, or gave way, holds no more than `bound`.

use serde::{Deserialize, Serialize};

use super::buckets::{Buckets, Counted};
use super::heavy::Rows;
use super::table::NameTable;
use super::tagged::list;

/// A tag is followed from this part of all tagged keys on: so few pass it that they fit the buckets.
const FOLLOWED_PART: u64 = 4096;

/// The rows, and the heavy tags by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Followed {
    /// Every tag, in cells.
    pub rows: Rows,
    tags: Buckets,
    total: u64,
    #[serde(skip)]
    ceilings: Vec<u64>,
    #[serde(skip)]
    heavy: Vec<u32>,
}

/// The scratch columns are not part of the value.
impl PartialEq for Followed {
    fn eq(&self, other: &Self) -> bool {
        (&self.rows, &self.tags, self.total) == (&other.rows, &other.tags, other.total)
    }
}

impl Followed {
    /// Starts from the rows and the table that they were made from, whose counts are exact.
    pub fn of(rows: Rows, table: &NameTable) -> Self {
        let total = table.iter().map(|(_, _, keys)| keys).sum();
        let tags = Buckets::default();
        let mut followed = Followed { rows, tags, total, ceilings: Vec::new(), heavy: Vec::new() };
        for (name, hash, keys) in table.iter().filter(|(_, _, keys)| keys * FOLLOWED_PART > total) {
            followed.tags.enter(hash, name, keys, keys);
        }
        followed
    }

    /// Adds keys of a tag.
    pub fn add(&mut self, hash: u64, name: &[u8], keys: u64) {
        self.total += keys;
        self.rows.add(hash, keys);
        let at_most = self.rows.at_most(hash);
        if at_most * FOLLOWED_PART > self.total {
            self.follow(hash, name, keys, at_most);
        }
    }

    /// Adds a key for each of `hashes`; `name` gives the name of the tag.
    #[inline]
    pub fn add_all<'n>(&mut self, hashes: &[u64], name: impl Fn(usize) -> &'n [u8]) {
        self.total += hashes.len() as u64;
        // A tag may be taken in a little early in the batch, never late.
        let floor = (self.total - hashes.len() as u64) / FOLLOWED_PART;
        let (rows, ceilings) = (&mut self.rows, &mut self.ceilings);
        ceilings.clear();
        ceilings.extend(hashes.iter().map(|hash| {
            rows.add(*hash, 1);
            rows.at_most(*hash)
        }));
        let mut heavy = std::mem::take(&mut self.heavy);
        list(&mut heavy, hashes.len(), |i| self.ceilings[i] > floor);
        for i in heavy.iter().map(|i| *i as usize) {
            self.follow(hashes[i], name(i), 1, self.ceilings[i]);
        }
        self.heavy = heavy;
    }

    fn follow(&mut self, hash: u64, name: &[u8], keys: u64, at_most: u64) {
        match self.tags.find(hash, name) {
            Some(tag) => (tag.keys, tag.ceiling) = (tag.keys + keys, tag.ceiling + keys),
            None => self.tags.enter(hash, name, keys, at_most),
        }
    }

    /// No tag that is not followed holds more than this.
    pub fn bound(&self) -> u64 {
        (self.total / FOLLOWED_PART).max(self.tags.left_out)
    }

    /// The followed tags: what was counted, and what it cannot exceed.
    pub fn tags(&self) -> impl Iterator<Item = (&Counted, u64)> {
        self.tags.iter().map(|tag| (tag, tag.ceiling.min(self.rows.at_most(tag.hash))))
    }

    /// Takes over another part of the input: a tag that only one part followed may have held up to the bound of the
    /// other there.
    pub fn merge(&mut self, mut other: Followed) {
        let (mine, theirs) = (self.bound(), other.bound());
        let mut both = Buckets::default();
        both.left_out = mine + theirs;
        for tag in self.tags.iter() {
            let there = other.tags.find(tag.hash, &tag.name.0).map(|tag| (tag.keys, tag.ceiling));
            let (keys, ceiling) = there.unwrap_or((0, theirs.min(other.rows.at_most(tag.hash))));
            both.enter(tag.hash, &tag.name.0, tag.keys + keys, tag.ceiling + ceiling);
        }
        for tag in other.tags.iter() {
            if self.tags.find(tag.hash, &tag.name.0).is_none() {
                let missed = mine.min(self.rows.at_most(tag.hash));
                both.enter(tag.hash, &tag.name.0, tag.keys, tag.ceiling + missed);
            }
        }
        self.tags = both;
        self.rows.merge(&other.rows);
        self.total += other.total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts names that all have one hash, a heavy one among them.
    fn colliding(names: u64) -> Followed {
        let mut followed = Followed::of(Rows::new(), &NameTable::default());
        for i in 0..names {
            followed.add(7, &i.to_le_bytes(), 1);
            followed.add(7, b"heavy", 1);
        }
        followed
    }

    #[test]
    fn names_that_all_collide_are_told_apart_or_bounded() {
        let mut parts = colliding(5000);
        parts.merge(colliding(300));
        for (tag, ceiling) in parts.tags() {
            let truth = match tag.name.0.as_slice() {
                b"heavy" => 5300,
                i => 1 + u64::from(u64::from_le_bytes(i.try_into().unwrap()) < 300),
            };
            assert!((tag.keys..=ceiling).contains(&truth), "{}: {}..={ceiling}", tag.name, tag.keys);
        }
        assert!(parts.tags().any(|(tag, _)| tag.name.0 == b"heavy") || parts.bound() >= 5300);
    }
}
