//! A part of the table, exclusively locked while a thread adds to it.

use std::sync::MutexGuard;

use hashslot::Kernel;
use hashslot::simd::{Bytes64, Pass, Portable};

use slotscope_base::simd::prefetch;

use super::lines::Line;
use super::pages::Pages;
use super::recent::Entry;
use super::word::Word;
use super::{MAX_COLUMNS, PARTITION_BITS};

/// Prefetch distance in entries.
const AHEAD: usize = 32;

/// The counts of a partition that are not in its words.
#[derive(Default)]
pub(super) struct Counts {
    /// Tags that are new since this was asked last.
    new: usize,
    /// Key counts that overflowed their words, in units of the overflow.
    carried: Pages<u32>,
    weights: [Pages<u64>; MAX_COLUMNS],
    /// A buffer, reused between calls.
    cells: Vec<u32>,
}

/// A partition.
pub(super) struct Partition<'t> {
    counts: MutexGuard<'t, Counts>,
    lines: &'t mut [Line],
}

impl<'t> Partition<'t> {
    pub(super) fn new(counts: MutexGuard<'t, Counts>, lines: &'t mut [Line]) -> Self {
        Partition { counts, lines }
    }

    /// The number of new tags since the last call.
    pub(super) fn take_new(&mut self) -> usize {
        std::mem::take(&mut self.counts.new)
    }

    /// Adds entries of this partition; false if some do not fit.
    pub(super) fn add<const W: usize>(&mut self, kernel: &Kernel, entries: &[Entry<W>]) -> bool {
        let has_room = kernel.run(AddEntries { to: self, entries });
        let Counts { weights, cells, .. } = &mut *self.counts;
        for (i, weights) in weights.iter_mut().enumerate().take(W) {
            for (cell, entry) in cells.iter().zip(entries) {
                if let weight @ 1.. = entry.sums[i] {
                    let sum = weights.at(*cell as usize);
                    *sum = sum.saturating_add(weight);
                }
            }
        }
        has_room
    }

    /// Adds an entry with this many keys; false if it does not fit.
    pub(super) fn add_one(
        &mut self,
        kernel: &Kernel,
        mut entry: Entry<MAX_COLUMNS>,
        keys: u64,
    ) -> bool {
        let (few, overflow) = Word::split(keys);
        entry.keys = few;
        let has_room = self.add(kernel, &[entry]);
        let Counts { carried, cells, .. } = &mut *self.counts;
        let mut last = cells.last().into_iter();
        has_room && last.all(|cell| overflow == 0 || carry(carried, *cell as usize, overflow))
    }

    /// The cell of a tag.
    pub(super) fn find(&self, word: Word, hash: u64) -> Option<usize> {
        search(self.lines, word, hash).filter(|cell| self.word(*cell) != Word::FREE)
    }

    pub(super) fn word(&self, cell: usize) -> Word {
        self.lines[cell / 8].0[cell % 8]
    }

    /// The occupied cells with their words.
    pub(super) fn tags(&self) -> impl Iterator<Item = (usize, Word)> {
        let tags = |(line, words): (usize, &Line)| {
            let words = words.0.into_iter().zip(8 * line..);
            let cells = words.map(|(word, cell)| (cell, word));
            cells.take_while(|(_, word)| *word != Word::FREE)
        };
        self.lines.iter().enumerate().flat_map(tags)
    }

    /// The key count of the tag in a cell with this word.
    pub(super) fn keys(&self, cell: usize, word: Word) -> u64 {
        word.keys(self.counts.carried.get(cell))
    }

    pub(super) fn weight(&self, cell: usize, column: usize) -> u64 {
        self.counts.weights[column].get(cell)
    }
}

/// Adds to an overflowed key count; false above 2^38, which only rows of counters can hold.
#[inline]
fn carry(carried: &mut Pages<u32>, cell: usize, amount: u64) -> bool {
    let carried = carried.at(cell);
    let sum = u64::from(*carried) + amount;
    *carried = sum as u32;
    sum <= u64::from(u32::MAX)
}

/// The line of a hash among this many, by the bits after those of the partition.
#[inline(always)]
fn line_of(hash: u64, lines: usize) -> usize {
    ((u128::from(hash << PARTITION_BITS) * lines as u128) >> 64) as usize
}

/// The first cell that is free or has this tag, starting at the hash's line and wrapping around.
#[cold]
fn search(lines: &[Line], word: Word, hash: u64) -> Option<usize> {
    let home = line_of(hash, lines.len());
    let (before, from) = lines.split_at(home);
    let mut lines = (home..).zip(from).chain((0..).zip(before));
    let is_end = |other: &Word| *other == Word::FREE || other.has_tag_of(word);
    lines.find_map(|(line, words)| Some(8 * line + words.0.iter().position(is_end)?))
}

/// Adds entries in order while prefetching the lines of following ones; false if the partition is full.
struct AddEntries<'a, 't, const W: usize> {
    to: &'a mut Partition<'t>,
    entries: &'a [Entry<W>],
}

impl<const W: usize> Pass for AddEntries<'_, '_, W> {
    type Output = bool;

    fn scalar(self) -> bool {
        self.vector::<Portable>()
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) -> bool {
        let AddEntries { to, entries } = self;
        let Partition { counts, lines } = to;
        let counts = &mut **counts;
        let len = lines.len();
        let look_ahead =
            |entry: &Entry<W>, lines: &[Line]| prefetch(&lines[line_of(entry.hash, len)]);
        let coming = entries.iter().take(AHEAD);
        coming.for_each(|entry| look_ahead(entry, lines));
        counts.cells.clear();
        let mut has_room = true;
        for (i, entry) in entries.iter().enumerate() {
            if let Some(next) = entries.get(i + AHEAD) {
                look_ahead(next, lines);
            }
            let (fresh, home) = (entry.word(), line_of(entry.hash, len));
            // SAFETY: the CPU has the instructions.
            let (known, free) = unsafe { lines[home].look_for::<B>(fresh) };
            let cell = match if known != 0 { known } else { free } {
                0 => search(lines, fresh, entry.hash),
                word => Some(8 * home + word.trailing_zeros() as usize / 8),
            };
            let Some(cell) = cell else {
                has_room = false;
                break;
            };
            let word = &mut lines[cell / 8].0[cell % 8];
            let is_new = *word == Word::FREE;
            counts.new += usize::from(is_new);
            let (now, overflow) = if is_new { fresh } else { *word }.plus(entry.keys);
            *word = now;
            if overflow > 0 {
                has_room &= carry(&mut counts.carried, cell, overflow);
            }
            if W > 0 {
                counts.cells.push(cell as u32);
            }
        }
        has_room
    }
}
