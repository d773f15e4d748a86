//! A per-thread cache of recently seen tags with their counts: most keys have a tag seen a moment ago. Evicted tags are
//! collected by partition until a lock pays off.

use std::mem::replace;

use slotscope_base::metric::Metric;
use slotscope_base::slot::SlotBatch;

use super::places::PLACE_BITS;
use super::word::Word;
use super::{MAX_COLUMNS, PARTITION_BITS, PARTITIONS, TagTable};
use crate::tally::tagged::Tagged;

/// Cached tags, direct-mapped by hash: 64 KiB, twice as much if keys have weights.
const RECENT: usize = 1 << 12;
/// Tags flushed to a partition together: 8 KiB.
const LEAVING: usize = 512;
/// Flush after this many keys, so that no count overflows.
const MOST_KEYS: usize = 1 << 30;

/// A tag with keys and their summed weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<const W: usize> {
    /// 0 only if there is no tag.
    pub hash: u64,
    pub keys: u32,
    slot_and_place: u32,
    pub sums: [u64; W],
}

impl<const W: usize> Entry<W> {
    const NONE: Self = Entry {
        hash: 0,
        keys: 0,
        slot_and_place: 0,
        sums: [0; W],
    };

    #[inline(always)]
    pub(super) fn new(hash: u64, (slot, place): (u16, u32), keys: u32, sums: [u64; W]) -> Self {
        Entry {
            hash,
            keys,
            slot_and_place: u32::from(slot) << PLACE_BITS | place,
            sums,
        }
    }

    /// The word of the tag, with a key count of 0.
    #[inline(always)]
    pub(super) fn word(&self) -> Word {
        let (slot, place) = (self.slot_and_place >> PLACE_BITS, self.slot_and_place);
        Word::new(self.hash, slot as u16, place)
    }

    #[inline(always)]
    pub(super) fn partition(&self) -> usize {
        (self.hash >> (64 - PARTITION_BITS)) as usize
    }
}

/// A thread's cached tags.
#[derive(Debug, Clone, Default)]
struct Recent<const W: usize> {
    /// Empty until first used.
    tags: Vec<Entry<W>>,
    leaving: Vec<Entry<W>>,
    /// Number of tags collected for each partition.
    lens: Vec<u32>,
    /// Keys since the last flush.
    keys: usize,
}

impl<const W: usize> Recent<W> {
    /// Adds this many entries of one key each.
    #[inline(always)]
    fn add(&mut self, table: &TagTable, keys: usize, entries: impl Iterator<Item = Entry<W>>) {
        if self.tags.is_empty() {
            self.tags.resize(RECENT, Entry::NONE);
            self.leaving.resize(PARTITIONS * LEAVING, Entry::NONE);
            self.lens.resize(PARTITIONS, 0);
        }
        self.keys += keys;
        if self.keys > MOST_KEYS {
            self.flush(table);
            self.keys = keys;
        }
        for entry in entries {
            let recent = &mut self.tags[(entry.hash >> 32) as usize % RECENT];
            let last = replace(recent, entry);
            // Branch-free: cache hits are unpredictable.
            let stays = last.hash == entry.hash;
            recent.keys += if stays { last.keys } else { 0 };
            for (sum, before) in recent.sums.iter_mut().zip(last.sums) {
                *sum = sum.saturating_add(if stays { before } else { 0 });
            }
            self.leave(table, last, !stays & (last.hash != 0));
        }
    }

    /// Collects an evicted tag, if `leaves`.
    #[inline(always)]
    fn leave(&mut self, table: &TagTable, entry: Entry<W>, leaves: bool) {
        let partition = entry.partition();
        let len = &mut self.lens[partition];
        let leaving = &mut self.leaving[partition * LEAVING..][..LEAVING];
        leaving[*len as usize] = entry;
        *len += u32::from(leaves);
        if *len as usize == LEAVING {
            *len = 0;
            table.add_to(partition, leaving);
        }
    }

    /// Flushes all tags to the table.
    fn flush(&mut self, table: &TagTable) {
        for recent in 0..self.tags.len() {
            let last = replace(&mut self.tags[recent], Entry::NONE);
            self.leave(table, last, last.hash != 0);
        }
        for (partition, len) in self.lens.iter_mut().enumerate() {
            let leaving = &self.leaving[partition * LEAVING..];
            table.add_to(partition, &leaving[..std::mem::take(len) as usize]);
        }
    }
}

/// A thread's cached tags and buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counting {
    tagged: Tagged,
    keys: Recent<0>,
    weighed: Recent<MAX_COLUMNS>,
}

/// Ignored when comparing the containing value.
impl PartialEq for Counting {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl TagTable {
    /// Counts the tagged keys of a batch after its first `from` ones; returns their total number.
    pub(crate) fn add_batch(
        &self,
        keys: &SlotBatch<'_>,
        counting: &mut Counting,
        from: usize,
    ) -> usize {
        let Counting {
            tagged,
            keys: alone,
            weighed,
        } = counting;
        self.hashing.find_tagged(keys, tagged);
        let (numbers, hashes) = (&tagged.keys[from..], &tagged.hashes[from..]);
        let values = keys.batch.values;
        let each = u32::from(!values.are_operations);
        let place = self.places.of_batch(keys);
        let tags = hashes.iter().zip(numbers).map(|(hash, key)| {
            let key = *key as usize;
            (key, *hash, (keys.slots[key], place(key)))
        });
        if values.are_weighed() || values.are_operations {
            let mut columns = [None; MAX_COLUMNS];
            for metric in Metric::WEIGHTS {
                if values.column(metric).is_some()
                    && let Some(column) = self.column(metric)
                {
                    columns[column] = Some(metric);
                }
            }
            let sums = |key: usize| {
                let load = values.load(key);
                columns.map(|metric| metric.map_or(0, |metric| load[metric]))
            };
            let entries = tags.map(|(key, hash, at)| Entry::new(hash, at, each, sums(key)));
            weighed.add(self, numbers.len(), entries);
        } else {
            let entries = tags.map(|(_, hash, at)| Entry::new(hash, at, each, []));
            alone.add(self, numbers.len(), entries);
        }
        tagged.keys.len()
    }

    /// Adds everything a thread still holds.
    pub(crate) fn add_rest(&self, counting: &mut Counting) {
        counting.keys.flush(self);
        counting.weighed.flush(self);
    }
}
