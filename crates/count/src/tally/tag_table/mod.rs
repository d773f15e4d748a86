//! The exact load of every hash tag, in one table shared by all threads.
//!
//! A tag is identified by its hash, so that it takes 8 bytes: a word with its slot, 26 bits of the hash, the place of
//! one of its keys, from which its name is reread if needed, and the low bits of its number of keys. Other bits of the
//! hash choose the partition and the line. Among four million tags, the probability that two are taken for one is 1 in
//! 80,000; it is 1 in 6 if all of them are in one slot, which takes crafted names. Each table has a random key for its
//! hashes, so that no input can be made to collide more often.
//!
//! ```text
//! hash: | partition, 6 | line ... | 26 bits | -> word: | slot, 14 | hash, 26 | place, 18 | keys, 6 |   8 words a line of 64 bytes
//! ```
//!
//! A thread counts recently seen tags by itself (`recent`), and collects evicted ones by partition. A full collection
//! is added under the partition's lock: no atomics, prefetched lines, and since the content of a partition is
//! order-independent, so are all results.

mod hashing;
mod heaviest;
mod lines;
mod names;
mod pages;
mod partition;
mod places;
mod recent;
mod sweep;
mod word;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use slotscope_base::metric::{Load, Metric, WEIGHTS};
use slotscope_base::slot::{Kernel, slot_of_part};

use crate::tally::table::NameTable;

pub use names::FindNames;
pub(crate) use recent::Counting;
pub use sweep::{CountedTags, Swept};

use hashing::Hashing;
use lines::Lines;
use names::KeptNames;
use partition::{Counts, Partition};
use places::Places;
use recent::Entry;

/// Tags that the largest table holds, in 43 MiB. With more, a sketch and a second pass are faster.
pub const MAX_TAGS: usize = 5_000_000;
/// No key with a tag takes fewer bytes: `{a}` and a line end.
const LEAST_BYTES: u64 = 4;
/// Maximum number of metrics besides keys: 8 bytes per tag each.
const MAX_COLUMNS: usize = 2;
/// Partitions, each with a lock, to keep contention low.
const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 6;
/// Spare cells for tags that threads may add before they notice that the table is full.
const SPARE: usize = 1 << 16;

/// The table.
pub struct TagTable {
    kernel: &'static Kernel,
    hashing: Hashing,
    /// More tags do not fit.
    most: usize,
    tags: AtomicUsize,
    has_room: AtomicBool,
    /// Whether all keys so far can be read again at their places.
    has_places: AtomicBool,
    lines: Lines,
    partitions: [Mutex<Counts>; PARTITIONS],
    /// The column of each weight.
    columns: [OnceLock<usize>; WEIGHTS],
    taken: AtomicUsize,
    /// Names of tags that were first counted elsewhere.
    names: Mutex<KeptNames>,
    places: Places,
}

impl TagTable {
    /// A table for tags of inputs of these sizes, where known, with at most `most` tags.
    pub fn of(kernel: &'static Kernel, sizes: &[Option<u64>], most: usize) -> Self {
        let sum = |sum: u64, size: &Option<u64>| sum.checked_add((*size)?);
        let tags = sizes
            .iter()
            .try_fold(0, sum)
            .map(|bytes| bytes / LEAST_BYTES);
        let possible = tags.and_then(|tags| usize::try_from(tags).ok());
        let room = possible.map_or(most, |tags| tags.min(most));
        TagTable {
            kernel,
            hashing: Hashing::default(),
            most,
            tags: AtomicUsize::new(0),
            has_room: AtomicBool::new(true),
            has_places: AtomicBool::new(true),
            lines: Lines::for_cells(room + room / 9 + SPARE),
            partitions: std::array::from_fn(|_| Mutex::default()),
            columns: [const { OnceLock::new() }; WEIGHTS],
            taken: AtomicUsize::new(0),
            names: Mutex::default(),
            places: Places::of(sizes),
        }
    }

    /// Whether there are more tags or metrics than it can hold; its counts are then useless. This depends only on the
    /// keys, once all threads have flushed their counts.
    pub fn is_full(&self) -> bool {
        self.tags.load(Relaxed) > self.most || !self.has_room.load(Relaxed)
    }

    /// Notes that a key cannot be read again at its place alone.
    pub(crate) fn note_no_place(&self) {
        self.has_places.store(false, Relaxed);
    }

    /// Whether names are likely found at the places of keys.
    pub(crate) fn finds_names(&self) -> bool {
        self.has_places.load(Relaxed)
    }

    /// Adds the content of a table of names.
    pub(crate) fn add_names(&self, names: &NameTable) {
        for (name, _, load) in names.iter() {
            self.add_name(name, load);
        }
    }

    /// Adds to a tag, whose name is kept if it is new.
    pub(crate) fn add_name(&self, name: &[u8], load: Load) {
        let mut sums = [0; MAX_COLUMNS];
        for metric in Metric::WEIGHTS {
            if load[metric] > 0
                && let Some(column) = self.column(metric)
            {
                sums[column] = load[metric];
            }
        }
        let (hash, slot) = (self.hashing.of_name(name), slot_of_part(name));
        let entry = Entry::new(hash, (slot, 0), 0, sums);
        let mut partition = self.lock(entry.partition());
        let has_room = partition.add_one(self.kernel, entry, load[Metric::Keys]);
        let new = self.note_new(&mut partition, has_room);
        drop(partition);
        if new > 0 {
            lock(&self.names).push(name);
        }
    }

    /// Adds entries of one partition.
    fn add_to<const W: usize>(&self, partition: usize, entries: &[Entry<W>]) {
        // The counts of a full table are useless.
        if !entries.is_empty() && !self.is_full() {
            let mut partition = self.lock(partition);
            let has_room = partition.add(self.kernel, entries);
            self.note_new(&mut partition, has_room);
        }
    }

    /// Updates the number of tags, and returns the new ones.
    fn note_new(&self, partition: &mut Partition<'_>, has_room: bool) -> usize {
        let new = partition.take_new();
        self.tags.fetch_add(new, Relaxed);
        self.has_room.fetch_and(has_room, Relaxed);
        new
    }

    /// The column of a weight; `None` if there are too many.
    fn column(&self, metric: Metric) -> Option<usize> {
        let cell = &self.columns[metric.weight()?];
        let column = *cell.get_or_init(|| self.taken.fetch_add(1, Relaxed));
        self.has_room.fetch_and(column < MAX_COLUMNS, Relaxed);
        (column < MAX_COLUMNS).then_some(column)
    }

    /// Locks a partition.
    fn lock(&self, partition: usize) -> Partition<'_> {
        let counts = lock(&self.partitions[partition]);
        // SAFETY: only the holder of the lock uses the lines of the partition.
        Partition::new(counts, unsafe { self.lines.of_partition(partition) })
    }

    /// The cell of a tag, over all partitions.
    fn find(&self, hash: u64, slot: u16) -> Option<usize> {
        let entry = Entry::new(hash, (slot, 0), 0, []);
        let partition = entry.partition();
        let cell = self.lock(partition).find(entry.word(), hash)?;
        Some(partition * self.lines.cells() + cell)
    }
}

/// A panic elsewhere is reported by the pool; data under a poisoned lock is not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tables are compared by their results instead.
impl PartialEq for TagTable {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl std::fmt::Debug for TagTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TagTable")
            .field("tags", &self.tags)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tags_than_the_size_of_the_input_allows_fill_the_table_and_end() {
        let table = TagTable::of(hashslot::best(), &[Some(0)], MAX_TAGS);
        for tag in 0..50_000u32 {
            table.add_name(&tag.to_le_bytes(), Load::KEY);
        }
        assert!(!table.is_full());
        (50_000..200_000u32).for_each(|tag| table.add_name(&tag.to_le_bytes(), Load::KEY));
        assert!(table.is_full());
    }
}
