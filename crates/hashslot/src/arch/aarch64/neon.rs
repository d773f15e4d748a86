//! The kernel for 64-bit Arm with PMULL (nearly all but the first Raspberry Pis): registers of one lane.
//!
//! ```text
//! up to 64   [ a0 ] [ a1 ] [ a2 ] [ a3 ]      as many registers as the longest key needs, XORed
//! reverse    [ high | low ]                   VREV64 reverses each half: the weights are swapped instead
//! divide     [ a b ] [ c d ] [ e f ] [ g h ]  64 bits each, then 16 of each: a c e g | b d f h
//! ```

use core::arch::aarch64::*;

use crate::arch::generic::crc::{
    Barrett, Clmul, Keys, finish_by_division, intrinsics, loads, shift,
};
use crate::arch::generic::groups::GROUP;
use crate::arch::kernel;
use crate::simd::Bytes64;

kernel!(
    "neon",
    Neon,
    Register,
    is_aarch64_feature_detected,
    "neon",
    "aes"
); // PMULL comes with AES

// SAFETY of all that follows, unsafe methods included: as the traits require. The caller of an unsafe method has checked
// that the CPU has the instructions, and a register exists only where it has them.

/// One register.
#[derive(Clone, Copy)]
struct Register(uint64x2_t);

/// The intrinsic is `#[inline(always)]`, which only a caller with its features may call.
#[inline]
#[target_feature(enable = "neon,aes")]
fn pmull(a: u64, b: u64) -> uint64x2_t {
    vreinterpretq_u64_p128(vmull_p64(a, b))
}

impl Clmul for Register {
    const LANES: usize = 1;

    /// The longest of the lengths.
    type Lens = u32;

    #[inline(always)]
    unsafe fn lens(starts: &[u32; GROUP], ends: &[u32; GROUP]) -> u32 {
        let [starts, ends] = [starts.as_ptr(), ends.as_ptr()];
        // SAFETY: as the trait demands; four numbers are 16 bytes.
        unsafe {
            let low = vsubq_u32(vld1q_u32(ends), vld1q_u32(starts));
            let high = vsubq_u32(vld1q_u32(ends.add(4)), vld1q_u32(starts.add(4)));
            vmaxvq_u32(vmaxq_u32(low, high))
        }
    }

    loads!(vdupq_n_u64(0), vld1q_u64);
    intrinsics! {
        xor = veorq_u64,
        and = vandq_u64,
        unpack_low = vzip1q_u64,
        unpack_high = vzip2q_u64,
    }

    shift!(shl64 = vshlq_n_u64);

    #[inline(always)]
    fn any_longer(longest: u32, bytes: u32) -> bool {
        longest > bytes
    }

    #[inline(always)]
    unsafe fn load_unaligned(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { vreinterpretq_u64_u8(vld1q_u8(from)) })
    }

    #[inline(always)]
    unsafe fn load_repeated<const BYTES: usize>(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { vreinterpretq_u64_u8(vrev64q_u8(vreinterpretq_u8_u64(self.0))) })
    }

    #[inline(always)]
    fn weigh(self, weights: Self) -> Self {
        // SAFETY: as for the traits.
        let swapped = Register(unsafe { vextq_u64(weights.0, weights.0, 1) });
        self.clmul_low(swapped).xor(self.clmul_high(swapped))
    }

    #[inline(always)]
    fn clmul_low(self, other: Self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { pmull(vgetq_lane_u64(self.0, 0), vgetq_lane_u64(other.0, 0)) })
    }

    #[inline(always)]
    fn clmul_high(self, other: Self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { pmull(vgetq_lane_u64(self.0, 1), vgetq_lane_u64(other.0, 1)) })
    }

    #[inline(always)]
    unsafe fn finish<K: Keys<Self>>(keys: K, slots: &mut [u16; GROUP]) {
        // SAFETY: passed on.
        unsafe { finish_by_division(keys, slots) }
    }
}

impl Barrett for Register {
    #[inline(always)]
    unsafe fn splat64(value: u64) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { vdupq_n_u64(value) })
    }

    #[inline(always)]
    unsafe fn splat16(value: u16) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { vreinterpretq_u64_u16(vdupq_n_u16(value)) })
    }

    #[inline(always)]
    fn shl16<const BITS: i32>(self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { vreinterpretq_u64_u16(vshlq_n_u16(vreinterpretq_u16_u64(self.0), BITS)) })
    }

    /// An insertion covers the bits above it.
    #[inline(always)]
    fn insert16<const K: usize>(self, from: Self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe {
            match K {
                1 => vsliq_n_u64(self.0, from.0, 16),
                2 => vsliq_n_u64(self.0, from.0, 32),
                _ => vsliq_n_u64(self.0, from.0, 48),
            }
        })
    }

    #[inline(always)]
    fn store_slots(self, slots: &mut [u16; GROUP]) {
        // SAFETY: as for the traits; eight slots are 16 bytes.
        unsafe {
            let mixed = vreinterpretq_u16_u64(self.0);
            let ordered = vzip1q_u16(mixed, vextq_u16(mixed, mixed, 4));
            vst1q_u16(slots.as_mut_ptr(), ordered);
        }
    }
}

/// Four registers.
#[derive(Clone, Copy)]
pub struct Neon([uint8x16_t; 4]);

/// The bit for each of eight bytes.
static BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Bytes64 for Neon {
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
            let [a, b, c, d] = self
                .0
                .map(|part| vandq_u8(vceqq_u8(part, vdupq_n_u8(byte)), bits));
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0)
        }
    }

    #[inline(always)]
    fn same_as(self, other: Self) -> u64 {
        // SAFETY: every aarch64 has NEON. Gathered as in `equal`.
        unsafe {
            let bits = vld1q_u8(BITS.as_ptr());
            let [a, b, c, d] =
                [0, 1, 2, 3].map(|i| vandq_u8(vceqq_u8(self.0[i], other.0[i]), bits));
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
            let [a, b, c, d] = self
                .0
                .map(|part| vandq_u8(vcleq_u8(vsubq_u8(part, low), width), bits));
            let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0)
        }
    }
}
