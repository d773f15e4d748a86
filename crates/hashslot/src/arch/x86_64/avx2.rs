//! The kernel for AVX2 with VPCLMULQDQ (Alder Lake, Zen 3): registers of two lanes.
//!
//! ```text
//! up to 16   [ a | b ]                        one key a lane
//! up to 32   [ a0 a1 ] [ b0 b1 ]              one key a register; join: [ a0^a1 | b0^b1 ]
//! up to 64   [ a0 a1 ] [ a2 a3 ] ...          two registers a key, XORed, then joined
//! divide     [ a c | b d ] [ e g | f h ]      64 bits each, then 16 of each: a e . . c g . . | b f . . d h . .
//! ```

use core::arch::x86_64::*;

use crate::arch::generic::crc::{
    Barrett, Clmul, Group, Keys, finish_by_division, intrinsics, last_of_one, loads, shift,
};
use crate::arch::generic::groups::{GROUP, own_mask};
use crate::arch::kernel;
use crate::simd::Bytes64;

kernel!(
    "avx2",
    Avx2,
    Register,
    is_x86_feature_detected,
    "avx2",
    "bmi1",
    "bmi2",
    "lzcnt",
    "popcnt",
    "pclmulqdq",
    "vpclmulqdq"
);

// SAFETY of all that follows, unsafe methods included: as the traits require. The caller of an unsafe method has checked
// that the CPU has the instructions, and a register exists only where it has them.

/// One register.
#[derive(Clone, Copy)]
struct Register(__m256i);

/// [a a'], [b b'] -> [a^a' b^b']
#[inline(always)]
fn join(Register(a): Register, Register(b): Register) -> Register {
    // SAFETY: as for the traits.
    Register(unsafe {
        _mm256_xor_si256(
            _mm256_permute2x128_si256(a, b, 0x21),
            _mm256_blend_epi32(a, b, 0xF0),
        )
    })
}

/// The last 16 bytes before `end`, with zeros before the last `len`.
///
/// # Safety
/// As for `last_of_one`.
#[inline(always)]
unsafe fn last_16(end: *const u8, len: usize) -> __m128i {
    // SAFETY: passed on; the mask of 16 bytes is as long.
    unsafe {
        let mask = _mm_loadu_si128(own_mask(16, len).cast());
        _mm_and_si128(_mm_loadu_si128(end.wrapping_sub(16).cast()), mask)
    }
}

impl Clmul for Register {
    const LANES: usize = 2;

    type Lens = __m256i;

    #[inline(always)]
    unsafe fn lens(starts: &[u32; GROUP], ends: &[u32; GROUP]) -> __m256i {
        // SAFETY: as the trait demands; eight numbers are 32 bytes.
        unsafe {
            _mm256_sub_epi32(
                _mm256_loadu_si256(ends.as_ptr().cast()),
                _mm256_loadu_si256(starts.as_ptr().cast()),
            )
        }
    }

    loads!(_mm256_setzero_si256(), _mm256_load_si256);
    intrinsics! {
        xor = _mm256_xor_si256,
        and = _mm256_and_si256,
        unpack_low = _mm256_unpacklo_epi64,
        unpack_high = _mm256_unpackhi_epi64,
        clmul_low = _mm256_clmulepi64_epi128::<0x00>,
        clmul_high = _mm256_clmulepi64_epi128::<0x11>,
    }

    shift!(shl64 = _mm256_slli_epi64);

    #[inline(always)]
    fn any_longer(lens: __m256i, bytes: u32) -> bool {
        // SAFETY: as for the traits.
        unsafe {
            let bytes = _mm256_set1_epi32(bytes as i32);
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(lens, bytes), bytes)) != -1
        }
    }

    #[inline(always)]
    unsafe fn load_unaligned(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm256_loadu_si256(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_repeated<const BYTES: usize>(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe {
            match BYTES {
                16 => _mm256_broadcastsi128_si256(_mm_load_si128(from.cast())),
                _ => _mm256_load_si256(from.cast()),
            }
        })
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe {
            let order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            _mm256_shuffle_epi8(self.0, _mm256_broadcastsi128_si256(order))
        })
    }

    #[inline(always)]
    unsafe fn last<const BYTES: usize>(group: Group<'_, Self>, first: usize) -> Self {
        let (end, len) = group.end_and_len(first);
        if BYTES > 16 {
            // SAFETY: passed on.
            return unsafe { last_of_one(end, len, BYTES, 0) };
        }
        let (next_end, next_len) = group.end_and_len(first + 1);
        // SAFETY: passed on.
        unsafe {
            let (low, high) = (last_16(end, len), last_16(next_end, next_len));
            Register(_mm256_set_m128i(high, low)).reverse()
        }
    }

    #[inline(always)]
    unsafe fn sum<K: Keys<Self>>(keys: K, i: usize) -> Self {
        // SAFETY: passed on.
        unsafe {
            match K::SHARED {
                2 => keys.weighted(2 * i),
                _ => join(keys.weighted(2 * i), keys.weighted(2 * i + 1)),
            }
        }
    }

    #[inline(always)]
    unsafe fn finish<K: Keys<Self>>(keys: K, slots: &mut [u16; GROUP]) {
        // SAFETY: passed on.
        unsafe { finish_by_division(keys, slots) }
    }
}

impl Barrett for Register {
    shift!(shl16 = _mm256_slli_epi16);

    #[inline(always)]
    unsafe fn splat64(value: u64) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm256_set1_epi64x(value as i64) })
    }

    #[inline(always)]
    unsafe fn splat16(value: u16) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm256_set1_epi16(value as i16) })
    }

    #[inline(always)]
    fn insert16<const K: usize>(self, from: Self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { _mm256_blend_epi16(self.0, _mm256_slli_epi32(from.0, 16), 0xAA) })
    }

    #[inline(always)]
    fn store_slots(self, slots: &mut [u16; GROUP]) {
        // SAFETY: as for the traits; eight slots are 16 bytes.
        unsafe {
            // a . c . e . g . | . b . d . f . h
            let order = _mm256_setr_epi8(
                0, 1, -1, -1, 8, 9, -1, -1, 2, 3, -1, -1, 10, 11, -1, -1, //
                -1, -1, 0, 1, -1, -1, 8, 9, -1, -1, 2, 3, -1, -1, 10, 11,
            );
            let ordered = _mm256_shuffle_epi8(self.0, order);
            let packed = _mm_or_si128(
                _mm256_castsi256_si128(ordered),
                _mm256_extracti128_si256(ordered, 1),
            );
            _mm_storeu_si128(slots.as_mut_ptr().cast(), packed);
        }
    }
}

/// Two registers.
#[derive(Clone, Copy)]
pub(crate) struct Avx2([__m256i; 2]);

impl Bytes64 for Avx2 {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Avx2([0, 32].map(|at| unsafe { _mm256_loadu_si256(from.add(at).cast()) }))
    }

    #[inline(always)]
    fn equal(self, byte: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX2.
        let bits = |part| unsafe {
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(part, _mm256_set1_epi8(byte as i8))) as u32
        };
        u64::from(bits(self.0[0])) | u64::from(bits(self.0[1])) << 32
    }

    #[inline(always)]
    fn same_as(self, other: Self) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX2.
        let bits = |i: usize| unsafe {
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(self.0[i], other.0[i])) as u32
        };
        u64::from(bits(0)) | u64::from(bits(1)) << 32
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

    /// Sets the ASCII case bit (0x20) in every byte, which maps only letters to lower case letters.
    #[inline(always)]
    fn letters(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX2.
        Avx2(
            self.0
                .map(|part| unsafe { _mm256_or_si256(part, _mm256_set1_epi8(0x20)) }),
        )
        .within(low, high)
    }
}
