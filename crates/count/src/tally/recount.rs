//! The second pass: counts exactly every tag that the two rows of the first pass cannot rule out as heavy, and every
//! tag of the hottest slots.
//!
//! The choice of tags depends only on the rows and the tags: a bucket keeps those of the highest rank. A tag kept at
//! the end is also kept in every part of the input, so it is counted from its first key, in every thread.

use std::cmp::Reverse;
use std::sync::Arc;

use slotscope_base::metric::{Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::{SLOTS, SlotBatch};

use crate::tally::Tally;
use crate::tally::sketch::buckets::{Buckets, Counted};
use crate::tally::sketch::count_min::{CELLS, CountMin, FOLLOWED_CELLS, cells_of, nth_largest};
use crate::tally::tagged::{Tagged, list};

/// The number of hottest slots with complete tag counts.
pub(crate) const FOLLOWED_SLOTS: usize = 20;

/// The tags worth counting, according to the first pass.
#[derive(Debug)]
pub(crate) struct Candidates {
    rows: Box<CountMin>,
    /// Cells to recount in each row: one bit per metric for each cell, to stay in the L2 cache.
    large: [Vec<u8>; 2],
    /// The tags to count of each slot.
    slots: Vec<Follow>,
    /// An upper bound on any tag outside the recounted cells.
    cut_off: Load,
    /// The total load of all tags.
    total: Load,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Follow {
    /// None: the slot holds less than a heavy tag.
    Nothing,
    /// Tags with recounted cells in both rows.
    Heavy,
    /// Every tag.
    All,
}

impl Candidates {
    /// Selects from the rows and the loads by slot.
    pub(crate) fn choose(rows: Box<CountMin>, loads: &PerMetric<Vec<u64>>) -> Self {
        let mut cut_off = Load::default();
        let mut slots = vec![Follow::Nothing; SLOTS];
        let mut large = [vec![0; CELLS], vec![0; CELLS]];
        let mut follow_up = |metric: Metric, load: &Vec<u64>| {
            let rows = [0, 1].map(|row| rows.row(row, metric).unwrap_or(&[]));
            let cut_offs = rows.map(|cells| nth_largest(cells, FOLLOWED_CELLS));
            cut_off[metric] = cut_offs[0].max(cut_offs[1]);
            for (slot, _) in slots
                .iter_mut()
                .zip(load)
                .filter(|(_, load)| **load > cut_off[metric])
            {
                *slot = if *slot == Follow::All {
                    Follow::All
                } else {
                    Follow::Heavy
                };
            }
            hottest(load).for_each(|slot| slots[slot] = Follow::All);
            for row in [0, 1] {
                let is_large = rows[row]
                    .iter()
                    .map(|cell| u8::from(*cell > cut_offs[row]) << metric as u8);
                large[row]
                    .iter_mut()
                    .zip(is_large)
                    .for_each(|(bits, bit)| *bits |= bit);
            }
        };
        loads
            .iter()
            .for_each(|(metric, load)| follow_up(metric, load));
        let total = rows.total();
        Candidates {
            rows,
            large,
            slots,
            cut_off,
            total,
        }
    }

    #[inline]
    fn wants(&self, hash: u64, slot: u16) -> bool {
        let [first, second] = cells_of(hash);
        let [by_first, by_second] = &self.large;
        let in_both = by_first[first] & by_second[second];
        (in_both != 0) | (self.slots[usize::from(slot)] == Follow::All)
    }

    /// The rank grows with the load a tag may have in any metric; it is the same for every part of the input.
    fn rank(&self, ceiling: Load) -> u64 {
        let part =
            |metric| (u128::from(ceiling[metric]) << 40) / u128::from(self.total[metric]).max(1);
        Metric::ALL
            .into_iter()
            .map(part)
            .max()
            .map_or(0, |part| part as u64)
    }
}

/// The slots with the largest load, ties by number; empty slots are excluded.
pub fn hottest(loads: &[u64]) -> impl Iterator<Item = usize> {
    let mut order: Vec<usize> = (0..loads.len().min(SLOTS))
        .filter(|slot| loads[*slot] > 0)
        .collect();
    order.sort_by_key(|slot| (Reverse(loads[*slot]), *slot));
    order.into_iter().take(FOLLOWED_SLOTS)
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
    /// An empty count.
    pub(crate) fn new(candidates: Candidates) -> Self {
        Recount {
            candidates: Arc::new(candidates),
            counted: Buckets::default(),
            tagged: Tagged::default(),
            wanted: Vec::new(),
        }
    }

    /// Every counted tag with its load.
    pub fn tags(&self) -> impl Iterator<Item = (&Name, Load)> {
        self.counted.iter().map(|tag| (&tag.name, tag.load))
    }

    /// The counts.
    pub fn into_counted(self) -> Buckets {
        self.counted
    }

    /// Merges the counts of other keys for the same candidates; false if they do not match.
    pub fn take(&mut self, counted: Buckets) -> bool {
        self.counted.left_out = self.counted.left_out.max(counted.left_out);
        let names = counted.into_names();
        names.for_each(|tag| self.count(tag.hash, &tag.name.0, tag.load));
        true
    }

    /// An upper bound on any tag not counted.
    pub fn max_error(&self) -> Load {
        self.candidates.cut_off.max(self.counted.left_out)
    }

    fn count(&mut self, hash: u64, name: &[u8], load: Load) {
        if let Some(tag) = self.counted.find(hash, name) {
            tag.load += load;
            return;
        }
        let ceiling = self.candidates.rows.at_most(hash);
        let rank = self.candidates.rank(ceiling);
        self.counted.enter(
            name,
            Counted {
                rank,
                hash,
                load,
                ceiling,
                ..Counted::default()
            },
        );
    }
}

impl Tally for Recount {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let candidates = self.candidates.clone();
        let (mut tagged, mut wanted) = (
            std::mem::take(&mut self.tagged),
            std::mem::take(&mut self.wanted),
        );
        tagged.find(keys, |slot| {
            candidates.slots[usize::from(slot)] != Follow::Nothing
        });
        let slot = |i: usize| keys.slots[tagged.keys[i] as usize];
        list(&mut wanted, tagged.keys.len(), |i| {
            candidates.wants(tagged.hashes[i], slot(i))
        });
        for i in wanted.iter().map(|i| *i as usize) {
            let key = tagged.keys[i] as usize;
            let name = keys.hashed.get(keys.batch.base, key);
            self.count(tagged.hashes[i], name, keys.batch.values.load(key));
        }
        (self.tagged, self.wanted) = (tagged, wanted);
    }

    fn merge(&mut self, other: Self) {
        self.take(other.counted);
    }
}
