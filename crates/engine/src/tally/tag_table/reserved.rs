//! The memory of a table of tags: lines of eight words, and the place of each word's tag beside them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use hashslot::simd::Bytes64;

use super::COUNT_BITS;
use super::zeroed::{Zero, Zeroed};

/// The first bit of each word, in a mask of the bytes of a line.
const FIRST_BITS: u64 = 0x0101_0101_0101_0101;

/// Cells for the tags that all threads may add before they know that it is full.
pub(super) const SPARE: usize = 1 << 16;

/// Eight words, in one line of the caches.
#[repr(align(64))]
pub(super) struct Line([AtomicU64; 8]);

// SAFETY: eight times the number 0.
unsafe impl Zero for Line {}

/// Lines and places, of a size that does not change.
pub(super) struct Reserved {
    pub lines: Zeroed<Line>,
    pub places: Zeroed<AtomicU32>,
}

impl Reserved {
    /// Room for `most` tags, nine cells in ten taken, and some to spare.
    pub(super) fn for_tags(most: usize) -> Self {
        let lines = (most + most / 9 + SPARE).div_ceil(8);
        Reserved {
            lines: Zeroed::new(lines),
            places: Zeroed::new(8 * lines),
        }
    }

    /// The line of a hash, by its upper bits.
    #[inline(always)]
    pub(super) fn line_of(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.lines.len() as u128) >> 64) as usize
    }

    /// The line after one: the first after the last.
    pub(super) fn after(&self, line: usize) -> usize {
        if line + 1 == self.lines.len() {
            0
        } else {
            line + 1
        }
    }

    /// The part of a cell that tells its tag from others.
    pub(super) fn identity(&self, cell: usize) -> u64 {
        self.word_now(cell) >> COUNT_BITS
    }

    /// The current word of a cell.
    pub(super) fn word_now(&self, cell: usize) -> u64 {
        self.word(cell).load(Relaxed)
    }

    /// Where a key of the tag of a cell is.
    pub(super) fn place(&self, cell: usize) -> u32 {
        self.places[cell].load(Relaxed)
    }

    /// The word of a cell.
    #[inline(always)]
    pub(super) fn word(&self, cell: usize) -> &AtomicU64 {
        &self.lines[cell / 8].0[cell % 8]
    }
}

impl Line {
    /// The words that have this tag, and the empty ones: a bit each. No branch, as where a tag is cannot be predicted.
    #[inline(always)]
    pub(super) fn look_for(&self, identity: u64) -> (u32, u32) {
        let (mut found, mut free) = (0, 0);
        for (i, word) in self.0.iter().enumerate() {
            let word = word.load(Relaxed);
            found |= u32::from(word >> COUNT_BITS == identity) << i;
            free |= u32::from(word == 0) << i;
        }
        (found, free)
    }

    /// The word that has this tag, as far as can be seen at once.
    ///
    /// # Safety
    /// The CPU must have the instructions of `B`.
    #[inline(always)]
    pub(super) unsafe fn word_with<B: Bytes64>(&self, identity: u64) -> Option<usize> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let wanted = [identity << COUNT_BITS; 8];
        // SAFETY: both are 64 bytes, and the CPU has the instructions. Other threads may change the counts meanwhile: the
        // bytes of a count are not looked at, and those of a tag are all set in one store and never change.
        let (line, wanted) = unsafe {
            let line = B::load(std::ptr::from_ref(self).cast());
            (line, B::load(wanted.as_ptr().cast()))
        };
        let same = line.same_as(wanted) >> (COUNT_BITS / 8);
        let (two, four) = (same & same >> 1, (same >> 2) & (same >> 3));
        let found = two & four & (same >> 4) & FIRST_BITS;
        (found != 0).then(|| found.trailing_zeros() as usize / 8)
    }

    /// The words.
    pub(super) fn words(&self) -> [u64; 8] {
        self.0.each_ref().map(|word| word.load(Relaxed))
    }
}
