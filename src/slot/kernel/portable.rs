//! Stage 3, SLOTS: the kernel without intrinsics, for CPUs without carry-less multiplication. Spans come in, slots
//! go out; eight look-ups at a time that do not wait for each other.
//!
//! ```text
//! key         ....|u s e r : 1 0 0 8 6|     words of 8 bytes that end where the key ends; bytes before it are zero
//! distance     15 14 13 12 ...... 1  0      from the end; each has its own table: byte -> byte * x^(8*distance + 16)
//! slot        XOR of all the look-ups       sums without carries have no order, so none waits for another
//! ```

use super::poly::powers;
use super::sparse;
use super::{Kernel, check, cut, table};
use crate::format::batch::Spans;
use crate::lanes::portable::Portable;
use crate::slot::SLOTS;
use crate::source::block::Padded;

/// The kernel row. Two compares of 64 bytes a key cost 13 ns without vectors, a search byte by byte 4: `narrow` is
/// the reference's. For `cut` it is the other way round (4.7 against 5 to 7 ns).
pub static KERNEL: Kernel = Kernel {
    name: "portable",
    needs: "nothing",
    supported: || true,
    cut,
    narrow: table::narrow,
    shapes: table::shapes,
    slots,
};

/// Bytes looked up at once.
const WORD: usize = 8;

/// Bytes that have a table each, 32 KiB in all: as much as an L1 cache holds beside the keys.
const BLOCK: usize = 64;

/// Tables for the bytes of a word.
type Tables = [[u16; 256]; WORD];

/// For word w from the end and byte i of it: what each value of the byte is worth, 8*w + 7 - i bytes before the end.
static TABLES: [Tables; BLOCK / WORD] = {
    let powers: [u16; 8 * BLOCK + 16] = powers();
    let mut tables = [[[0; 256]; WORD]; BLOCK / WORD];
    let mut distance = 0;
    while distance < BLOCK {
        let mut byte = 1;
        while byte < 256 {
            let table = &mut tables[distance / WORD][WORD - 1 - distance % WORD];
            // The lowest bit's worth, XORed to what the other bits are worth.
            let bit = (byte as u32).trailing_zeros() as usize;
            table[byte] = table[byte & (byte - 1)] ^ powers[8 * distance + 16 + bit];
            byte += 1;
        }
        distance += 1;
    }
    tables
};

fn cut(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
    // SAFETY: no instructions are asked for.
    unsafe { cut::cut::<Portable>(base, from, delimiter, ends) }
}

fn slots(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    check(base, spans, slots.len());
    for (slot, (&start, &end)) in slots.iter_mut().zip(spans.start.iter().zip(&spans.end)) {
        // SAFETY: the spans were checked.
        let key = unsafe { base.bytes().get_unchecked(start as usize..end as usize) };
        // SAFETY: a block has 64 readable bytes before it.
        *slot = unsafe { if key.len() < BLOCK { short(key) } else { long(key) } } & (SLOTS as u16 - 1);
    }
}

/// The XOR of eight look-ups.
#[inline(always)]
fn look_up(word: [u8; WORD], tables: &Tables) -> u16 {
    (0..WORD).fold(0, |crc, i| crc ^ tables[i][usize::from(word[i])])
}

/// The CRC of fewer than 64 bytes.
///
/// # Safety
/// A word before the key must be readable.
#[inline(always)]
unsafe fn short(key: &[u8]) -> u16 {
    let (first, words) = key.as_rchunks::<WORD>();
    // SAFETY: the word ends with `first` and begins less than a word before the key.
    let word = unsafe { first.as_ptr_range().end.wrapping_sub(WORD).cast::<[u8; WORD]>().read() };
    // Zeros where bytes are foreign; two shifts, for there may be no own ones and 64 is too far for one.
    let own = !(u64::MAX >> (4 * first.len()) >> (4 * first.len()));
    let word = (u64::from_le_bytes(word) & own).to_le_bytes();
    let mut crc = look_up(word, &TABLES[words.len()]);
    for (word, tables) in words.iter().rev().zip(&TABLES) {
        crc ^= look_up(*word, tables);
    }
    crc
}

/// The CRC of any number of bytes.
///
/// # Safety
/// As for `short`.
#[cold]
unsafe fn long(key: &[u8]) -> u16 {
    // Below four times what is left, making it less costs more than it saves.
    if key.len() > 2048 {
        // SAFETY: there are far more than 16 words, and says the caller.
        return unsafe { by_blocks(sparse::shorten::<[u64; 2]>(key).bytes()) };
    }
    // SAFETY: says the caller.
    unsafe { by_blocks(key) }
}

/// The CRC of any number of bytes, 64 at a time: what the bytes so far come to is XORed to the next two.
///
/// # Safety
/// As for `short`.
#[inline(always)]
unsafe fn by_blocks(key: &[u8]) -> u16 {
    let (first, blocks) = key.as_rchunks::<BLOCK>();
    // SAFETY: says the caller.
    let mut crc = unsafe { short(first) };
    for block in blocks {
        let (words, _) = block.as_chunks::<WORD>();
        let [high, low] = crc.to_be_bytes();
        let mut next = look_up([high, low, 0, 0, 0, 0, 0, 0], &TABLES[BLOCK / WORD - 1]);
        for (word, tables) in words.iter().rev().zip(&TABLES) {
            next ^= look_up(*word, tables);
        }
        crc = next;
    }
    crc
}
