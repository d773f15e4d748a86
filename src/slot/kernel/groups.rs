//! Stage 3, SLOTS: the loop of the vector kernels. Columns of spans come in, eight spans at a time go out.

use crate::format::batch::Spans;

/// Keys that are hashed at once: their numbers, 64 bits each, fill the widest vector.
pub const GROUP: usize = 8;

/// Calls `hash` with eight starts and ends after another and the place of their slots; empty spans fill up the
/// last group. `hash` stands here once, so that it is inlined and its constants stay in registers.
#[inline(always)]
pub fn groups(spans: &Spans, slots: &mut [u16], mut hash: impl FnMut(&[u32; GROUP], &[u32; GROUP], &mut [u16; GROUP])) {
    let (starts, rest_starts) = spans.start.as_chunks::<GROUP>();
    let (ends, rest_ends) = spans.end.as_chunks::<GROUP>();
    let (groups, rest) = slots.as_chunks_mut::<GROUP>();
    let (mut last_starts, mut last_ends, mut last_slots) = ([0; GROUP], [0; GROUP], [0; GROUP]);
    last_starts[..rest_starts.len()].copy_from_slice(rest_starts);
    last_ends[..rest_ends.len()].copy_from_slice(rest_ends);
    let full = groups.len();
    for i in 0..=full {
        let whole = i < full;
        let starts = if whole { &starts[i] } else { &last_starts };
        let ends = if whole { &ends[i] } else { &last_ends };
        let slots = if whole { &mut groups[i] } else { &mut last_slots };
        hash(starts, ends, slots);
    }
    rest.copy_from_slice(&last_slots[..rest.len()]);
}
