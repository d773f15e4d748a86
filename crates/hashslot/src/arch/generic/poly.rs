//! Constants of the vector kernels for P = x^16 + x^12 + x^5 + 1, all computed from `POLY`.
//!
//! A key of n bytes is the polynomial whose first bit is the coefficient of x^(8n - 1); its CRC is key * x^16 mod P.
//! Leading zeros change nothing, and the XOR of messages has the XOR of their CRCs: everything else follows from this.

use crate::arch::scalar::table::POLY;

/// x^n mod P for each n below `N`.
pub(crate) const fn powers<const N: usize>() -> [u16; N] {
    let mut powers = [0; N];
    let mut power: u16 = 1;
    let mut n = 0;
    while n < N {
        powers[n] = power;
        power = if power & 0x8000 != 0 {
            (power << 1) ^ POLY
        } else {
            power << 1
        };
        n += 1;
    }
    powers
}

/// Number of bytes covered by `WEIGHTS`: 4 KiB of weights stay in the L1 cache.
pub(crate) const WEIGHTED: usize = 4096;

/// One pair of weights for each 16 bytes of a message of `WEIGHTED` bytes, in message order.
#[repr(align(64))]
pub(crate) struct Weights(pub [[u64; 2]; WEIGHTED / 16]);

/// The factors for the halves of 16 bytes: 16 bytes that end 128*k bits before the message's end, read as one
/// big-endian number, are congruent to low * x^(128*k + 16) + high * x^(128*k + 64 + 16). Products of 64 and 16 bits
/// have at most 79: they may be XORed unreduced and reduced once.
pub(crate) static WEIGHTS: Weights = {
    static POWERS: [u16; WEIGHTED * 8 + 16] = powers();
    let mut weights = [[0; 2]; WEIGHTED / 16];
    let mut k = 0;
    while k < WEIGHTED / 16 {
        weights[WEIGHTED / 16 - 1 - k] = [
            POWERS[128 * k + 16] as u64,
            POWERS[128 * k + 64 + 16] as u64,
        ];
        k += 1;
    }
    Weights(weights)
};

/// The weights of the last `bytes` bytes of a message.
///
/// # Panics
/// If `bytes` exceeds `WEIGHTED`.
#[inline(always)]
pub(crate) fn weights(bytes: usize) -> *const u8 {
    WEIGHTS.0[(WEIGHTED - bytes) / 16..].as_ptr().cast()
}

/// One 8 x 8 bit matrix per byte of a 64-bit number, as GF2P8AFFINEQB takes them: each byte times its matrix is its
/// share of bits `from..from + 8` of the slot; the XOR of the eight shares is these bits. Bits beyond those of a slot
/// are zero rows.
#[cfg(target_arch = "x86_64")]
pub(crate) const fn slot_matrices(from: usize) -> [u64; 8] {
    let powers: [u16; 64] = powers();
    let mut matrices = [0; 8];
    let mut bit = 0;
    while bit < 64 {
        let power = crate::slot_of_crc(powers[bit]);
        let mut row = 0;
        while row < 8 {
            // The instruction keeps the row of output bit `row` in byte 7 - row.
            matrices[bit / 8] |= ((power >> (from + row)) as u64 & 1) << (8 * (7 - row) + bit % 8);
            row += 1;
        }
        bit += 1;
    }
    matrices
}

/// The quotient x^64 / P: for a 64-bit number f, the upper half of f * `QUOTIENT` is exactly f / P, since the terms
/// missing from the quotient do not reach the upper half.
pub(crate) const QUOTIENT: u64 = {
    // Long division; the remainder is kept without its leading bit.
    let (mut quotient, mut rest, mut bit) = (0, 1u64, 64);
    while bit > 0 {
        bit -= 1;
        rest <<= 1;
        quotient <<= 1;
        if rest >> 16 & 1 == 1 {
            rest ^= 1 << 16 | POLY as u64;
            quotient |= 1;
        }
    }
    quotient
};
