//! Outlines: a number per key, computed with its ids blanked in place, so that keys of one pattern with ids of equal
//! length usually share it. Blanking moves no bytes, which makes an outline several times cheaper than a shape.
//!
//! Keys with the same outline have the same pattern, barring constructed collisions; one pattern has several outlines
//! if its ids vary in length.

use hashslot::simd::{self, Bytes64, LANES, PI};
use hashslot::{Batch, Kernel};

use crate::format::batch::Spans;
use crate::hash::fold;
use crate::pattern::ids::{Masks, below};
use crate::pattern::shapes::shape;
use crate::source::block::Padded;

/// Computes outlines; reuses its buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outlines {
    /// The outline of each key of the last batch.
    pub column: Vec<u64>,
    /// Indices of keys with ids other than numbers.
    others: Vec<u32>,
}

impl Outlines {
    /// Computes the outline of each key with the instructions of `kernel`; outlines of different kernels are not
    /// comparable.
    ///
    /// # Panics
    /// If a key is not within `base`.
    pub(crate) fn of(&mut self, kernel: &Kernel, base: Padded<'_>, keys: &Spans) {
        self.column.resize(keys.len(), 0);
        self.others.resize(keys.len() + 1, 0);
        kernel.run(Pass {
            keys: keys.in_block(base),
            outlines: &mut self.column,
            others: &mut self.others,
        });
    }
}

struct Pass<'a> {
    keys: Batch<'a>,
    outlines: &'a mut [u64],
    others: &'a mut [u32],
}

impl simd::Pass for Pass<'_> {
    type Output = ();

    /// Without vectors, blanking saves nothing.
    fn scalar(self) {
        let keys = self.keys.starts().iter().zip(self.keys.ends());
        for ((start, end), outline) in keys.zip(self.outlines) {
            *outline = shape(self.keys.base(), *start, *end);
        }
    }

    /// First treats all ids as numbers, then fixes keys where they are not: branch-free, as that is unpredictable.
    #[inline(always)]
    fn vector<B: Bytes64>(self) {
        self.keys.assert_in_bounds();
        let base = self.keys.base();
        // SAFETY: the keys start in the block, 64 bytes after the block may be read, and the CPU has the instructions.
        let load = |start: u32| unsafe { B::load(base.as_ptr().add(start as usize)) };
        let mut others = 0;
        let keys = self.keys.starts().iter().zip(self.keys.ends());
        for (i, ((&start, &end), outline)) in keys.zip(&mut *self.outlines).enumerate() {
            let (bytes, len) = (load(start), end - start);
            let (numbers, has_others) = numbers(bytes, len);
            *outline = numbers.outline(bytes, len);
            self.others[others] = i as u32;
            others += usize::from(has_others | (len >= LANES as u32));
        }
        for &i in &self.others[..others] {
            let i = i as usize;
            let (start, end) = (self.keys.starts()[i], self.keys.ends()[i]);
            self.outlines[i] = match end - start {
                // The end of the last token needs a bit, too.
                len @ ..LANES_U32 => any_ids(load(start), len).outline(load(start), len),
                _ => shape(base, start, end),
            };
        }
    }
}

const LANES_U32: u32 = LANES as u32;

/// The ids blanked in an outline, and a number for their kinds.
#[derive(Clone, Copy)]
struct Blank {
    mask: u64,
    kinds: u64,
}

impl Blank {
    /// The outline of a key of `len` < 64 bytes.
    #[inline(always)]
    fn outline<B: Bytes64>(self, bytes: B, len: u32) -> u64 {
        let literal = bytes.hash_where(below(len) & !self.mask, &PI);
        // The bit at the end also encodes the key's length.
        let place = self.mask | 1_u64.wrapping_shl(len);
        fold(literal as u64 ^ place, (literal >> 64) as u64 ^ self.kinds)
    }
}

/// The ids of a key of `len` < 64 bytes treated as numbers, and whether some may be others.
///
/// ```text
/// key      n e w s 0 0 1 : v 2 : 4 7
/// word     1 1 1 1 1 1 1 . 1 1 . 1 1
/// ends     . . . . . . . 1 . . 1 . . 1    the byte after each token
/// letter   . . . . . . . 1 . . 1 . . .    word + its letters: the sum carries out of a token that has one
/// blank    . . . . 1 1 1 . . . . 1 1      the digits before the end of a token: all its bytes, or three and more
/// ```
#[inline(always)]
fn numbers<B: Bytes64>(bytes: B, len: u32) -> (Blank, bool) {
    let in_key = below(len);
    let digit = bytes.within(b'0', b'9') & in_key;
    let word = digit | bytes.letters(b'a', b'z') & in_key;
    let letter = having(word, word & !digit);
    let three = digit & digit << 1 & digit << 2;
    let numbers = Blank {
        mask: bytes.runs_below(digit, ends(word) & (!letter | three << 1)),
        kinds: 0,
    };
    let mingled = having(word, digit) & letter;
    (numbers, mingled & having(word, eight(word)) != 0)
}

/// All ids of a key of `len` < 64 bytes.
#[inline(always)]
fn any_ids<B: Bytes64>(bytes: B, len: u32) -> Blank {
    let Masks {
        digit,
        word,
        hex,
        uuid,
    } = Masks::of(bytes, len);
    let (ends, eight) = (ends(word), eight(word));
    let letter = having(word, word & !digit);
    let mingled = having(word, digit) & letter;
    let numbers = ends & !letter;
    // A UUID counts as both.
    let uuids = having(word, uuid);
    let hexes = mingled & having(word, eight) & !having(word, word & !hex) | uuids;
    let mixed = mingled & having(word, eight & eight >> 8) & !hexes | uuids;
    let whole = numbers | hexes | mixed;
    let three = digit & digit << 1 & digit << 2;
    let trailing = mingled & !whole & three << 1;
    Blank {
        mask: bytes.runs_below(word, whole) | bytes.runs_below(digit, trailing),
        kinds: fold(hexes ^ PI[0], mixed ^ PI[1]),
    }
}

/// The bits after each run of ones.
#[inline(always)]
fn ends(word: u64) -> u64 {
    word << 1 & !word
}

/// The ends of runs that contain a bit of `bits`.
#[inline(always)]
fn having(word: u64, bits: u64) -> u64 {
    word.wrapping_add(bits) & !word
}

/// Runs of at least eight ones.
#[inline(always)]
fn eight(word: u64) -> u64 {
    let two = word & word >> 1;
    let four = two & two >> 2;
    four & four >> 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::block::Block;
    use proptest::prelude::*;
    use slotscope_keyname::ids;
    use std::collections::BTreeMap;

    /// The bytes of a key with ids zeroed.
    fn blanked(key: &[u8]) -> Vec<u8> {
        let mut bytes = key.to_vec();
        for id in ids::of_key(key) {
            let id = bytes[id.start as usize..id.end as usize].iter_mut();
            // The dots of an address may be in several places.
            id.filter(|byte| **byte != b'.').for_each(|byte| *byte = 0);
        }
        bytes
    }

    fn assert_outlines_follow_patterns(keys: &[Vec<u8>]) {
        let (mut content, mut spans) = (Vec::new(), Spans::default());
        for key in keys {
            spans.push(content.len() as u32, (content.len() + key.len()) as u32);
            content.extend_from_slice(key);
        }
        let block = Block::from_bytes(&content);
        for kernel in hashslot::available() {
            let mut outlines = Outlines::default();
            outlines.of(kernel, block.padded(), &spans);
            let mut patterns: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
            let mut numbers: BTreeMap<_, Vec<u64>> = BTreeMap::new();
            for (key, outline) in keys.iter().zip(&outlines.column) {
                let shown = || format!("{}: {}", kernel.name, String::from_utf8_lossy(key));
                let pattern = ids::pattern_of(key);
                let first = patterns.entry(*outline).or_insert_with(|| pattern.clone());
                assert_eq!(first, &pattern, "{}", shown());
                let numbers = numbers.entry((pattern, blanked(key))).or_default();
                if !numbers.contains(outline) {
                    numbers.push(*outline);
                }
                // Digits of a UUID whose letters are in short tokens may be blanked separately.
                let is_uuid = ids::of_key(key)
                    .iter()
                    .any(|found| found.id == ids::Id::Uuid);
                assert!(numbers.len() == 1 || is_uuid, "{}", shown());
            }
        }
    }

    #[test]
    fn ids_of_any_length_at_any_place_share_the_outline_of_their_length() {
        let mut keys = Vec::new();
        for before in 0..30 {
            for len in 0..34 {
                for id in ["4", "5", "4f", "4z", "f4", "f5", "zz9"] {
                    let id: String = id.chars().cycle().take(len).collect();
                    keys.push(format!("{}:{id}", "k".repeat(before)).into_bytes());
                    keys.push(format!("{}{id}:b7:{id}", "k".repeat(before)).into_bytes());
                }
            }
        }
        assert_outlines_follow_patterns(&keys);
    }

    #[test]
    fn zero_bytes_and_lengths_count() {
        assert_outlines_follow_patterns(&[
            b"a".to_vec(),
            b"a\0".to_vec(),
            b"a\0\0".to_vec(),
            b"a1".to_vec(),
            b"\0a".to_vec(),
            b"1".to_vec(),
            b"\0".to_vec(),
            vec![],
        ]);
    }

    proptest! {
        #[test]
        fn keys_of_one_outline_have_one_pattern(
            keys in prop::collection::vec(
                "([a-f0-9]{1,12}|[0-9]{1,18}|[a-z]{1,9}[0-9]{0,4}|[:{}-]|é|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,4}([.][0-9]{1,3}){3}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){0,7}",
                0..60,
            ),
        ) {
            let keys: Vec<Vec<u8>> = keys.into_iter().map(String::into_bytes).collect();
            assert_outlines_follow_patterns(&keys);
        }
    }
}
