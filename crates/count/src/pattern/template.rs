//! Shared by both template tables: key masks, and the entry for a template.

use hashslot::simd::LANES;

use slotscope_keyname::ids::{Found, Id};

/// Templates per table: both tables together take 384 KiB, of which the entries in use stay in the L2 cache.
pub(super) const TEMPLATES: usize = 2048;

/// Maximum length of a key with a template: above its end, the mask has three more bits for traits.
pub(super) const MAX_LEN: u32 = 60;

/// A key of up to 64 bytes, zero-padded.
pub(super) fn padded(key: &[u8]) -> [u8; LANES] {
    std::array::from_fn(|i| key.get(i).copied().unwrap_or(0))
}

/// The mask of bytes of a kind.
pub(super) fn mask_of(key: &[u8], is_of_kind: impl Fn(&u8) -> bool) -> u64 {
    let bytes = key.iter().enumerate();
    bytes.fold(0, |mask, (i, byte)| mask | u64::from(is_of_kind(byte)) << i)
}

/// The mask of the bytes in selected ids.
pub(super) fn ids_of(ids: &[Found], wanted: impl Fn(Id) -> bool) -> u64 {
    let spans = ids.iter().filter(|span| wanted(span.id));
    spans.fold(0, |mask, span| mask | below(span.end) & !below(span.start))
}

/// The bits below `n`.
#[inline(always)]
pub(super) fn below(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// Whether an id consists of numbers joined by constant bytes.
pub(super) fn is_of_numbers(id: Id) -> bool {
    matches!(id, Id::Number | Id::Date | Id::Address)
}

/// The bit after a key, which encodes its length, with its traits above all key bits.
#[inline(always)]
pub(super) fn end(len: u32, traits: u8) -> u64 {
    1_u64.wrapping_shl(len) | u64::from(traits) << (MAX_LEN + 1)
}

/// Whether a key is too long for templates: its end bits would collide with those of other keys.
#[inline(always)]
pub(super) fn is_too_long(len: u32) -> bool {
    len > MAX_LEN
}

/// A key of up to 64 bytes, zero-padded on both sides.
pub(super) fn around(key: &[u8]) -> [u8; 8 + LANES] {
    let mut room = [0; 8 + LANES];
    room[8..8 + key.len()].copy_from_slice(key);
    room
}

/// The last eight of the `count` bytes before `end`; missing ones are zero.
///
/// # Safety
/// Eight bytes before `end` must be readable.
#[inline(always)]
pub(super) unsafe fn last_eight(end: *const u8, count: u32) -> u64 {
    // SAFETY: passed on.
    let bytes = unsafe { end.sub(8).cast::<u64>().read_unaligned() };
    u64::from_le(bytes) & LAST[count as usize % LAST.len()]
}

/// Masks that keep the last bytes of eight; a branch on their number would be mispredicted. Longer keys have no
/// templates.
static LAST: [u64; 128] = {
    let mut masks = [u64::MAX; 128];
    let mut count = 0;
    while count < 8 {
        masks[count] = !(u64::MAX >> (8 * count));
        count += 1;
    }
    masks
};

/// The bit mask for a key of this length; longer keys than bits have no template.
#[inline(always)]
pub(super) fn bytes_of(len: u32) -> u64 {
    1_u64.wrapping_shl(len).wrapping_sub(1)
}

/// An index into a table: the top bits of a product with digits of pi, which depend on all input bits.
#[inline(always)]
pub(super) fn place(number: u64) -> usize {
    (number.wrapping_mul(0x4528_21E6_38D0_1377) >> (64 - TEMPLATES.trailing_zeros())) as usize
}
