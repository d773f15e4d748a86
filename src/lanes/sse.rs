//! 64 bytes in four SSE registers.

use super::Lanes;
use std::arch::x86_64::*;

/// Four registers.
#[derive(Clone, Copy)]
pub struct Sse([__m128i; 4]);

impl Lanes for Sse {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Sse([0, 16, 32, 48].map(|at| unsafe { _mm_loadu_si128(from.add(at).cast()) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: every x86-64 has SSE2.
        let bits = |part| unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_set1_epi8(byte as i8))) as u16 };
        let [a, b, c, d] = self.0.map(|part| u64::from(bits(part)));
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
