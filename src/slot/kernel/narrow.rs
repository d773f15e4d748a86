//! Stage 3, SLOTS: the hash tag rule for a batch, without a branch a key. Keys come in, their hashed parts go out.
//!
//! ```text
//! key      f o o { b a r } { z a p }
//! open     . . . 1 . . . . 1 . . . .     only its lowest bit counts
//! close    . . . . . . . 1 . . . . 1     above that bit, and only the lowest
//! part             ^     ^               between the two, if that is not empty
//! ```

use std::hint::select_unpredictable;

use crate::format::batch::Spans;
use crate::lanes::{LANES, Lanes};
use crate::slot::hashtag;
use crate::source::block::Padded;

/// Writes the hashed part of each key.
///
/// # Safety
/// The keys must lie in `base`, `hashed` must be as long as `keys`, the CPU must have the instructions of `L`.
#[inline(always)]
pub unsafe fn narrow<L: Lanes>(base: Padded<'_>, keys: &Spans, hashed: &mut Spans) {
    let columns = keys.start.iter().zip(&keys.end).zip(hashed.start.iter_mut().zip(&mut hashed.end));
    for ((&start, &end), (hashed_start, hashed_end)) in columns {
        let len = end - start;
        if len > LANES as u32 {
            let key = &base.bytes()[start as usize..end as usize];
            let part = hashtag::hashed_part(key);
            (*hashed_start, *hashed_end) = (start + part.start as u32, start + part.end as u32);
            continue;
        }
        // SAFETY: the key starts in the block, 64 bytes after the block may be read.
        let lanes = unsafe { L::load(base.as_ptr().add(start as usize)) };
        let open = lanes.equal(b'{');
        // Bits above the lowest of `open`: none if there is none.
        let above = !(open ^ open.wrapping_sub(1));
        let close = lanes.equal(b'}') & above;
        let (from, to) = (open.trailing_zeros() + 1, close.trailing_zeros());
        // Braces behind the key need no mask: a tag that ends in the key also begins there. None: `to` is 64.
        let tagged = (to < len) & (to != from);
        // Half of the keys may be tagged, in no order that a branch predictor could learn.
        *hashed_start = start + select_unpredictable(tagged, from, 0);
        *hashed_end = select_unpredictable(tagged, start + to, end);
    }
}
