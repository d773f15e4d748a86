//! The shared parts of both tables of templates: masks of keys, and the place of a template.

use hashslot::simd::LANES;

use slotscope_keyname::ids::{Found, Id};

use crate::pattern::ids::below;

/// Templates of a table: with those of the other, 384 KiB, of which those in use stay in the L2 cache.
pub(super) const TEMPLATES: usize = 2048;

/// Bytes of the longest key that has a template: above its end, a mask has three more bits for its traits.
pub(super) const MAX_LEN: u32 = 60;

/// The bytes of a key of up to 64, zeros after them.
pub(super) fn padded(key: &[u8]) -> [u8; LANES] {
    std::array::from_fn(|i| key.get(i).copied().unwrap_or(0))
}

/// The mask of the bytes of a kind.
pub(super) fn mask_of(key: &[u8], is_of_kind: impl Fn(&u8) -> bool) -> u64 {
    let bytes = key.iter().enumerate();
    bytes.fold(0, |mask, (i, byte)| mask | u64::from(is_of_kind(byte)) << i)
}

/// The mask of the bytes in ids that are wanted.
pub(super) fn ids_of(found: &[Found], wanted: impl Fn(Id) -> bool) -> u64 {
    let found = found.iter().filter(|found| wanted(found.id));
    found.fold(0, |mask, found| {
        mask | below(found.end) & !below(found.start)
    })
}

/// Whether an id is numbers with the same bytes between them.
pub(super) fn is_of_numbers(id: Id) -> bool {
    matches!(id, Id::Number | Id::Date | Id::Address)
}

/// The bit after a key, which stands for its length, and its traits above all bits of keys.
#[inline(always)]
pub(super) fn end(len: u32, traits: u8) -> u64 {
    1_u64.wrapping_shl(len) | u64::from(traits) << (MAX_LEN + 1)
}

/// Whether a key is too long for templates: the bits of its end are those of other keys.
#[inline(always)]
pub(super) fn is_too_long(len: u32) -> bool {
    len > MAX_LEN
}

/// A key of up to 64 bytes, with zeros around it.
pub(super) fn around(key: &[u8]) -> [u8; 8 + LANES] {
    let mut room = [0; 8 + LANES];
    room[8..8 + key.len()].copy_from_slice(key);
    room
}

/// The last eight bytes of the `count` before `end`; zeros for those that there are not.
///
/// # Safety
/// Eight bytes before `end` must be readable.
#[inline(always)]
pub(super) unsafe fn last_eight(end: *const u8, count: u32) -> u64 {
    // SAFETY: passed on.
    let bytes = unsafe { end.sub(8).cast::<u64>().read_unaligned() };
    u64::from_le(bytes) & LAST[count as usize % LAST.len()]
}

/// Ones in the last bytes of eight, as many as there are; a branch on their number would be guessed wrong. Longer keys have
/// no templates.
static LAST: [u64; 128] = {
    let mut masks = [u64::MAX; 128];
    let mut count = 0;
    while count < 8 {
        masks[count] = !(u64::MAX >> (8 * count));
        count += 1;
    }
    masks
};

/// The bytes of a key of this many, which has no template where these are more than bits.
#[inline(always)]
pub(super) fn bytes_of(len: u32) -> u64 {
    1_u64.wrapping_shl(len).wrapping_sub(1)
}

/// A place in a table: the highest bits of a product with digits of pi, on which all bits have an effect.
#[inline(always)]
pub(super) fn place(number: u64) -> usize {
    (number.wrapping_mul(0x4528_21E6_38D0_1377) >> (64 - TEMPLATES.trailing_zeros())) as usize
}
