//! Stage 2, KEYS: where a delimiter stands. A block comes in, ascending offsets go out.

use crate::lanes::{LANES, Lanes};
use crate::source::block::Padded;

/// Fills `ends` with the offsets of `delimiter` in `base[from..]` and returns how many it found; fewer than
/// `ends.len()` means that the bytes are used up.
///
/// # Safety
/// The CPU must have the instructions of `L`.
#[inline(always)]
pub unsafe fn cut<L: Lanes>(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
    let (mut at, mut found) = (from as usize, 0);
    while at < base.len() && found < ends.len() {
        // SAFETY: 64 bytes after the block may be read.
        let lanes = unsafe { L::load(base.as_ptr().add(at)) };
        let inside = u64::MAX >> LANES.saturating_sub(base.len() - at);
        let mask = lanes.equal(delimiter) & inside;
        if ends.len() - found >= LANES {
            // SAFETY: there is room for 64.
            found += unsafe { lanes.positions(mask, at as u32, ends.as_mut_ptr().add(found)) };
        } else {
            let mut some = [0; LANES];
            // SAFETY: there is room for 64.
            let count = unsafe { lanes.positions(mask, at as u32, some.as_mut_ptr()) }.min(ends.len() - found);
            ends[found..found + count].copy_from_slice(&some[..count]);
            found += count;
        }
        at += LANES;
    }
    found
}
