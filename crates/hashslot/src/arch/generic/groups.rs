//! Groups of eight spans, and masks for the bytes that belong to a key.

/// Keys hashed at once: their numbers, 64 bits each, fill the widest vector.
pub(crate) const GROUP: usize = 8;

/// Reads a number that is also loaded as part of a vector. Volatile, or else the compiler extracts it from that vector,
/// in two slow steps.
#[inline(always)]
pub(crate) fn read(column: &[u32; GROUP], i: usize) -> usize {
    // SAFETY: a reference.
    unsafe { (&raw const column[i]).read_volatile() as usize }
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
pub(crate) fn own_mask(bytes: usize, len: usize) -> *const u8 {
    debug_assert!(bytes <= 64 && len <= 64);
    WINDOW.0.as_ptr().wrapping_add(64 - bytes + len)
}
