//! 64 bytes in two AVX2 registers.

use super::Lanes;
use std::arch::x86_64::*;

/// Two registers.
#[derive(Clone, Copy)]
pub struct Avx2([__m256i; 2]);

impl Lanes for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Avx2([0, 32].map(|at| unsafe { _mm256_loadu_si256(from.add(at).cast()) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX2.
        let bits = |part| unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(part, _mm256_set1_epi8(byte as i8))) as u32 };
        u64::from(bits(self.0[0])) | u64::from(bits(self.0[1])) << 32
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX2.
        let bits = |part| unsafe {
            let above = _mm256_sub_epi8(part, _mm256_set1_epi8(low as i8));
            let least = _mm256_min_epu8(above, _mm256_set1_epi8(high.wrapping_sub(low) as i8));
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(least, above)) as u32
        };
        u64::from(bits(self.0[0])) | u64::from(bits(self.0[1])) << 32
    }
}
