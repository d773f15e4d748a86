//! 64 bytes in four NEON registers.

use super::Lanes;
use std::arch::aarch64::*;

/// Four registers.
#[derive(Clone, Copy)]
pub struct Neon([uint8x16_t; 4]);

/// The bit that each byte of eight stands for.
static BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Lanes for Neon {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Neon([0, 16, 32, 48].map(|at| unsafe { vld1q_u8(from.add(at)) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: every aarch64 has NEON. Pairwise sums of the bits of eight bytes, three times, are their byte.
        unsafe {
            let bits = vld1q_u8(BITS.as_ptr());
            let [a, b, c, d] = self.0.map(|part| vandq_u8(vceqq_u8(part, vdupq_n_u8(byte)), bits));
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0)
        }
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        // SAFETY: every aarch64 has NEON. Gathered as in `equal`.
        unsafe {
            let bits = vld1q_u8(BITS.as_ptr());
            let (width, low) = (vdupq_n_u8(high.wrapping_sub(low)), vdupq_n_u8(low));
            let [a, b, c, d] = self.0.map(|part| vandq_u8(vcleq_u8(vsubq_u8(part, low), width), bits));
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0)
        }
    }
}
