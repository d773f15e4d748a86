//! The second pass over the input: an exact count of every tag that the two rows of the first pass cannot rule
//! out as a heavy one, and of every tag of the hottest slots.
//!
//! Which tags are kept depends on the rows and the tags alone: a bucket keeps those with the highest rank, and a tag
//! that is among them in the end is among them in any part of the input too, so it is counted from its first key on,
//! on every thread.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Tally;
use super::buckets::Buckets;
use super::heavy::{Rows, cells_of};
use super::tagged::{Tagged, list};
use crate::name::Name;
use crate::slot::{SLOTS, SlotBatch};

/// The largest cells of each row that are followed up.
const FOLLOWED_CELLS: usize = 512;
/// The hottest slots of which every tag is counted.
pub const FOLLOWED_SLOTS: usize = 20;

/// Which tags are worth counting, from what the first pass found.
#[derive(Debug)]
pub struct Candidates {
    rows: Box<Rows>,
    /// Cells that are followed up, in each row: a bit a cell, so that they stay in the L1 cache.
    large: [Vec<u64>; 2],
    /// For each slot what of it is counted.
    slots: Vec<Follow>,
    /// No tag outside the followed cells holds more than this.
    cut_off: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Follow {
    /// Nothing: the slot holds fewer keys than a heavy tag.
    Nothing,
    /// Tags whose cells are followed in both rows.
    Heavy,
    /// Every tag.
    All,
}

impl Candidates {
    /// Chooses from the rows and the keys by slot.
    pub fn choose(rows: Box<Rows>, keys_by_slot: &[u64]) -> Self {
        let cut_offs = [0, 1].map(|row| nth_largest(rows.row(row), FOLLOWED_CELLS));
        let large = [0, 1].map(|row| bits(rows.row(row), |cell| cell > cut_offs[row]));
        let cut_off = cut_offs[0].max(cut_offs[1]);
        let mut slots: Vec<_> =
            keys_by_slot.iter().map(|keys| if *keys > cut_off { Follow::Heavy } else { Follow::Nothing }).collect();
        hottest(keys_by_slot).for_each(|slot| slots[slot] = Follow::All);
        Candidates { rows, large, slots, cut_off }
    }

    /// What the first pass found.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    #[inline]
    fn wants(&self, hash: u64, slot: u16) -> bool {
        let [first, second] = cells_of(hash);
        let in_large = self.large[0][first / 64] >> (first % 64) & self.large[1][second / 64] >> (second % 64) & 1;
        (in_large != 0) | (self.slots[usize::from(slot)] == Follow::All)
    }
}

/// The slots with the most keys, ties by number; empty ones are not hot.
pub fn hottest(keys_by_slot: &[u64]) -> impl Iterator<Item = usize> {
    let mut order: Vec<usize> = (0..keys_by_slot.len().min(SLOTS)).filter(|slot| keys_by_slot[*slot] > 0).collect();
    order.sort_by_key(|slot| (Reverse(keys_by_slot[*slot]), *slot));
    order.into_iter().take(FOLLOWED_SLOTS)
}

/// A bit for each value, set where it `is` what is looked for.
fn bits(row: &[u64], is: impl Fn(u64) -> bool) -> Vec<u64> {
    row.chunks(64).map(|cells| cells.iter().rev().fold(0, |bits, cell| bits << 1 | u64::from(is(*cell)))).collect()
}

/// The value that at most `n` values of `row` exceed.
fn nth_largest(row: &[u64], n: usize) -> u64 {
    let mut values = row.to_vec();
    let (_, value, _) = values.select_nth_unstable_by_key(n, |value| Reverse(*value));
    *value
}

/// Exact counts of the candidates.
#[derive(Debug, Clone)]
pub struct Recount {
    candidates: Arc<Candidates>,
    counted: Buckets,
    tagged: Tagged,
    wanted: Vec<u32>,
}

impl Recount {
    /// Nothing counted yet.
    pub fn new(candidates: Arc<Candidates>) -> Self {
        Recount { candidates, counted: Buckets::default(), tagged: Tagged::default(), wanted: Vec::new() }
    }

    /// Every counted tag and its keys.
    pub fn tags(&self) -> impl Iterator<Item = (&Name, u64)> {
        self.counted.iter().map(|tag| (&tag.name, tag.keys))
    }

    /// No tag that is not counted holds more than this.
    pub fn max_error(&self) -> u64 {
        self.candidates.cut_off.max(self.counted.left_out)
    }

    /// The candidates.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// The rank of a tag is what the rows allow it, which no part of the input changes.
    fn count(&mut self, hash: u64, name: &[u8], keys: u64) {
        match self.counted.find(hash, name) {
            Some(tag) => tag.keys += keys,
            None => self.counted.enter(hash, name, keys, self.candidates.rows.at_most(hash)),
        }
    }
}

impl Tally for Recount {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let candidates = self.candidates.clone();
        let (mut tagged, mut wanted) = (std::mem::take(&mut self.tagged), std::mem::take(&mut self.wanted));
        tagged.find(keys, |slot| candidates.slots[usize::from(slot)] != Follow::Nothing);
        let slot = |i: usize| keys.slots[tagged.keys[i] as usize];
        list(&mut wanted, tagged.keys.len(), |i| candidates.wants(tagged.hashes[i], slot(i)));
        for i in wanted.iter().map(|i| *i as usize) {
            let name = keys.hashed.get(keys.batch.base, tagged.keys[i] as usize);
            self.count(tagged.hashes[i], name, 1);
        }
        (self.tagged, self.wanted) = (tagged, wanted);
    }

    fn merge(&mut self, other: Self) {
        self.counted.left_out = self.counted.left_out.max(other.counted.left_out);
        for tag in other.counted.into_names() {
            self.count(tag.hash, &tag.name.0, tag.keys);
        }
    }
}
