//! The reference kernel: one table look-up a byte, no intrinsics. Every other kernel is compared with it.
//!
//! ```text
//! name    CRC-16/XMODEM (also ZMODEM, ACORN)      width   16
//! poly    0x1021 = x^16 + x^12 + x^5 + 1          init    0x0000
//! refin   no       refout  no                     xorout  0x0000
//! check   0x31C3 for "123456789"
//! slot    CRC & 0x3FFF: the low 14 of the 16 bits
//! ```
//! Source: the Redis Cluster specification, appendix A.

use super::{Kernel, check};
use crate::format::batch::Spans;
use crate::slot::shapes::by_byte;
use crate::slot::{SLOTS, hashtag};
use crate::source::block::Padded;

/// The kernel row.
pub static KERNEL: Kernel = Kernel { name: "table", needs: "nothing", supported: || true, cut, narrow, shapes, slots };

pub(super) const POLY: u16 = 0x1021;

/// CRC of each byte followed by nothing.
static TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { (crc << 1) ^ POLY } else { crc << 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// CRC-16/XMODEM of `bytes`.
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

fn cut(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
    let found = memchr::memchr_iter(delimiter, &base.bytes()[from as usize..]);
    ends.iter_mut().zip(found).map(|(end, at)| *end = from + at as u32).count()
}

/// Writes the hashed part of each key.
pub(super) fn narrow(base: Padded<'_>, keys: &Spans, hashed: &mut Spans) {
    check(base, keys, hashed.len());
    for i in 0..keys.len() {
        let part = hashtag::hashed_part(keys.get(base, i));
        hashed.start[i] = keys.start[i] + part.start as u32;
        hashed.end[i] = keys.start[i] + part.end as u32;
    }
}

/// Writes the shape of each key.
pub(super) fn shapes(base: Padded<'_>, keys: &Spans, shapes: &mut [u64]) {
    check(base, keys, shapes.len());
    by_byte(base, keys, shapes);
}

fn slots(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    check(base, spans, slots.len());
    for (i, slot) in slots.iter_mut().enumerate() {
        *slot = crc16(spans.get(base, i)) & (SLOTS as u16 - 1);
    }
}
