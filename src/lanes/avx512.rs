//! 64 bytes in one AVX-512 register.

use super::{LANES, Lanes};
use std::arch::x86_64::*;

/// The number of each byte.
static NUMBERS: [u8; LANES] = {
    let (mut numbers, mut i) = ([0; LANES], 0);
    while i < LANES {
        numbers[i] = i as u8;
        i += 1;
    }
    numbers
};

/// One register.
#[derive(Clone, Copy)]
pub struct Avx512(__m512i);

impl Lanes for Avx512 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Avx512(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512BW.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512BW.
        unsafe {
            let above = _mm512_sub_epi8(self.0, _mm512_set1_epi8(low as i8));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8(high.wrapping_sub(low) as i8))
        }
    }

    /// The numbers of the set bits are pushed together and widened, sixteen at once whether or not there are so many.
    #[inline(always)]
    unsafe fn positions(self, mask: u64, base: u32, to: *mut u32) -> usize {
        let count = mask.count_ones() as usize;
        // SAFETY: `self` was loaded, so the CPU has AVX-512 (with VBMI2, as the kernel demands); there is room for 64.
        unsafe {
            let numbers = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(NUMBERS.as_ptr().cast()));
            let base = _mm512_set1_epi32(base as i32);
            let write = |part: usize, sixteen| {
                let wide = _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), base);
                _mm512_storeu_si512(to.add(16 * part).cast(), wide);
            };
            write(0, _mm512_castsi512_si128(numbers));
            if count > 16 {
                write(1, _mm512_extracti32x4_epi32(numbers, 1));
                write(2, _mm512_extracti32x4_epi32(numbers, 2));
                write(3, _mm512_extracti32x4_epi32(numbers, 3));
            }
        }
        count
    }
}
