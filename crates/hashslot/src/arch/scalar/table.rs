//! The reference kernel: one table lookup per byte, no intrinsics. Every other kernel is compared with it.
//!
//! ```text
//! name    CRC-16/XMODEM (also ZMODEM, ACORN)      width   16
//! poly    0x1021 = x^16 + x^12 + x^5 + 1          init    0x0000
//! refin   no       refout  no                     xorout  0x0000
//! check   0x31C3 for "123456789"
//! slot    CRC & 0x3FFF: the low 14 of the 16 bits
//! ```
//! Source: the Redis Cluster specification, appendix A.

use crate::kernel::Kernel;
use crate::simd::Pass;
use crate::{Batch, slot_of_crc};

/// The kernel row.
pub(crate) static KERNEL: Kernel = Kernel {
    name: "table",
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

/// x^16 + x^12 + x^5 + 1, without its highest bit.
pub(crate) const POLY: u16 = 0x1021;

/// The CRC of each single byte.
static TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 {
                (crc << 1) ^ POLY
            } else {
                crc << 1
            };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// CRC-16/XMODEM of `bytes`.
pub(crate) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)]
    })
}

fn slots(parts: Batch<'_>, slots: &mut [u16]) {
    parts.assert_in_bounds();
    assert_eq!(parts.len(), slots.len(), "a slot for each span");
    for (i, slot) in slots.iter_mut().enumerate() {
        *slot = slot_of_crc(crc16(parts.get(i)));
    }
}
