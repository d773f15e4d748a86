//! 64 bytes in one AVX-512 register.

use super::{LANES, Lanes, Squeeze};
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

    /// The bit that parts small letters from large ones is set everywhere: of all bytes only letters become letters.
    #[inline(always)]
    fn letters(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512.
        Avx512(unsafe { _mm512_or_si512(self.0, _mm512_set1_epi8(0x20)) }).within(low, high)
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

/// Random bits: digits of pi behind those of `crate::hash`.
static BITS: [u64; 8] = [
    0x4528_21E6_38D0_1377,
    0xBE54_66CF_34E9_0C6C,
    0xC0AC_29B7_C97C_50DD,
    0x3F84_D5B5_B547_0917,
    0x9216_D5D9_8979_FB1B,
    0xD131_0BA6_98DF_B5AC,
    0x2FFD_72DB_D01A_DFB7,
    0xB8E1_AFED_6A26_7E96,
];

impl Squeeze for Avx512 {
    #[inline(always)]
    fn extract(self, from: u64, mask: u64) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has the features of the kernel, BMI2 among them.
        unsafe { _pext_u64(from, mask) }
    }

    #[inline(always)]
    fn deposit(self, from: u64, mask: u64) -> u64 {
        // SAFETY: as for `extract`.
        unsafe { _pdep_u64(from, mask) }
    }

    /// The halves of each lane of 16 bytes, made random, are multiplied without carry; the lanes are added up.
    #[inline(always)]
    fn squeeze(self, mask: u64) -> u128 {
        // SAFETY: as for `extract`, VBMI2 and VPCLMULQDQ among them; a lane is as large as a u128.
        unsafe {
            let bytes = _mm512_maskz_compress_epi8(mask, self.0);
            let random = _mm512_xor_si512(bytes, _mm512_loadu_si512(BITS.as_ptr().cast()));
            let mixed = _mm512_xor_si512(random, _mm512_clmulepi64_epi128(random, random, 0x10));
            let half = _mm256_xor_si256(_mm512_castsi512_si256(mixed), _mm512_extracti64x4_epi64(mixed, 1));
            let lane = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
            std::mem::transmute::<__m128i, u128>(lane)
        }
    }
}
