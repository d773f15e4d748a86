//! Stage 3, SLOTS: the kernel for 64-bit Arm with PMULL (nearly all but the first Raspberry Pis). Spans come in,
//! slots go out; eight keys at a time, up to four vectors a key.
//!
//! ```text
//! memory     ....|<-- 64 bytes that end where the key ends -->|    ANDed with a mask: bytes before the key are zero
//! a0 .. a3   [ 16 bytes ] [ ] [ ] [ ]                              each half reversed: two numbers, the high one first
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
use crate::lanes::neon::Neon;
use crate::slot::SLOTS;
use crate::source::block::Padded;
use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;
use std::slice::from_raw_parts;

kernel!("neon", Neon, by_masks, is_aarch64_feature_detected, "neon", "aes"); // PMULL comes with AES

#[target_feature(enable = "neon,aes")]
unsafe fn hash(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    // SAFETY: the spans are in bounds, says the caller, and so are empty ones.
    groups(spans, slots, |starts, ends, slots| unsafe { group(base.as_ptr(), starts, ends, slots) });
}

/// The slots of eight keys.
#[inline]
#[target_feature(enable = "neon,aes")]
unsafe fn group(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    // SAFETY: two columns of eight numbers, two vectors each.
    let lens = |at: usize| unsafe { vsubq_u32(vld1q_u32(ends[at..].as_ptr()), vld1q_u32(starts[at..].as_ptr())) };
    let longest = vmaxvq_u32(vmaxq_u32(lens(0), lens(4)));
    // SAFETY: the spans are in bounds, says the caller, and have the lengths that are asked for.
    unsafe {
        let key = |i| end_and_len(base, starts, ends, i);
        match longest {
            0..=16 => finish(|i| last::<16>(key(i), poly::weights(16)), slots),
            17..=32 => finish(|i| last::<32>(key(i), poly::weights(32)), slots),
            33..=64 => finish(|i| last::<64>(key(i), poly::weights(64)), slots),
            _ => any_length(base, starts, ends, slots),
        }
    }
}

/// Sixteen bytes, each half reversed, times their weights: 79 bits.
#[inline]
#[target_feature(enable = "neon,aes")]
fn weigh(bytes: uint8x16_t, weights: uint64x2_t) -> uint64x2_t {
    let high_low = vreinterpretq_p64_u8(vrev64q_u8(bytes));
    let weights = vreinterpretq_p64_u64(vextq_u64(weights, weights, 1));
    let high = vmull_p64(vgetq_lane_p64(high_low, 0), vgetq_lane_p64(weights, 0));
    let low = vmull_high_p64(high_low, weights);
    veorq_u64(vreinterpretq_u64_p128(high), vreinterpretq_u64_p128(low))
}

/// The last at most `BYTES` bytes before an end, weighted.
#[inline]
#[target_feature(enable = "neon,aes")]
unsafe fn last<const BYTES: usize>((end, len): (*const u8, usize), weights: *const u64) -> uint64x2_t {
    let from = end.wrapping_sub(BYTES);
    // SAFETY: the caller has `BYTES` readable bytes before the end, and their weights; so many has the mask.
    let part = |at: usize| unsafe {
        let bytes = vandq_u8(vld1q_u8(from.wrapping_add(at)), vld1q_u8(own_mask(BYTES, len).add(at)));
        weigh(bytes, vld1q_u64(weights.byte_add(at)))
    };
    let mut sum = part(0);
    if BYTES >= 32 {
        sum = veorq_u64(sum, part(16));
    }
    if BYTES >= 64 {
        sum = veorq_u64(sum, veorq_u64(part(32), part(48)));
    }
    sum
}

/// Keys of any length: their 64-byte blocks times their weights, added up.
#[cold]
#[inline(never)] // would crowd the registers of the loop it is called from
#[target_feature(enable = "neon,aes")]
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
#[target_feature(enable = "neon,aes")]
unsafe fn weigh_blocks(key: &[u8]) -> uint64x2_t {
    let (first, blocks) = key.as_rchunks::<64>();
    let first_weights = poly::weights((64 * blocks.len() + 64).min(WEIGHTED));
    // SAFETY: at most 64 bytes before the key are read.
    let mut sum = unsafe { last::<64>((first.as_ptr_range().end, first.len()), first_weights) };
    for (i, block) in blocks.iter().rev().enumerate() {
        // SAFETY: a block has 64 bytes, and so have its weights.
        let weighted = unsafe { last::<64>((block.as_ptr_range().end, 64), poly::weights(64 * i + 64)) };
        sum = veorq_u64(sum, weighted);
    }
    sum
}

/// The slots of eight keys from 80 bits each.
#[inline]
#[target_feature(enable = "neon,aes")]
fn finish(key: impl Fn(usize) -> uint64x2_t, slots: &mut [u16; GROUP]) {
    // 16 bits of each number are enough; each insertion covers what is above them: a c e g | b d f h
    let (numbers, quotients) = divide(key(0), key(1));
    let (cd, cd_quotients) = divide(key(2), key(3));
    let (numbers, quotients) = (vsliq_n_u64(numbers, cd, 16), vsliq_n_u64(quotients, cd_quotients, 16));
    let (ef, ef_quotients) = divide(key(4), key(5));
    let (numbers, quotients) = (vsliq_n_u64(numbers, ef, 32), vsliq_n_u64(quotients, ef_quotients, 32));
    let (gh, gh_quotients) = divide(key(6), key(7));
    let (numbers, quotients) = (vsliq_n_u64(numbers, gh, 48), vsliq_n_u64(quotients, gh_quotients, 48));

    let (numbers, quotients) = (vreinterpretq_u16_u64(numbers), vreinterpretq_u16_u64(quotients));
    let shifted = veorq_u16(vshlq_n_u16(quotients, 5), vshlq_n_u16(quotients, 12));
    let crcs = veorq_u16(veorq_u16(numbers, quotients), shifted);
    let mixed = vandq_u16(crcs, vdupq_n_u16(SLOTS as u16 - 1));
    let ordered = vzip1q_u16(mixed, vextq_u16(mixed, mixed, 4));
    // SAFETY: eight slots are 16 bytes.
    unsafe { vst1q_u16(slots.as_mut_ptr(), ordered) };
}

/// Two numbers folded to 64 bits each, and their quotients by P.
#[inline]
#[target_feature(enable = "neon,aes")]
fn divide(a: uint64x2_t, b: uint64x2_t) -> (uint64x2_t, uint64x2_t) {
    let (low, high) = (vzip1q_u64(a, b), vzip2q_u64(a, b));
    // 16 bits above x^64, so that x^48 of them still fits.
    let shifted = veorq_u64(vshlq_n_u64(high, 20), vshlq_n_u64(high, 48));
    let folded = veorq_u64(veorq_u64(low, high), shifted);
    let numbers = vreinterpretq_p64_u64(folded);
    let a = vreinterpretq_u64_p128(vmull_p64(vgetq_lane_p64(numbers, 0), QUOTIENT));
    let b = vreinterpretq_u64_p128(vmull_p64(vgetq_lane_p64(numbers, 1), QUOTIENT));
    (folded, vzip2q_u64(a, b))
}
