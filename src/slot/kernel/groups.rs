//! Stage 3, SLOTS: what the vector kernels share. Columns of spans come in, eight spans at a time go out, each as
//! the place where its last bytes are and a mask for those that are its own.

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

/// Reads a number that was read as part of a vector too. Volatile, or else the compiler takes it out of that
/// vector, in two slow steps.
#[inline(always)]
pub fn read(column: &[u32; GROUP], i: usize) -> usize {
    // SAFETY: a reference.
    unsafe { (&raw const column[i]).read_volatile() as usize }
}

/// Where key `i` of a group ends, and how many bytes it has.
#[inline(always)]
pub fn end_and_len(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], i: usize) -> (*const u8, usize) {
    let end = read(ends, i);
    (base.wrapping_add(end), end.wrapping_sub(read(starts, i)))
}

/// Sixty-four zeros, sixty-four ones.
#[repr(align(64))]
struct Window([u8; 128]);

static WINDOW: Window = {
    let (mut bytes, mut i) = ([0; 128], 64);
    while i < 128 {
        bytes[i] = 0xFF;
        i += 1;
    }
    Window(bytes)
};

/// The mask of the last `bytes` bytes before the end of a key of `len` bytes: zeros, then `len` ones.
///
/// # Panics
/// In debug builds, unless both are at most 64.
#[inline(always)]
pub fn own_mask(bytes: usize, len: usize) -> *const u8 {
    debug_assert!(bytes <= 64 && len <= 64);
    WINDOW.0.as_ptr().wrapping_add(64 - bytes + len)
}
