//! The kernel for AVX-512 with GFNI and VPCLMULQDQ (Ice Lake, Zen 4 and later): registers of four lanes.
//!
//! ```text
//! up to 16   [ a | b | c | d ]                one key a lane
//! up to 32   [ a a' b b' ] [ c c' d d' ]      one key a half; join: [ a | b | c | d ]
//! up to 64   [ a0 a1 a2 a3 ] [ b0 .. ] ...    one key a register; halve, then join
//! 8 sums     [ a | b | c | d ] [ e | f | g | h ]    80 bits a lane
//! fold       [ a e b f c g d h ]              64 bits each
//! transpose  [ byte 0 of each | byte 1 | ... ]      then a bit matrix a byte position, XOR of all: eight slots
//! ```

use core::arch::x86_64::*;

use crate::arch::generic::crc::{Clmul, Group, Keys, fold, intrinsics, loads};
use crate::arch::generic::groups::{GROUP, read};
use crate::arch::generic::poly;
use crate::arch::kernel;
use crate::simd::{Bytes64, LANES};

kernel!(
    "avx512",
    Avx512,
    Register,
    is_x86_feature_detected,
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512vbmi",
    "avx512vbmi2",
    "bmi1",
    "bmi2",
    "lzcnt",
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
/// Distance of each byte of a reversed vector from the end of its key, for one, two and four keys per vector.
static DISTANCE_64: Constant<[u8; 64]> = bytes!(i => i % 16 + 16 * (3 - i / 16));
static DISTANCE_32: Constant<[u8; 64]> = bytes!(i => i % 16 + 16 * (1 - i / 16 % 2));
static DISTANCE_16: Constant<[u8; 64]> = bytes!(i => i % 16);
/// Shuffle of the eight lengths, four bytes each: the low byte of its key's length for each byte.
static WHOSE_32: [Constant<[u8; 64]>; 4] = [
    bytes!(i => 4 * (i / 32)),
    bytes!(i => 4 * (i / 32 + 2)),
    bytes!(i => 4 * (i / 32 + 4)),
    bytes!(i => 4 * (i / 32 + 6)),
];
static WHOSE_16: [Constant<[u8; 64]>; 2] =
    [bytes!(i => 4 * (i / 16)), bytes!(i => 4 * (i / 16 + 4))];
/// From eight numbers in the order a e b f c g d h: byte 0 of a..h, then byte 1 of each, and so on.
static TRANSPOSE: Constant<[u8; 64]> = bytes!(i => 8 * (2 * (i % 4) + i % 8 / 4) + i / 8);
/// Low byte and high byte of the eight slots, from the matrices' products.
static SLOT_LOW: Constant<[u64; 8]> = Constant(poly::slot_matrices(0));
static SLOT_HIGH: Constant<[u64; 8]> = Constant(poly::slot_matrices(8));

impl<T> Constant<T> {
    #[inline(always)]
    fn get(&'static self) -> __m512i {
        const { assert!(size_of::<T>() == 64) }
        // SAFETY: 64 aligned bytes, and only this kernel reads them.
        unsafe { _mm512_load_si512((&raw const self.0).cast()) }
    }
}

// SAFETY of all that follows, unsafe methods included: as the traits require. The caller of an unsafe method has checked
// that the CPU has the instructions, and a register exists only where it has them.

/// One register.
#[derive(Clone, Copy)]
struct Register(__m512i);

/// The address `bytes` bytes before the end of key `i`.
#[inline(always)]
fn before<T>(group: Group<'_, Register>, i: usize, bytes: usize) -> *const T {
    let end = group.base.wrapping_add(read(group.ends, i));
    end.wrapping_sub(bytes).cast()
}

/// [a0 a1 a2 a3], [b0 b1 b2 b3] -> [a0^a2 a1^a3 b0^b2 b1^b3]
#[inline(always)]
fn halve(Register(a): Register, Register(b): Register) -> Register {
    // SAFETY: as for the traits.
    Register(unsafe {
        _mm512_xor_si512(
            _mm512_shuffle_i64x2(a, b, 0b01_00_11_10),
            _mm512_mask_blend_epi64(0xF0, a, b),
        )
    })
}

/// [a a' b b'], [c c' d d'] -> [a^a' b^b' c^c' d^d']
#[inline(always)]
fn join(Register(ab): Register, Register(cd): Register) -> Register {
    // SAFETY: as for the traits.
    Register(unsafe {
        _mm512_xor_si512(
            _mm512_shuffle_i64x2(ab, cd, 0b10_00_10_00),
            _mm512_shuffle_i64x2(ab, cd, 0b11_01_11_01),
        )
    })
}

impl Clmul for Register {
    const LANES: usize = 4;

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

    loads!(_mm512_setzero_si512(), _mm512_load_si512);
    intrinsics! {
        xor = _mm512_xor_si512,
        and = _mm512_and_si512,
        unpack_low = _mm512_unpacklo_epi64,
        unpack_high = _mm512_unpackhi_epi64,
        clmul_low = _mm512_clmulepi64_epi128::<0x00>,
        clmul_high = _mm512_clmulepi64_epi128::<0x11>,
    }

    #[inline(always)]
    fn any_longer(lens: __m256i, bytes: u32) -> bool {
        // SAFETY: as for the traits.
        unsafe { _mm256_cmpgt_epu32_mask(lens, _mm256_set1_epi32(bytes as i32)) != 0 }
    }

    #[inline(always)]
    unsafe fn load_unaligned(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe { _mm512_loadu_si512(from.cast()) })
    }

    #[inline(always)]
    unsafe fn load_repeated<const BYTES: usize>(from: *const u8) -> Self {
        // SAFETY: as the trait demands.
        Register(unsafe {
            match BYTES {
                16 => _mm512_broadcast_i32x4(_mm_load_si128(from.cast())),
                32 => _mm512_broadcast_i64x4(_mm256_load_si256(from.cast())),
                _ => _mm512_load_si512(from.cast()),
            }
        })
    }

    #[inline(always)]
    fn reverse(self) -> Self {
        // SAFETY: as for the traits.
        Register(unsafe { _mm512_shuffle_epi8(self.0, REVERSE.get()) })
    }

    #[inline(always)]
    fn shl64<const BITS: i32>(self) -> Self {
        // SAFETY: as for the traits. The intrinsic's own constant is unsigned.
        Register(unsafe { _mm512_sll_epi64(self.0, _mm_cvtsi32_si128(BITS)) })
    }

    /// Reverses the bytes of each lane and zeroes those beyond the start of their key.
    #[inline(always)]
    unsafe fn last<const BYTES: usize>(group: Group<'_, Self>, first: usize) -> Self {
        // SAFETY: 64 bytes before the buffer are readable.
        unsafe {
            // `whose` holds the position in `lens` of the low byte of the length of each byte's key.
            let (bytes, distance, whose) = match BYTES {
                16 => {
                    let bytes = _mm512_castsi128_si512(_mm_loadu_si128(before(group, first, 16)));
                    let lane = _mm_loadu_si128(before(group, first + 1, 16));
                    let bytes = _mm512_inserti32x4(bytes, lane, 1);
                    let lane = _mm_loadu_si128(before(group, first + 2, 16));
                    let bytes = _mm512_inserti32x4(bytes, lane, 2);
                    let lane = _mm_loadu_si128(before(group, first + 3, 16));
                    let bytes = _mm512_inserti32x4(bytes, lane, 3);
                    (bytes, DISTANCE_16.get(), WHOSE_16[first / 4].get())
                }
                32 => {
                    let low = _mm512_castsi256_si512(_mm256_loadu_si256(before(group, first, 32)));
                    let high = _mm256_loadu_si256(before(group, first + 1, 32));
                    let bytes = _mm512_inserti64x4(low, high, 1);
                    (bytes, DISTANCE_32.get(), WHOSE_32[first / 2].get())
                }
                _ => {
                    let bytes = _mm512_loadu_si512(before(group, first, 64));
                    (bytes, DISTANCE_64.get(), _mm512_set1_epi8(4 * first as i8))
                }
            };
            let len = _mm512_permutexvar_epi8(whose, _mm512_castsi256_si512(group.lens));
            let own = _mm512_cmplt_epu8_mask(distance, len);
            Register(_mm512_maskz_shuffle_epi8(own, bytes, REVERSE.get()))
        }
    }

    #[inline(always)]
    unsafe fn sum<K: Keys<Self>>(keys: K, i: usize) -> Self {
        let first = 4 * i;
        // SAFETY: passed on.
        unsafe {
            match K::SHARED {
                4 => keys.weighted(first),
                2 => join(keys.weighted(first), keys.weighted(first + 2)),
                _ => {
                    let ab = halve(keys.weighted(first), keys.weighted(first + 1));
                    join(
                        ab,
                        halve(keys.weighted(first + 2), keys.weighted(first + 3)),
                    )
                }
            }
        }
    }

    /// The slots of eight keys from 80 bits a lane, by multiplication with bit matrices.
    #[inline(always)]
    unsafe fn finish<K: Keys<Self>>(keys: K, slots: &mut [u16; GROUP]) {
        // SAFETY: passed on; eight slots are 16 bytes.
        unsafe {
            let Register(folded) = fold(Self::sum(keys, 0), Self::sum(keys, 1));
            let bytes = _mm512_permutexvar_epi8(TRANSPOSE.get(), folded);
            let Register(shares) = halve(
                Register(_mm512_gf2p8affine_epi64_epi8(bytes, SLOT_LOW.get(), 0)),
                Register(_mm512_gf2p8affine_epi64_epi8(bytes, SLOT_HIGH.get(), 0)),
            );
            // Low bytes in lanes 0 and 1, high bytes in lanes 2 and 3, two halves each: XOR the four.
            let swapped = _mm512_shuffle_i64x2(shares, shares, 0b10_11_00_01);
            let pairs = _mm512_xor_si512(shares, swapped);
            let sums = _mm512_xor_si512(pairs, _mm512_shuffle_epi32(pairs, 0b01_00_11_10));
            let bytes = _mm_unpacklo_epi8(
                _mm512_castsi512_si128(sums),
                _mm512_extracti32x4_epi32(sums, 2),
            );
            _mm_storeu_si128(slots.as_mut_ptr().cast(), bytes);
        }
    }
}

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
pub(crate) struct Avx512(__m512i);

impl Bytes64 for Avx512 {
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
    fn same_as(self, other: Self) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512BW.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, other.0) }
    }

    #[inline(always)]
    fn within(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512BW.
        unsafe {
            let above = _mm512_sub_epi8(self.0, _mm512_set1_epi8(low as i8));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8(high.wrapping_sub(low) as i8))
        }
    }

    /// Sets the ASCII case bit (0x20) in every byte, which maps only letters to lower case letters.
    #[inline(always)]
    fn letters(self, low: u8, high: u8) -> u64 {
        // SAFETY: `self` was loaded, so the CPU has AVX-512.
        Avx512(unsafe { _mm512_or_si512(self.0, _mm512_set1_epi8(0x20)) }).within(low, high)
    }

    /// The numbers of the set bits are compressed and widened, sixteen at a time even if there are fewer.
    #[inline(always)]
    unsafe fn positions(self, mask: u64, base: u32, to: *mut u32) -> usize {
        let count = mask.count_ones() as usize;
        // SAFETY: `self` was loaded, so the CPU has AVX-512 (with VBMI2, as the kernel demands); there is room for 64.
        unsafe {
            let numbers =
                _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(NUMBERS.as_ptr().cast()));
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
