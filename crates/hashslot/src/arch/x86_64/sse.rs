//! The kernel for SSE4.1 with PCLMULQDQ (Westmere, Bulldozer and later): registers of one lane.
//!
//! ```text
//! up to 64   [ a0 ] [ a1 ] [ a2 ] [ a3 ]      as many registers as the longest key needs, XORed
//! divide     [ a b ] [ c d ] [ e f ] [ g h ]  64 bits each, then 16 of each: a c e g | b d f h
//! ```

use core::arch::x86_64::*;

use crate::arch::generic::crc::{
    Barrett, Clmul, Keys, finish_by_division, intrinsics, loads, shift,
};
use crate::arch::generic::groups::GROUP;
use crate::arch::kernel;
use crate::simd::Bytes64;

kernel!(
    "sse",
    Sse,
    Register,
    is_x86_feature_detected,
    "ssse3",
    "sse4.1",
    "popcnt",
    "pclmulqdq"
);

// SAFETY of all that follows, unsafe methods included: as the traits require. The caller of an unsafe method has checked
// that the CPU has the instructions, and a register exists only where it has them.

/// One register.
#[derive(Clone, Copy)]
struct Register(__m128i);

impl Clmul for Register {
    const LANES: usize = 1;

    /// The longer of the first and of the last four.
    type Lens = __m128i;

    #[inline(always)]
    unsafe fn lens(starts: &[u32; GROUP], ends: &[u32; GROUP]) -> __m128i {
        let [starts, ends] = [starts, ends].map(|column| column.as_ptr().cast::<__m128i>());
        // SAFETY: as the trait demands; four numbers are 16 bytes.
        unsafe {
            let low = _mm_sub_epi32(_mm_loadu_si128(ends), _mm_loadu_si128(starts));
            let high = _mm_sub_epi32(_mm_loadu_si128(ends.add(1)), _mm_loadu_si128(starts.add(1)));
            _mm_max_epu32(low, high)
        }
    }

    loads!(_mm_setzero_si128(), _mm_load_si128);
    intrinsics! {
        xor = _mm_xor_si128,
        and = _mm_and_si128,
        unpack_low = _mm_unpacklo_epi64,
        unpack_high = _mm_unpackhi_epi64,
        clmul_low = _mm_clmulepi64_si128::<0x00>,
        clmul_high = _mm_clmulepi64_si128::<0x11>,
    }

    shift!(shl64 = _mm_slli_epi64);

    #[inline(always)]
    fn any_longer(lens: __m128i, bytes: u32) -> bool {
        // SAFETY: as for the traits.
        unsafe {
            let bytes = _mm_set1_epi32(bytes as i32);
            _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_max_epu32(lens, bytes), bytes)) != 0xFFFF
        }
    }

    #[inline(always)]
    unsafe fn load_unaligned(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm_loadu_si128(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_repeated<const BYTES: usize>(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm_load_si128(from.cast()) })
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm_shuffle_epi8(self.0, order)
        })
    }

    #[inline(always)]
    unsafe fn finish<K: Keys<Self>>(keys: K, slots: &mut [u16; GROUP]) {
        // SAFETY: passed on.
        unsafe { finish_by_division(keys, slots) }
    }
}

impl Barrett for Register {
    shift!(shl16 = _mm_slli_epi16);

    #[inline(always)]
    unsafe fn splat64(value: u64) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm_set1_epi64x(value as i64) })
    }

    #[inline(always)]
    unsafe fn splat16(value: u16) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm_set1_epi16(value as i16) })
    }

    #[inline(always)]
    fn insert16<const K: usize>(self, from: Self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe {
            match K {
                1 => _mm_blend_epi16(self.0, _mm_slli_epi64(from.0, 16), 0x22),
                2 => _mm_blend_epi16(self.0, _mm_slli_epi64(from.0, 32), 0x44),
                _ => _mm_blend_epi16(self.0, _mm_slli_epi64(from.0, 48), 0x88),
            }
        })
    }

    #[inline(always)]
    fn store_slots(self, slots: &mut [u16; GROUP]) {
        // SAFETY: as for the traits; eight slots are 16 bytes.
        unsafe {
            let ordered = _mm_unpacklo_epi16(self.0, _mm_unpackhi_epi64(self.0, self.0));
            _mm_storeu_si128(slots.as_mut_ptr().cast(), ordered);
        }
    }
}

/// Four registers.
#[derive(Clone, Copy)]
pub(crate) struct Sse([__m128i; 4]);

impl Bytes64 for Sse {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Sse([0, 16, 32, 48].map(|at| unsafe { _mm_loadu_si128(from.add(at).cast()) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        let bits = |part| unsafe {
            _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(byte as i8))) as u16
        };
        let [a, b, c, d] = self.0.map(|part| u64::from(bits(part)));
        a | b << 16 | c << 32 | d << 48
    }

    #[inline(always)]
    fn same_as(self, other: Self) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        let bits =
            |i: usize| unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self.0[i], other.0[i])) as u16 };
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| u64::from(bits(i)));
        a | b << 16 | c << 32 | d << 48
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        let bits = |part| unsafe {
            let above = _mm_sub_epi8(part, _mm_set1_epi8(low as i8));
            let least = _mm_min_epu8(above, _mm_set1_epi8(high.wrapping_sub(low) as i8));
            _mm_movemask_epi8(_mm_cmpeq_epi8(least, above)) as u16
        };
        let [a, b, c, d] = self.0.map(|part| u64::from(bits(part)));
        a | b << 16 | c << 32 | d << 48
    }
}
