//! Every hash tag with its exact load, in one table that all threads share without a lock.
//!
//! A tag is known by a hash alone, so that it takes 12 bytes: a word of 40 bits that tell it from others and 24 bits that
//! count its keys, and the place of one of its keys, from which its name is read again where it is wanted. The 40 bits hold
//! the slot, and the line of the table is chosen by other bits of the hash: of four million tags, any two are taken for one
//! with probability 1 in 100,000. The hash is seeded anew for every table, so that no input can be made to collide.
//!
//! ```text
//! hash: | bits that choose the line ... | 26 bits | -> word: | slot, 14 | hash, 26 | keys, 24 |   8 words a line of 64 bytes
//! ```
//!
//! A line is filled from its first word on and a word never changes its tag; so a thread that finds a tag neither in the
//! line nor a free word there continues with the next line, and no tag is ever in two words.

mod batch;
mod front;
mod hashing;
mod heaviest;
mod names;
mod reserved;
mod sweep;
mod zeroed;

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::metric::{Load, Metric, WEIGHTS};
use crate::simd::prefetch;
use crate::slot::{Kernel, slot_of_part};
use crate::tally::table::NameTable;

pub(crate) use batch::Counting;
pub use names::FindNames;
pub use sweep::{CountedTags, LISTED, Swept};

use hashing::Hashing;
use names::SpilledNames;
use reserved::Reserved;
use zeroed::Zeroed;

/// Tags that the largest table holds: it takes 60 MiB.
pub const MAX_TAGS: usize = 4_700_000;
/// No key with a tag takes fewer bytes: `{a}` and a line end.
const LEAST_BYTES: u64 = 4;
/// Metrics other than keys that it holds: 42 MiB each.
const MAX_COLUMNS: usize = 2;
/// A place is a block of this many bytes of the inputs, which follow each other.
pub const PLACE: u64 = 4 << 10;
/// Places with this bit are numbers of names that are kept.
const IS_KEPT: u32 = 1 << 31;

/// Bits of a word that count keys.
const COUNT_BITS: u32 = 24;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// Keys that are added to a word at once, at most.
const MOST_AT_ONCE: u64 = 1 << 12;
/// A word that counts as many gives them away: all threads of the largest pool may add before the first of them does.
const CARRY: u64 = 1 << 23;
/// Hashes that are looked at ahead: their lines are on the way when they are needed.
const AHEAD: usize = 32;
/// New tags that a thread counts before it tells the others.
const NEW_AT_ONCE: usize = 64;

/// The table.
pub struct TagTable {
    hashing: Hashing,
    /// More tags do not fit.
    most: usize,
    /// As many as there can be.
    room: usize,
    tags: AtomicUsize,
    is_full: AtomicBool,
    /// Memory, once there is a tag.
    reserved: OnceLock<Reserved>,
    weights: [OnceLock<Zeroed<AtomicU64>>; WEIGHTS],
    /// How many of them are there.
    columns: AtomicUsize,
    /// Keys that words gave away, by cell.
    carried: Mutex<BTreeMap<usize, u64>>,
    names: Mutex<SpilledNames>,
    /// The first place of each input, and the one after the last.
    first_places: Vec<u32>,
}

/// How many tags are new.
#[derive(Default)]
struct Added {
    new: usize,
}

impl TagTable {
    /// A table for the tags of inputs of these sizes, as far as they are known, and at most `most` tags.
    pub fn of(kernel: &'static Kernel, sizes: &[Option<u64>], most: usize) -> Self {
        let mut first_places = vec![0u32];
        for size in sizes {
            let before = first_places.last().copied().unwrap_or_default();
            let places = size.unwrap_or(0) / PLACE + 1;
            let places = u32::try_from(places).unwrap_or(IS_KEPT);
            first_places.push(before.saturating_add(places).min(IS_KEPT - 1));
        }
        let bytes = sizes
            .iter()
            .try_fold(0u64, |sum, size| sum.checked_add((*size)?));
        let possible = bytes.map_or(u64::MAX, |bytes| bytes / LEAST_BYTES);
        TagTable {
            hashing: Hashing::new(kernel),
            most,
            room: usize::try_from(possible).map_or(most, |tags| tags.min(most)),
            tags: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            reserved: OnceLock::new(),
            weights: [const { OnceLock::new() }; WEIGHTS],
            columns: AtomicUsize::new(0),
            carried: Mutex::default(),
            names: Mutex::default(),
            first_places,
        }
    }

    /// Whether there are more tags, or more metrics, than it holds: nothing that it counted is worth anything then. That
    /// depends on the keys alone.
    pub fn is_full(&self) -> bool {
        self.is_full.load(Relaxed)
    }

    fn reserved(&self) -> &Reserved {
        self.reserved.get_or_init(|| Reserved::for_tags(self.room))
    }

    /// Adds what a table of names holds; the names are kept of tags that are new.
    pub(crate) fn add_names(&self, names: &NameTable) {
        let reserved = self.reserved();
        let mut lines = Vec::with_capacity(names.len());
        lines.extend(
            names
                .iter()
                .map(|(name, ..)| reserved.line_of(self.hash(name))),
        );
        for (i, (name, _, load)) in names.iter().enumerate() {
            if let Some(line) = lines.get(i + AHEAD) {
                prefetch(&reserved.lines[*line]);
            }
            self.add_name(name, load);
        }
    }

    /// Adds to a tag whose name is kept where it is new.
    pub(crate) fn add_name(&self, name: &[u8], load: Load) {
        let reserved = self.reserved();
        let mut added = Added::default();
        let tag = (self.hash(name), slot_of_part(name));
        let Some((cell, is_new)) = self.add(reserved, &mut added, tag, 0) else {
            return;
        };
        if is_new {
            let place = IS_KEPT | lock(&self.names).push(name);
            reserved.places[cell].store(place, Relaxed);
        }
        self.note_new(&mut added);
        self.add_to_cell(reserved, cell, load[Metric::Keys]);
        for metric in Metric::WEIGHTS {
            if load[metric] > 0 {
                add_to(self.column(metric).get(cell), load[metric]);
            }
        }
    }

    /// Adds keys to a tag that is in the table.
    fn add_keys(&self, tag: (u64, u16), keys: u64) {
        let reserved = self.reserved();
        if let Some(cell) = self.find(reserved, tag) {
            self.add_to_cell(reserved, cell, keys);
        }
    }

    fn add_to_cell(&self, reserved: &Reserved, cell: usize, keys: u64) {
        if keys <= MOST_AT_ONCE {
            self.carry(cell, reserved.word(cell), keys);
        } else {
            lock(&self.carried)
                .entry(cell)
                .or_default()
                .add_assign(keys);
        }
    }

    /// Adds `keys`, at most `MOST_AT_ONCE`, to a tag, and returns its cell, and whether it is new: then its place is to be
    /// stored. `None` where the table is full.
    fn add(
        &self,
        reserved: &Reserved,
        added: &mut Added,
        tag: (u64, u16),
        keys: u64,
    ) -> Option<(usize, bool)> {
        let wanted = identity(tag);
        let start = reserved.line_of(tag.0);
        let mut at = start;
        loop {
            let line = &reserved.lines[at];
            let (found, free) = line.look_for(wanted);
            if found != 0 {
                let cell = 8 * at + found.trailing_zeros() as usize;
                self.carry(cell, reserved.word(cell), keys);
                return Some((cell, false));
            }
            if free != 0 {
                let cell = 8 * at + free.trailing_zeros() as usize;
                if added.new == NEW_AT_ONCE {
                    self.note_new(added);
                }
                if self.is_full() {
                    return None;
                }
                let word = wanted << COUNT_BITS | keys;
                let swapped = reserved
                    .word(cell)
                    .compare_exchange(0, word, Relaxed, Relaxed);
                if swapped.is_err() {
                    // Another thread has put a tag there, maybe this one.
                    continue;
                }
                added.new += 1;
                return Some((cell, true));
            }
            at = reserved.after(at);
            if at == start {
                // An input that grew while it was read, say.
                self.is_full.store(true, Relaxed);
                return None;
            }
        }
    }

    /// Adds to the keys that a word counts; the excess is carried.
    #[inline(always)]
    fn carry(&self, cell: usize, word: &AtomicU64, keys: u64) {
        let before = word.fetch_add(keys, Relaxed);
        if (before & COUNT) + keys >= CARRY {
            self.carry_from(cell, word);
        }
    }

    #[cold]
    fn carry_from(&self, cell: usize, word: &AtomicU64) {
        let less = |word: u64| (word & COUNT >= CARRY).then(|| word - CARRY);
        if word.fetch_update(Relaxed, Relaxed, less).is_ok() {
            lock(&self.carried)
                .entry(cell)
                .or_default()
                .add_assign(CARRY);
        }
    }

    fn note_new(&self, added: &mut Added) {
        let before = self.tags.fetch_add(added.new, Relaxed);
        // More than there can be: an input that grew, say. There is room for some, so that every search ends soon.
        if before + added.new > self.most.min(self.room + reserved::SPARE / 2) {
            self.is_full.store(true, Relaxed);
        }
        added.new = 0;
    }

    /// The cell of a tag.
    fn find(&self, reserved: &Reserved, tag: (u64, u16)) -> Option<usize> {
        let start = reserved.line_of(tag.0);
        let mut at = start;
        loop {
            let (found, free) = reserved.lines[at].look_for(identity(tag));
            if found != 0 {
                return Some(8 * at + found.trailing_zeros() as usize);
            }
            if free != 0 {
                return None;
            }
            at = reserved.after(at);
            if at == start {
                return None;
            }
        }
    }

    /// The sums of a metric other than keys.
    fn column(&self, metric: Metric) -> &[AtomicU64] {
        let place = metric.weight().unwrap_or_default();
        let cells = 8 * self.reserved().lines.len();
        self.weights[place].get_or_init(|| {
            let is_one_more = self.columns.fetch_add(1, Relaxed) >= MAX_COLUMNS;
            self.is_full.fetch_or(is_one_more, Relaxed);
            Zeroed::new(if is_one_more { 0 } else { cells })
        })
    }

    fn hash(&self, name: &[u8]) -> u64 {
        self.hashing.of_name(name)
    }
}

/// The bits of a word that tell a tag from others, never 0.
#[inline(always)]
fn identity((hash, slot): (u64, u16)) -> u64 {
    u64::from(slot) << 26 | (hash & ((1 << 26) - 1)).max(1)
}

/// The slot of a word with a tag.
fn slot_of_word(word: u64) -> u16 {
    (word >> (COUNT_BITS + 26)) as u16
}

/// Adds to a sum, which stops at the largest number there is.
fn add_to(sum: Option<&AtomicU64>, more: u64) {
    let added = |sum: u64| Some(sum.saturating_add(more));
    // It never refuses.
    let _ = sum.map(|sum| sum.fetch_update(Relaxed, Relaxed, added));
}

/// A panic elsewhere is reported by the pool; the data under the lock are not used after one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tables are compared by their results.
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
        let mut load = Load::default();
        load[Metric::Keys] = 1;
        for tag in 0..70_000u32 {
            table.add_name(&tag.to_le_bytes(), load);
        }
        assert!(table.is_full());
    }
}
