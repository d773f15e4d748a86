//! Stage 3, SLOTS: the kernel for SSE4.1 with PCLMULQDQ (Westmere, Bulldozer and later). Spans come in, slots go
//! out; eight keys at a time, up to four vectors a key.
//!
//! ```text
//! memory     ....|<-- 64 bytes that end where the key ends -->|    ANDed with a mask: bytes before the key are zero
//! a0 .. a3   [ 16 bytes ] [ ] [ ] [ ]                              reversed: a number
//!              x w0       w1  w2  w3                               low half x low weight ^ high half x high weight
//! a          [ 80 bits ]                                           the XOR of all, congruent to the CRC
//! fold       [ a b ] [ c d ] [ e f ] [ g h ]                       64 bits each: x^64 = x^48 + x^20 + 1 mod P^4
//! divide     quotient = upper half of f * (x^64 / P)               Barrett
//! subtract   f ^ quotient * P, 16 bits of it                       shifts by 0, 5 and 12 (and 16, out of sight)
//! ```
//! A group takes as many vectors a key as its longest key needs: one, two or four.

use super::groups::{GROUP, end_and_len, groups, own_mask};
use super::kernel;
use super::poly::{self, QUOTIENT, WEIGHTED};
use super::sparse;
use crate::format::batch::Spans;
use crate::lanes::sse::Sse;
use crate::slot::SLOTS;
use crate::source::block::Padded;
use std::arch::x86_64::*;
use std::slice::from_raw_parts;

kernel!("sse", Sse, by_masks, is_x86_feature_detected, "ssse3", "sse4.1", "popcnt", "pclmulqdq");

#[target_feature(enable = "ssse3,sse4.1,popcnt,pclmulqdq")]
unsafe fn hash(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    // SAFETY: the spans are in bounds, says the caller, and so are empty ones.
    groups(spans, slots, |starts, ends, slots| unsafe { group(base.as_ptr(), starts, ends, slots) });
}

/// The slots of eight keys.
#[inline]
#[target_feature(enable = "ssse3,sse4.1,pclmulqdq")]
unsafe fn group(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    // SAFETY: two columns of eight numbers, two vectors each.
    let lens = |at: usize| unsafe {
        _mm_sub_epi32(_mm_loadu_si128(ends[at..].as_ptr().cast()), _mm_loadu_si128(starts[at..].as_ptr().cast()))
    };
    let longest = _mm_max_epu32(lens(0), lens(4));
    let longer_than = |len| {
        let len = _mm_set1_epi32(len);
        _mm_movemask_epi8(_mm_cmpeq_epi32(_mm_max_epu32(longest, len), len)) != 0xFFFF
    };
    // SAFETY: the spans are in bounds, says the caller, and have the lengths that are asked for.
    unsafe {
        let key = |i| end_and_len(base, starts, ends, i);
        if longer_than(32) {
            if longer_than(64) {
                return any_length(base, starts, ends, slots);
            }
            finish(|i| last::<64>(key(i), poly::weights(64)), slots);
        } else if longer_than(16) {
            finish(|i| last::<32>(key(i), poly::weights(32)), slots);
        } else {
            finish(|i| last::<16>(key(i), poly::weights(16)), slots);
        }
    }
}

/// Sixteen bytes, reversed, times their weights: 79 bits.
#[inline]
#[target_feature(enable = "ssse3,pclmulqdq")]
fn weigh(bytes: __m128i, weights: __m128i) -> __m128i {
    let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let reversed = _mm_shuffle_epi8(bytes, reverse);
    _mm_xor_si128(_mm_clmulepi64_si128(reversed, weights, 0x00), _mm_clmulepi64_si128(reversed, weights, 0x11))
}

/// The last at most `BYTES` bytes before an end, weighted.
#[inline]
#[target_feature(enable = "ssse3,pclmulqdq")]
unsafe fn last<const BYTES: usize>((end, len): (*const u8, usize), weights: *const u64) -> __m128i {
    let from = end.wrapping_sub(BYTES);
    // SAFETY: the caller has `BYTES` readable bytes before the end, and their weights; so many has the mask.
    let part = |at: usize| unsafe {
        let mask = _mm_loadu_si128(own_mask(BYTES, len).add(at).cast());
        let bytes = _mm_and_si128(_mm_loadu_si128(from.wrapping_add(at).cast()), mask);
        weigh(bytes, _mm_load_si128(weights.byte_add(at).cast()))
    };
    let mut sum = part(0);
    if BYTES >= 32 {
        sum = _mm_xor_si128(sum, part(16));
    }
    if BYTES >= 64 {
        sum = _mm_xor_si128(sum, _mm_xor_si128(part(32), part(48)));
    }
    sum
}

/// Keys of any length: their 64-byte blocks times their weights, added up.
#[cold]
#[inline(never)] // would crowd the registers of the loop it is called from
#[target_feature(enable = "ssse3,sse4.1,pclmulqdq")]
unsafe fn any_length(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    let weigh_key = |i: usize| {
        // SAFETY: the span is in bounds, says the caller.
        let key = unsafe { from_raw_parts(base.add(starts[i] as usize), (ends[i] - starts[i]) as usize) };
        // SAFETY: the block has 64 readable bytes before it, and so has the rest of a key.
        unsafe { if key.len() <= WEIGHTED { weigh_blocks(key) } else { weigh_blocks(shorten(key).bytes()) } }
    };
    finish(weigh_key, slots);
}

/// The rest of a long key.
#[inline(never)] // its vectors take all registers
unsafe fn shorten(key: &[u8]) -> sparse::Rest {
    // SAFETY: the key is longer than 16 vectors, the block has 64 readable bytes before it.
    unsafe { sparse::shorten::<[u64; 2]>(key) }
}

/// The sum of the weighted blocks of at most `WEIGHTED` bytes that have 64 readable bytes before them.
#[inline]
#[target_feature(enable = "ssse3,pclmulqdq")]
unsafe fn weigh_blocks(key: &[u8]) -> __m128i {
    let (first, blocks) = key.as_rchunks::<64>();
    let first_weights = poly::weights((64 * blocks.len() + 64).min(WEIGHTED));
    // SAFETY: at most 64 bytes before the key are read.
    let mut sum = unsafe { last::<64>((first.as_ptr_range().end, first.len()), first_weights) };
    for (i, block) in blocks.iter().rev().enumerate() {
        // SAFETY: a block has 64 bytes, and so have its weights.
        let weighted = unsafe { last::<64>((block.as_ptr_range().end, 64), poly::weights(64 * i + 64)) };
        sum = _mm_xor_si128(sum, weighted);
    }
    sum
}

/// The slots of eight keys from 80 bits each.
#[inline]
#[target_feature(enable = "ssse3,sse4.1,pclmulqdq")]
fn finish(key: impl Fn(usize) -> __m128i, slots: &mut [u16; GROUP]) {
    // 16 bits of each number are enough: a c e g | b d f h
    let (mut numbers, mut quotients) = divide(key(0), key(1));
    let (cd, cd_quotients) = divide(key(2), key(3));
    numbers = _mm_blend_epi16(numbers, _mm_slli_epi64(cd, 16), 0x22);
    quotients = _mm_blend_epi16(quotients, _mm_slli_epi64(cd_quotients, 16), 0x22);
    let (ef, ef_quotients) = divide(key(4), key(5));
    numbers = _mm_blend_epi16(numbers, _mm_slli_epi64(ef, 32), 0x44);
    quotients = _mm_blend_epi16(quotients, _mm_slli_epi64(ef_quotients, 32), 0x44);
    let (gh, gh_quotients) = divide(key(6), key(7));
    numbers = _mm_blend_epi16(numbers, _mm_slli_epi64(gh, 48), 0x88);
    quotients = _mm_blend_epi16(quotients, _mm_slli_epi64(gh_quotients, 48), 0x88);

    let shifted = _mm_xor_si128(_mm_slli_epi16(quotients, 5), _mm_slli_epi16(quotients, 12));
    let crcs = _mm_xor_si128(_mm_xor_si128(numbers, quotients), shifted);
    let mixed = _mm_and_si128(crcs, _mm_set1_epi16(SLOTS as i16 - 1));
    let ordered = _mm_unpacklo_epi16(mixed, _mm_unpackhi_epi64(mixed, mixed));
    // SAFETY: eight slots are 16 bytes.
    unsafe { _mm_storeu_si128(slots.as_mut_ptr().cast(), ordered) };
}

/// Two numbers folded to 64 bits each, and their quotients by P.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn divide(a: __m128i, b: __m128i) -> (__m128i, __m128i) {
    let (low, high) = (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b));
    // 16 bits above x^64, so that x^48 of them still fits.
    let shifted = _mm_xor_si128(_mm_slli_epi64(high, 20), _mm_slli_epi64(high, 48));
    let folded = _mm_xor_si128(_mm_xor_si128(low, high), shifted);
    let quotient = _mm_set1_epi64x(QUOTIENT as i64);
    let a = _mm_clmulepi64_si128(folded, quotient, 0x00);
    let b = _mm_clmulepi64_si128(folded, quotient, 0x01);
    (folded, _mm_unpackhi_epi64(a, b))
}
