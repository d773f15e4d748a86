//! Stage 3, SLOTS: the kernel for AVX-512 with GFNI and VPCLMULQDQ (Ice Lake, Zen 4 and later). Spans come in,
//! slots go out; eight keys at a time, one vector a key.
//!
//! ```text
//! memory     ....|<-- 64 bytes that end where the key ends -->|    bytes before the key become zero
//! a          [ lane 0 | lane 1 | lane 2 | lane 3 ]                 each lane's 16 bytes reversed: a number
//!              x w0     x w1     x w2     x w3                     low half x low weight ^ high half x high weight
//! 8 keys     a b c d e f g h, each four lanes whose XOR is congruent to the CRC
//! XOR-transpose             [ a | b | c | d ] [ e | f | g | h ]    80 bits a lane
//! unpack, fold              [ a e b f c g d h ]                    64 bits each: x^64 = x^48 + x^20 + 1 mod P^4
//! byte transpose            [ byte 0 of each | byte 1 | ... ]      then a bit matrix a byte position, XOR of all
//! ```
//! Keys of up to 32 bytes share a vector in pairs, of up to 16 in fours: fewer multiplications, fewer XORs.

use super::groups::{GROUP, groups, read};
use super::kernel;
use super::poly::{self, WEIGHTED};
use super::sparse::{self, Word};
use crate::format::batch::Spans;
use crate::lanes::avx512::Avx512;
use crate::source::block::Padded;
use std::arch::x86_64::*;
use std::slice::from_raw_parts;

kernel!(
    "avx512",
    Avx512,
    squeezed,
    is_x86_feature_detected,
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vbmi",
    "avx512vbmi2",
    "bmi1",
    "bmi2",
    "popcnt",
    "gfni",
    "vpclmulqdq"
);

/// Makes a constant vector of bytes, `$at` to `$value`.
macro_rules! bytes {
    ($at:ident => $value:expr) => {{
        let mut bytes = [0; 64];
        let mut $at = 0;
        while $at < 64 {
            bytes[$at] = ($value) as u8;
            $at += 1;
        }
        Constant(bytes)
    }};
}

/// A constant vector, aligned.
#[repr(align(64))]
struct Constant<T>(T);

/// Reverses the bytes of each lane.
static REVERSE: Constant<[u8; 64]> = bytes!(i => 15 - i % 16);
/// How far from the end of its key each byte of a reversed vector is, for one, two and four keys a vector.
static DISTANCE_64: Constant<[u8; 64]> = bytes!(i => i % 16 + 16 * (3 - i / 16));
static DISTANCE_32: Constant<[u8; 64]> = bytes!(i => i % 16 + 16 * (1 - i / 16 % 2));
static DISTANCE_16: Constant<[u8; 64]> = bytes!(i => i % 16);
/// From the eight lengths, four bytes each: the low byte of the length of each byte's key.
static WHOSE_32: [Constant<[u8; 64]>; 4] = [
    bytes!(i => 4 * (i / 32)),
    bytes!(i => 4 * (i / 32 + 2)),
    bytes!(i => 4 * (i / 32 + 4)),
    bytes!(i => 4 * (i / 32 + 6)),
];
static WHOSE_16: [Constant<[u8; 64]>; 2] = [bytes!(i => 4 * (i / 16)), bytes!(i => 4 * (i / 16 + 4))];
/// From eight numbers in the order a e b f c g d h: byte 0 of a..h, then byte 1 of each, and so on.
static TRANSPOSE: Constant<[u8; 64]> = bytes!(i => 8 * (2 * (i % 4) + i % 8 / 4) + i / 8);
/// Low byte and high byte of the eight slots, from the matrices' products.
static SLOT_LOW: Constant<[u64; 8]> = Constant(poly::slot_matrices(0));
static SLOT_HIGH: Constant<[u64; 8]> = Constant(poly::slot_matrices(8));

impl<T> Constant<T> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn get(&'static self) -> __m512i {
        const { assert!(size_of::<T>() == 64) }
        // SAFETY: 64 aligned bytes.
        unsafe { _mm512_load_si512((&raw const self.0).cast()) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vpclmulqdq")]
unsafe fn hash(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
    // SAFETY: the spans are in bounds, says the caller, and so are empty ones.
    groups(spans, slots, |starts, ends, slots| unsafe { group(base.as_ptr(), starts, ends, slots) });
}

/// The slots of eight keys.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vpclmulqdq")]
unsafe fn group(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    // SAFETY: reads from 64 bytes before the block to its end.
    unsafe {
        let lens =
            _mm256_sub_epi32(_mm256_loadu_si256(ends.as_ptr().cast()), _mm256_loadu_si256(starts.as_ptr().cast()));
        let longer_than = |len| _mm256_cmpgt_epu32_mask(lens, _mm256_set1_epi32(len)) != 0;
        if longer_than(32) {
            if longer_than(64) {
                return any_length(base, starts, ends, slots);
            }
            let [a, b, c, d, e, f, g, h] = up_to_64(base, ends, lens);
            finish(join(halve(a, b), halve(c, d)), join(halve(e, f), halve(g, h)), slots)
        } else if longer_than(16) {
            let [ab, cd, ef, gh] = up_to_32(base, ends, lens);
            finish(join(ab, cd), join(ef, gh), slots)
        } else {
            let [abcd, efgh] = up_to_16(base, ends, lens);
            finish(abcd, efgh, slots)
        }
    }
}

/// The bytes of each lane, reversed, times the lane's weights: 79 bits.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn weigh(reversed: __m512i, weights: __m512i) -> __m512i {
    _mm512_xor_si512(
        _mm512_clmulepi64_epi128(reversed, weights, 0x00),
        _mm512_clmulepi64_epi128(reversed, weights, 0x11),
    )
}

/// [a0 a1 a2 a3], [b0 b1 b2 b3] -> [a0^a2 a1^a3 b0^b2 b1^b3]
#[inline]
#[target_feature(enable = "avx512f")]
fn halve(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(_mm512_shuffle_i64x2(a, b, 0b01_00_11_10), _mm512_mask_blend_epi64(0xF0, a, b))
}

/// [a a' b b'], [c c' d d'] -> [a^a' b^b' c^c' d^d']
#[inline]
#[target_feature(enable = "avx512f")]
fn join(ab: __m512i, cd: __m512i) -> __m512i {
    _mm512_xor_si512(_mm512_shuffle_i64x2(ab, cd, 0b10_00_10_00), _mm512_shuffle_i64x2(ab, cd, 0b11_01_11_01))
}

/// Reverses the bytes of each lane and zeroes those farther from the end of their key than it is long; byte i
/// belongs to the key whose length stands at byte `whose[i]` of `lens`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn own_reversed(vector: __m512i, distance: __m512i, lens: __m256i, whose: __m512i) -> __m512i {
    let len = _mm512_permutexvar_epi8(whose, _mm512_castsi256_si512(lens));
    _mm512_maskz_shuffle_epi8(_mm512_cmplt_epu8_mask(distance, len), vector, REVERSE.get())
}

/// Four keys a vector, one a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,vpclmulqdq")]
unsafe fn up_to_16(base: *const u8, ends: &[u32; GROUP], lens: __m256i) -> [__m512i; 2] {
    // SAFETY: 64 bytes before the block may be read.
    let lane = |i: usize| unsafe { _mm_loadu_si128(base.wrapping_add(read(ends, i)).wrapping_sub(16).cast()) };
    let four = |i: usize, whose| {
        let vector = _mm512_castsi128_si512(lane(i));
        let vector = _mm512_inserti32x4(vector, lane(i + 1), 1);
        let vector = _mm512_inserti32x4(vector, lane(i + 2), 2);
        let vector = _mm512_inserti32x4(vector, lane(i + 3), 3);
        // SAFETY: the weights of 16 bytes are two numbers.
        let weights = _mm512_broadcast_i32x4(unsafe { _mm_load_si128(poly::weights(16).cast()) });
        weigh(own_reversed(vector, DISTANCE_16.get(), lens, whose), weights)
    };
    [four(0, WHOSE_16[0].get()), four(4, WHOSE_16[1].get())]
}

/// Two keys a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,vpclmulqdq")]
unsafe fn up_to_32(base: *const u8, ends: &[u32; GROUP], lens: __m256i) -> [__m512i; 4] {
    // SAFETY: 64 bytes before the block may be read.
    let half = |i: usize| unsafe { _mm256_loadu_si256(base.wrapping_add(read(ends, i)).wrapping_sub(32).cast()) };
    std::array::from_fn(|i| {
        let vector = _mm512_inserti64x4(_mm512_castsi256_si512(half(2 * i)), half(2 * i + 1), 1);
        // SAFETY: the weights of 32 bytes are four numbers.
        let weights = _mm512_broadcast_i64x4(unsafe { _mm256_load_si256(poly::weights(32).cast()) });
        weigh(own_reversed(vector, DISTANCE_32.get(), lens, WHOSE_32[i].get()), weights)
    })
}

/// One key a vector.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,vpclmulqdq")]
unsafe fn up_to_64(base: *const u8, ends: &[u32; GROUP], lens: __m256i) -> [__m512i; GROUP] {
    // SAFETY: the weights of 64 bytes fill a vector.
    let weights = unsafe { _mm512_load_si512(poly::weights(64).cast()) };
    std::array::from_fn(|i| {
        // SAFETY: 64 bytes before the block may be read.
        let vector = unsafe { _mm512_loadu_si512(base.wrapping_add(read(ends, i)).wrapping_sub(64).cast()) };
        let whose = _mm512_set1_epi8(4 * i as i8);
        weigh(own_reversed(vector, DISTANCE_64.get(), lens, whose), weights)
    })
}

/// The last `len` bytes before `end`, at most 64, behind zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn last_64(end: *const u8, len: usize) -> __m512i {
    let own = !_bzhi_u64(u64::MAX, 64 - len as u32);
    // SAFETY: reads 64 bytes before `end`, which the caller has.
    unsafe { _mm512_maskz_loadu_epi8(own, end.wrapping_sub(64).cast()) }
}

/// Keys of any length: their 64-byte blocks times their weights, added up.
#[cold]
#[inline(never)] // would crowd the registers of the loop it is called from
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,gfni,vpclmulqdq")]
unsafe fn any_length(base: *const u8, starts: &[u32; GROUP], ends: &[u32; GROUP], slots: &mut [u16; GROUP]) {
    let weigh_key = |i: usize| {
        // SAFETY: the span is in bounds, says the caller.
        let key = unsafe { from_raw_parts(base.add(starts[i] as usize), (ends[i] - starts[i]) as usize) };
        // SAFETY: the block has 64 readable bytes before it, and so has the rest of a key.
        unsafe { if key.len() <= WEIGHTED { weigh_blocks(key) } else { weigh_blocks(shorten(key).bytes()) } }
    };
    let two = |i| halve(weigh_key(i), weigh_key(i + 1));
    finish(join(two(0), two(2)), join(two(4), two(6)), slots)
}

/// The rest of a long key.
#[inline(never)] // its vectors take all registers
#[target_feature(enable = "avx512f")]
unsafe fn shorten(key: &[u8]) -> sparse::Rest {
    // SAFETY: the key is longer than 16 vectors, the block has 64 readable bytes before it.
    unsafe { sparse::shorten::<Vector>(key) }
}

/// The sum of the weighted blocks of at most `WEIGHTED` bytes that have 64 readable bytes before them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,vpclmulqdq")]
unsafe fn weigh_blocks(key: &[u8]) -> __m512i {
    let (first, blocks) = key.as_rchunks::<64>();
    // SAFETY: at most 64 bytes before the key are read.
    let mut sum = unsafe {
        let weights = _mm512_load_si512(poly::weights((64 * blocks.len() + 64).min(WEIGHTED)).cast());
        let vector = last_64(first.as_ptr_range().end, first.len());
        weigh(_mm512_shuffle_epi8(vector, REVERSE.get()), weights)
    };
    for (i, block) in blocks.iter().rev().enumerate() {
        // SAFETY: a block is a vector, so are its weights.
        unsafe {
            let weights = _mm512_load_si512(poly::weights(64 * i + 64).cast());
            let vector = _mm512_loadu_si512(block.as_ptr().cast());
            sum = _mm512_xor_si512(sum, weigh(_mm512_shuffle_epi8(vector, REVERSE.get()), weights));
        }
    }
    sum
}

/// The slots of eight keys a..h from 80 bits a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,gfni")]
fn finish(abcd: __m512i, efgh: __m512i, slots: &mut [u16; GROUP]) {
    let low = _mm512_unpacklo_epi64(abcd, efgh);
    let high = _mm512_unpackhi_epi64(abcd, efgh);
    // 16 bits above x^64, so that x^48 of them still fits.
    let folded = _mm512_xor_si512(
        _mm512_xor_si512(low, high),
        _mm512_xor_si512(_mm512_slli_epi64(high, 20), _mm512_slli_epi64(high, 48)),
    );
    let bytes = _mm512_permutexvar_epi8(TRANSPOSE.get(), folded);
    let shares = halve(
        _mm512_gf2p8affine_epi64_epi8(bytes, SLOT_LOW.get(), 0),
        _mm512_gf2p8affine_epi64_epi8(bytes, SLOT_HIGH.get(), 0),
    );
    // Low bytes in lanes 0 and 1, high bytes in lanes 2 and 3, two halves each: XOR the four.
    let shares = _mm512_xor_si512(shares, _mm512_shuffle_i64x2(shares, shares, 0b10_11_00_01));
    let shares = _mm512_xor_si512(shares, _mm512_shuffle_epi32(shares, 0b01_00_11_10));
    let bytes = _mm_unpacklo_epi8(_mm512_castsi512_si128(shares), _mm512_extracti32x4_epi32(shares, 2));
    // SAFETY: eight slots are 16 bytes.
    unsafe { _mm_storeu_si128(slots.as_mut_ptr().cast(), bytes) };
}

/// 64 bytes for the recurrence.
#[derive(Clone, Copy)]
struct Vector(__m512i);

impl Word for Vector {
    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: only `shorten` uses vectors, which has the instructions.
        Vector(unsafe { _mm512_setzero_si512() })
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Vector(unsafe { _mm512_load_si512(from.cast()) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: as for `zero`.
        Vector(unsafe { _mm512_xor_si512(self.0, other.0) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the trait demands.
        unsafe { _mm512_store_si512(to.cast(), self.0) }
    }
}
