//! The kernel without intrinsics, for CPUs without carry-less multiplication: eight independent table look-ups at a time.
//!
//! ```text
//! key         ....|u s e r : 1 0 0 8 6|     words of 8 bytes that end where the key ends; bytes before it are zero
//! distance     15 14 13 12 ...... 1  0      from the end; each has its own table: byte -> byte * x^(8*distance + 16)
//! slot        XOR of all the look-ups       XOR has no order, so none waits for another
//! ```

use crate::arch::generic::poly::powers;
use crate::kernel::Kernel;
use crate::simd::Pass;
use crate::{Batch, slot_of_crc};

/// The kernel row.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "portable",
    needs: "nothing",
    supported: || true,
    slots,
};

/// Runs `pass` without vectors.
///
/// # Safety
/// None; `run` is unsafe because those of other kernels are.
pub(crate) unsafe fn run<P: Pass>(pass: P) -> P::Output {
    pass.scalar()
}

/// Bytes looked up at once.
const WORD: usize = 8;

/// Bytes with a table each, 32 KiB in all: what fits into an L1 cache together with the keys.
const BLOCK: usize = 64;

/// Tables for the bytes of a word.
type Tables = [[u16; 256]; WORD];

/// For word w from the end and byte i of it: the CRC contribution of each value of the byte, 8*w + 7 - i bytes before
/// the end.
static TABLES: [Tables; BLOCK / WORD] = {
    let powers: [u16; 8 * BLOCK + 16] = powers();
    let mut tables = [[[0; 256]; WORD]; BLOCK / WORD];
    let mut distance = 0;
    while distance < BLOCK {
        let mut byte = 1;
        while byte < 256 {
            let table = &mut tables[distance / WORD][WORD - 1 - distance % WORD];
            // The contribution of the lowest bit, XORed with that of the other bits.
            let bit = (byte as u32).trailing_zeros() as usize;
            table[byte] = table[byte & (byte - 1)] ^ powers[8 * distance + 16 + bit];
            byte += 1;
        }
        distance += 1;
    }
    tables
};

fn slots(parts: Batch<'_>, slots: &mut [u16]) {
    parts.assert_in_bounds();
    assert_eq!(parts.len(), slots.len(), "a slot for each span");
    let bytes = parts.base().bytes();
    let spans = parts.starts().iter().zip(parts.ends());
    for (slot, (&start, &end)) in slots.iter_mut().zip(spans) {
        // SAFETY: the spans were checked.
        let key = unsafe { bytes.get_unchecked(start as usize..end as usize) };
        // SAFETY: 64 bytes before the buffer are readable.
        *slot = slot_of_crc(unsafe {
            if key.len() < BLOCK {
                short(key)
            } else {
                by_blocks(key)
            }
        });
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
    let word = unsafe {
        first
            .as_ptr_range()
            .end
            .wrapping_sub(WORD)
            .cast::<[u8; WORD]>()
            .read()
    };
    // Zeros for bytes after the key. Two shifts: the key may have no bytes here, and one shift by 64 overflows.
    let own = !(u64::MAX >> (4 * first.len()) >> (4 * first.len()));
    let word = (u64::from_le_bytes(word) & own).to_le_bytes();
    let mut crc = look_up(word, &TABLES[words.len()]);
    for (word, tables) in words.iter().rev().zip(&TABLES) {
        crc ^= look_up(*word, tables);
    }
    crc
}

/// The CRC of any number of bytes, 64 at a time: the CRC so far is XORed into the next two bytes.
///
/// # Safety
/// As for `short`.
#[cold]
pub(crate) unsafe fn by_blocks(key: &[u8]) -> u16 {
    let (first, blocks) = key.as_rchunks::<BLOCK>();
    // SAFETY: the caller's promise.
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
