//! The hash tag rule for a batch, without a branch for keys of up to 64 bytes.
//!
//! ```text
//! key      f o o { b a r } { z a p }
//! open     . . . 1 . . . . 1 . . . .     only its lowest bit counts
//! close    . . . . . . . 1 . . . . 1     above that bit, and only the lowest
//! part             ^     ^               between the two, if that is not empty
//! ```

use core::hint::select_unpredictable;

use crate::batch::{Batch, Padded};
use crate::simd::{Bytes64, LANES, Pass};
use crate::tag::hashed_part;

/// Writes the start and end of the hashed part of each key.
pub(crate) struct HashedSpans<'a> {
    pub keys: Batch<'a>,
    pub start: &'a mut [u32],
    pub end: &'a mut [u32],
}

impl HashedSpans<'_> {
    #[inline(always)]
    fn check(&self) {
        self.keys.assert_in_bounds();
        assert!(
            self.start.len() == self.keys.len() && self.end.len() == self.keys.len(),
            "columns of different lengths"
        );
    }
}

impl Pass for HashedSpans<'_> {
    type Output = ();

    /// Key by key: 64-byte masks made of machine words take three times as long.
    fn scalar(self) {
        self.check();
        for i in 0..self.keys.len() {
            let part = hashed_part(self.keys.get(i));
            let start = self.keys.starts()[i];
            self.start[i] = start + part.start as u32;
            self.end[i] = start + part.end as u32;
        }
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) {
        self.check();
        if has_no_tag::<B>(self.keys) {
            self.start.copy_from_slice(self.keys.starts());
            self.end.copy_from_slice(self.keys.ends());
            return;
        }
        let base = self.keys.base();
        let keys = self.keys.starts().iter().zip(self.keys.ends());
        for ((&start, &end), (hashed_start, hashed_end)) in
            keys.zip(self.start.iter_mut().zip(self.end))
        {
            let len = end - start;
            if len > LANES as u32 {
                // SAFETY: the key lies in the buffer, and the CPU has the instructions.
                (*hashed_start, *hashed_end) = unsafe { part_of_long::<B>(base, start, end) };
                continue;
            }
            // SAFETY: the key starts in the buffer, and 64 bytes after the buffer are readable.
            let bytes = unsafe { B::load(base.as_ptr().add(start as usize)) };
            let open = bytes.equal(b'{');
            // The bits above the lowest of `open`; zero if `open` is.
            let above = !(open ^ open.wrapping_sub(1));
            let close = bytes.equal(b'}') & above;
            let (from, to) = (open.trailing_zeros() + 1, close.trailing_zeros());
            // Braces after the key need no mask: a tag that ends in the key also begins there. If there is none, `to`
            // is 64.
            let tagged = (to < len) & (to != from);
            // No branch: whether a key has a tag cannot be predicted.
            *hashed_start = start + select_unpredictable(tagged, from, 0);
            *hashed_end = select_unpredictable(tagged, start + to, end);
        }
    }
}

/// Limit for the search for a brace, in bytes per key: beyond it, the search takes longer than searching each key.
const SEARCHED: usize = 128;

/// Whether the bytes from the first key to the last contain no brace, which takes a tenth of the search in each key.
/// Keys with tags end the search at once, and keys far apart are not worth it. The keys lie in the buffer.
#[inline(always)]
fn has_no_tag<B: Bytes64>(keys: Batch<'_>) -> bool {
    let first = |from: u32, start: &u32| from.min(*start);
    let last = |to: u32, end: &u32| to.max(*end);
    let (from, to) = (
        keys.starts().iter().fold(u32::MAX, first),
        keys.ends().iter().fold(0, last),
    );
    let is_dense = (to.saturating_sub(from) as usize) <= SEARCHED * keys.len();
    // SAFETY: the bytes lie in the buffer, and the CPU has the instructions.
    is_dense && unsafe { find::<B>(keys.base(), from, to, b'{') }.is_none()
}

/// The hashed part of a key of more than 64 bytes.
///
/// # Safety
/// The key must lie in `base`, the CPU must have the instructions of `B`.
#[inline(always)]
unsafe fn part_of_long<B: Bytes64>(base: Padded<'_>, start: u32, end: u32) -> (u32, u32) {
    // SAFETY: passed on; the spans found lie in the key.
    unsafe {
        let Some(open) = find::<B>(base, start, end, b'{') else {
            return (start, end);
        };
        match find::<B>(base, open + 1, end, b'}') {
            Some(close) if close > open + 1 => (open + 1, close),
            _ => (start, end),
        }
    }
}

/// The offset of the first `byte` in `from..end`, 64 bytes at a time.
///
/// # Safety
/// The bytes must lie in `base`, the CPU must have the instructions of `B`.
#[inline(always)]
unsafe fn find<B: Bytes64>(base: Padded<'_>, from: u32, end: u32, byte: u8) -> Option<u32> {
    let mut at = from as usize;
    while at < end as usize {
        // SAFETY: 64 bytes after the buffer are readable.
        let mask = unsafe { B::load(base.as_ptr().add(at)) }.equal(byte);
        if mask != 0 {
            let position = at + mask.trailing_zeros() as usize;
            return (position < end as usize).then_some(position as u32);
        }
        at += LANES;
    }
    None
}
