//! Stage 3, SLOTS: the kernel for AVX2 with VPCLMULQDQ (Alder Lake, Zen 3). Spans come in, slots go out; eight keys
//! at a time, two vectors a key.
//!
//! ```text
//! memory     ....|<-- 64 bytes that end where the key ends -->|    ANDed with a mask: bytes before the key are zero
//! a a'       [ lane 0 | lane 1 ] [ lane 2 | lane 3 ]               each lane's 16 bytes reversed: a number
//!              x w0     x w1       x w2     x w3                   low half x low weight ^ high half x high weight
//! a ^ a'     [ .. | .. ]                                           its two lanes' XOR is congruent to the CRC
//! 8 keys     [ a | b ] [ c | d ] [ e | f ] [ g | h ]               XOR-transposed, 80 bits a lane
//! fold       [ a c | b d ] [ e g | f h ]                           64 bits each: x^64 = x^48 + x^20 + 1 mod P^4
//! divide     quotient = upper half of f * (x^64 / P)               Barrett; a bit matrix would need VPERMB
//! subtract   f ^ quotient * P, 16 bits of it                       shifts by 0, 5 and 12 (and 16, out of sight)
//! ```
//! Keys of up to 32 bytes are one vector, of up to 16 share one in pairs.

use super::groups::{GROUP, end_and_len, groups, own_mask};
use super::kernel;
use super::poly::{self, QUOTIENT, WEIGHTED};
use super::sparse::{self, Word};
use crate::format::batch::Spans;
use crate::lanes::avx2::Avx2;
use crate::slot::SLOTS;
use crate::source::block::Padded;
use std::arch::x86_64::*;
use std::slice::from_raw_parts;

kernel!("avx2", Avx2, by_masks, is_x86_feature_detected, "avx2", "bmi1", "bmi2", "popcnt", "pclmulqdq", "vpclmulqdq");

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq,vpclmulqdq")]
unsafe fn hash(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    // SAFETY: the spans are in bounds, says the caller, and so are empty ones.
    groups(spans, slots, |starts, ends, slots| unsafe { group(base.as_ptr(), starts, ends, slots) });
}

/// The slots of eight keys.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
unsafe fn group(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    // SAFETY: two columns of eight numbers, 32 bytes each.
    let lens = unsafe {
        _mm256_sub_epi32(_mm256_loadu_si256(ends.as_ptr().cast()), _mm256_loadu_si256(starts.as_ptr().cast()))
    };
    let longer_than = |len| {
        let len = _mm256_set1_epi32(len);
        _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(lens, len), len)) != -1
    };
    // SAFETY: the spans are in bounds, says the caller, and have the lengths that are asked for.
    unsafe {
        let key = |i| end_and_len(base, starts, ends, i);
        let pairs = if longer_than(32) {
            if longer_than(64) {
                return any_length(base, starts, ends, slots);
            }
            [0, 2, 4, 6].map(|i| join(up_to_64(key(i)), up_to_64(key(i + 1))))
        } else if longer_than(16) {
            [0, 2, 4, 6].map(|i| join(up_to_32(key(i)), up_to_32(key(i + 1))))
        } else {
            [0, 2, 4, 6].map(|i| up_to_16(key(i), key(i + 1)))
        };
        finish(pairs, slots);
    }
}

/// The bytes of each lane, reversed, times the lane's weights: 79 bits.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn weigh(bytes: __m256i, weights: __m256i) -> __m256i {
    let reverse = _mm256_broadcastsi128_si256(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let reversed = _mm256_shuffle_epi8(bytes, reverse);
    _mm256_xor_si256(
        _mm256_clmulepi64_epi128(reversed, weights, 0x00),
        _mm256_clmulepi64_epi128(reversed, weights, 0x11),
    )
}

/// [a a'], [b b'] -> [a^a' b^b']
#[inline]
#[target_feature(enable = "avx2")]
fn join(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(_mm256_permute2x128_si256(a, b, 0x21), _mm256_blend_epi32(a, b, 0xF0))
}

/// Two keys of up to 16 bytes, one a lane.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn up_to_16(a: (*const u8, usize), b: (*const u8, usize)) -> __m256i {
    // SAFETY: 64 bytes before the block may be read; the mask of 16 bytes and their weights are 16 bytes each.
    unsafe {
        let lane = |(end, len): (*const u8, usize)| {
            let mask = _mm_loadu_si128(own_mask(16, len).cast());
            _mm_and_si128(_mm_loadu_si128(end.wrapping_sub(16).cast()), mask)
        };
        let weights = _mm256_broadcastsi128_si256(_mm_load_si128(poly::weights(16).cast()));
        weigh(_mm256_set_m128i(lane(b), lane(a)), weights)
    }
}

/// A key of up to 32 bytes.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn up_to_32((end, len): (*const u8, usize)) -> __m256i {
    // SAFETY: 64 bytes before the block may be read; the mask of 32 bytes and their weights are 32 bytes each.
    unsafe {
        let mask = _mm256_loadu_si256(own_mask(32, len).cast());
        let bytes = _mm256_and_si256(_mm256_loadu_si256(end.wrapping_sub(32).cast()), mask);
        weigh(bytes, _mm256_load_si256(poly::weights(32).cast()))
    }
}

/// A key of up to 64 bytes.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn up_to_64(key: (*const u8, usize)) -> __m256i {
    // SAFETY: 64 bytes before the block may be read, and fit the weights of 64 bytes.
    unsafe { last_64(key, poly::weights(64)) }
}

/// The last at most 64 bytes before an end, weighted.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn last_64((end, len): (*const u8, usize), weights: *const u64) -> __m256i {
    // SAFETY: the caller has 64 bytes before the end, and weights of 64 bytes; so many has the mask.
    unsafe {
        let half = |at: usize| {
            let mask = _mm256_loadu_si256(own_mask(64, len).add(at).cast());
            let bytes = _mm256_and_si256(_mm256_loadu_si256(end.wrapping_sub(64 - at).cast()), mask);
            weigh(bytes, _mm256_load_si256(weights.byte_add(at).cast()))
        };
        _mm256_xor_si256(half(0), half(32))
    }
}

/// Keys of any length: their 64-byte blocks times their weights, added up.
#[cold]
#[inline(never)] // would crowd the registers of the loop it is called from
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
unsafe fn any_length(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    let weigh_key = |i: usize| {
        // SAFETY: the span is in bounds, says the caller.
        let key = unsafe { from_raw_parts(base.add(starts[i] as usize), (ends[i] - starts[i]) as usize) };
        // SAFETY: the block has 64 readable bytes before it, and so has the rest of a key.
        unsafe { if key.len() <= WEIGHTED { weigh_blocks(key) } else { weigh_blocks(shorten(key).bytes()) } }
    };
    finish([0, 2, 4, 6].map(|i| join(weigh_key(i), weigh_key(i + 1))), slots);
}

/// The rest of a long key.
#[inline(never)] // its vectors take all registers
#[target_feature(enable = "avx2")]
unsafe fn shorten(key: &[u8]) -> sparse::Rest {
    // SAFETY: the key is longer than 16 vectors, the block has 64 readable bytes before it.
    unsafe { sparse::shorten::<Vector>(key) }
}

/// The sum of the weighted blocks of at most `WEIGHTED` bytes that have 64 readable bytes before them.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
unsafe fn weigh_blocks(key: &[u8]) -> __m256i {
    let (first, blocks) = key.as_rchunks::<64>();
    let first_weights = poly::weights((64 * blocks.len() + 64).min(WEIGHTED));
    // SAFETY: at most 64 bytes before the key are read.
    let mut sum = unsafe { last_64((first.as_ptr_range().end, first.len()), first_weights) };
    for (i, block) in blocks.iter().rev().enumerate() {
        // SAFETY: a block has 64 bytes, and so have its weights.
        let weighted = unsafe { last_64((block.as_ptr_range().end, 64), poly::weights(64 * i + 64)) };
        sum = _mm256_xor_si256(sum, weighted);
    }
    sum
}

/// The slots of eight keys from 80 bits a lane.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn finish([ab, cd, ef, gh]: [__m256i; 4], slots: &mut [u16; GROUP]) {
    let (acbd, acbd_quotients) = divide(ab, cd);
    let (egfh, egfh_quotients) = divide(ef, gh);
    // 16 bits of each are enough: a e . . c g . . | b f . . d h . .
    let mix = |low, high| _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xAA);
    let (numbers, quotients) = (mix(acbd, egfh), mix(acbd_quotients, egfh_quotients));
    let shifted = _mm256_xor_si256(_mm256_slli_epi16(quotients, 5), _mm256_slli_epi16(quotients, 12));
    let crcs = _mm256_xor_si256(_mm256_xor_si256(numbers, quotients), shifted);
    let mixed = _mm256_and_si256(crcs, _mm256_set1_epi16(SLOTS as i16 - 1));
    // a . c . e . g . | . b . d . f . h
    let order = _mm256_setr_epi8(
        0, 1, -1, -1, 8, 9, -1, -1, 2, 3, -1, -1, 10, 11, -1, -1, //
        -1, -1, 0, 1, -1, -1, 8, 9, -1, -1, 2, 3, -1, -1, 10, 11,
    );
    let ordered = _mm256_shuffle_epi8(mixed, order);
    let all = _mm_or_si128(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1));
    // SAFETY: eight slots are 16 bytes.
    unsafe { _mm_storeu_si128(slots.as_mut_ptr().cast(), all) };
}

/// [a b], [c d] -> [a c b d] folded to 64 bits each, and their quotients by P.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn divide(ab: __m256i, cd: __m256i) -> (__m256i, __m256i) {
    let (low, high) = (_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    // 16 bits above x^64, so that x^48 of them still fits.
    let shifted = _mm256_xor_si256(_mm256_slli_epi64(high, 20), _mm256_slli_epi64(high, 48));
    let folded = _mm256_xor_si256(_mm256_xor_si256(low, high), shifted);
    let quotient = _mm256_set1_epi64x(QUOTIENT as i64);
    let ab = _mm256_clmulepi64_epi128(folded, quotient, 0x00);
    let cd = _mm256_clmulepi64_epi128(folded, quotient, 0x01);
    (folded, _mm256_unpackhi_epi64(ab, cd))
}

/// 32 bytes for the recurrence.
#[derive(Clone, Copy)]
struct Vector(__m256i);

impl Word for Vector {
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: only `shorten` uses vectors, which has the instructions.
        Vector(unsafe { _mm256_setzero_si256() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Vector(unsafe { _mm256_load_si256(from.cast()) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as for `zero`.
        Vector(unsafe { _mm256_xor_si256(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the trait demands.
        unsafe { _mm256_store_si256(to.cast(), self.0) }
    }
}
