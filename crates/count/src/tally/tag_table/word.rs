//! The word of a tag.

use super::places::PLACE_BITS;

/// Low bits, for the key count.
const COUNT_BITS: u32 = 6;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
/// Bits of the hash.
const HASH_BITS: u32 = 26;
const HASH: u64 = (1 << HASH_BITS) - 1;
/// Bytes of location and count, which do not identify a tag.
pub(super) const COUNT_BYTES: u32 = (PLACE_BITS + COUNT_BITS) / 8;

const _: () = assert!(14 + HASH_BITS + PLACE_BITS + COUNT_BITS == 64 && COUNT_BYTES == 3);

/// A slot, bits of the hash, a location and a count.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Word(u64);

impl Word {
    /// No tag.
    pub(super) const FREE: Word = Word(0);

    /// The word of a tag without keys; never `FREE`.
    #[inline(always)]
    pub(super) fn new(hash: u64, slot: u16, place: u32) -> Self {
        let identity = u64::from(slot) << HASH_BITS | (hash & HASH).max(1);
        Word((identity << PLACE_BITS | u64::from(place) & PLACE) << COUNT_BITS)
    }

    /// Whether both have the same tag.
    pub(super) fn has_tag_of(self, other: Word) -> bool {
        (self.0 ^ other.0) >> (8 * COUNT_BYTES) == 0
    }

    /// Its bytes; those after `COUNT_BYTES` identify the tag.
    #[inline(always)]
    pub(super) fn to_le_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    pub(super) fn slot(self) -> u16 {
        (self.0 >> (64 - 14)) as u16
    }

    /// The bits of the hash.
    pub(super) fn hash(self) -> u64 {
        self.0 >> (8 * COUNT_BYTES) & HASH
    }

    pub(super) fn place(self) -> u32 {
        (self.0 >> COUNT_BITS & PLACE) as u32
    }

    /// The key count, including overflow.
    pub(super) fn keys(self, carried: u32) -> u64 {
        (self.0 & COUNT) + (u64::from(carried) << COUNT_BITS)
    }

    /// The word with more keys, and the overflow.
    #[inline(always)]
    pub(super) fn plus(self, keys: u32) -> (Self, u64) {
        let keys = (self.0 & COUNT) + u64::from(keys);
        (Word(self.0 & !COUNT | keys & COUNT), keys >> COUNT_BITS)
    }

    /// Splits a key count into the part that fits a word, and the overflow.
    pub(super) fn split(keys: u64) -> (u32, u64) {
        ((keys & COUNT) as u32, keys >> COUNT_BITS)
    }
}
