//! The slots of eight keys at a time by carry-less multiplication, written once for all instruction sets.
//!
//! ```text
//! memory     ....|<-- 64 bytes that end where the key ends -->|    bytes before the key become zero
//! key a      [ lane 0 | lane 1 | lane 2 | lane 3 ]                 each lane's 16 bytes reversed: a number
//!              x w0     x w1     x w2     x w3                     low half x low weight ^ high half x high weight
//! sum a      [ 80 bits ]                                           the XOR of its lanes, congruent to the CRC
//! fold       [ 64 bits of a | 64 bits of b ]                       x^64 = x^48 + x^20 + 1 mod P^4
//! divide     quotient = upper half of f * (x^64 / P)               Barrett; AVX-512 multiplies by a bit matrix
//! subtract   f ^ quotient * P, 16 bits of it                       shifts by 0, 5 and 12 (and 16, out of sight)
//! ```
//! A register has one, two or four lanes, which short keys share: a group of keys takes as few registers as its longest
//! key needs, for up to 16, 32 or 64 bytes. Longer keys are the sum of their weighted 64-byte blocks; those of more than
//! 4 KiB are left to table look-ups.

use core::slice::from_raw_parts;

use crate::arch::generic::groups::{GROUP, own_mask, read};
use crate::arch::generic::poly;
use crate::arch::generic::poly::{QUOTIENT, WEIGHTED};
use crate::arch::scalar::portable;
use crate::{Batch, SLOTS, slot_of_crc};

/// A register of `LANES` lanes of 128 bits. A value exists only where the CPU has the instructions.
///
/// All functions must be inlined into one that has the `#[target_feature]`s, or each intrinsic becomes a call. So there
/// must not be closures here: they cannot be `#[inline(always)]`.
pub(crate) trait Clmul: Copy {
    /// 128-bit lanes of a register: 1, 2 or 4.
    const LANES: usize;

    /// The lengths of eight keys.
    type Lens: Copy;

    /// Subtracts the starts from the ends.
    ///
    /// # Safety
    /// The CPU must have the instructions.
    unsafe fn lens(starts: &[u32; GROUP], ends: &[u32; GROUP]) -> Self::Lens;

    /// Whether any of the lengths is larger than `bytes`.
    fn any_longer(lens: Self::Lens, bytes: u32) -> bool;

    /// All zeros.
    ///
    /// # Safety
    /// The CPU must have the instructions.
    unsafe fn zero() -> Self;
    /// Reads a register of bytes.
    ///
    /// # Safety
    /// They must be readable, `from` aligned to their number, and the CPU must have the instructions.
    unsafe fn load(from: *const u8) -> Self;
    /// The same, from anywhere.
    ///
    /// # Safety
    /// As for `load`, except for the alignment.
    unsafe fn load_unaligned(from: *const u8) -> Self;

    /// Reads `BYTES` bytes and repeats them until the register is full, or a whole register if it is smaller.
    ///
    /// # Safety
    /// As for `load`; `from` must be aligned to the bytes read.
    unsafe fn load_repeated<const BYTES: usize>(from: *const u8) -> Self;

    /// Sum without carries.
    fn xor(self, other: Self) -> Self;
    /// Bitwise AND.
    fn and(self, other: Self) -> Self;

    /// Reverses the bytes of each lane, or of each half of a lane if `weigh` takes that into account.
    fn reverse(self) -> Self;

    /// Shifts each half of a lane to the left.
    fn shl64<const BITS: i32>(self) -> Self;

    /// The low halves of each lane of both.
    fn unpack_low(self, other: Self) -> Self;

    /// The high halves of each lane of both.
    fn unpack_high(self, other: Self) -> Self;

    /// The carry-less products of the low halves of each lane.
    fn clmul_low(self, other: Self) -> Self;

    /// The carry-less products of the high halves of each lane.
    fn clmul_high(self, other: Self) -> Self;

    /// Each lane of reversed bytes times its weights: 79 bits.
    #[inline(always)]
    fn weigh(self, weights: Self) -> Self {
        self.clmul_low(weights).xor(self.clmul_high(weights))
    }

    /// The last `BYTES` bytes before the end of key `first`, reversed, with zeros in front of the key; `BYTES` is at
    /// most the size of a register. If it is less, the register takes as many keys from `first` on as fit.
    ///
    /// # Safety
    /// The keys must lie in their buffer and have at most `BYTES` bytes each.
    #[inline(always)]
    unsafe fn last<const BYTES: usize>(group: Group<'_, Self>, first: usize) -> Self {
        let (end, len) = group.end_and_len(first);
        // SAFETY: passed on.
        unsafe { last_of_one(end, len, BYTES, 0) }
    }

    /// The sums of `LANES` keys, starting with number `i * LANES`, one per lane.
    ///
    /// # Safety
    /// As for `Keys::weighted`.
    #[inline(always)]
    unsafe fn sum<K: Keys<Self>>(keys: K, i: usize) -> Self {
        const { assert!(K::SHARED == 1, "a lane holds one key") }
        // SAFETY: passed on.
        unsafe { keys.weighted(i) }
    }

    /// Writes the slots of eight keys.
    ///
    /// # Safety
    /// As for `Keys::weighted`.
    unsafe fn finish<K: Keys<Self>>(keys: K, slots: &mut [u16; GROUP]);
}

/// The constructors of a register that are one intrinsic each. SAFETY: as the trait requires.
macro_rules! loads {
    ($zero:expr, $load:expr) => {
        #[inline(always)]
        unsafe fn zero() -> Self {
            // SAFETY: as the trait demands.
            Register(unsafe { $zero })
        }

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: as the trait demands.
            Register(unsafe { $load(from.cast()) })
        }
    };
}
pub(crate) use loads;

/// Methods of two registers that are one intrinsic each.
macro_rules! intrinsics {
    ($($name:ident = $intrinsic:expr),* $(,)?) => {
        $(
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                // SAFETY: a register exists only where the CPU has the instructions.
                Register(unsafe { $intrinsic(self.0, other.0) })
            }
        )*
    };
}
pub(crate) use intrinsics;

/// A shift by a constant that is one intrinsic.
macro_rules! shift {
    ($name:ident = $intrinsic:ident) => {
        #[inline(always)]
        fn $name<const BITS: i32>(self) -> Self {
            // SAFETY: a register exists only where the CPU has the instructions.
            Register(unsafe { $intrinsic(self.0, BITS) })
        }
    };
}
pub(crate) use shift;

/// Eight keys.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a, V: Clmul> {
    pub base: *const u8,
    pub starts: &'a [u32; GROUP],
    pub ends: &'a [u32; GROUP],
    pub lens: V::Lens,
}

impl<V: Clmul> Group<'_, V> {
    /// The end of key `i`, and its length in bytes.
    #[inline(always)]
    pub(crate) fn end_and_len(self, i: usize) -> (*const u8, usize) {
        let end = read(self.ends, i);
        (
            self.base.wrapping_add(end),
            end.wrapping_sub(read(self.starts, i)),
        )
    }
}

/// The weighted bytes of eight keys.
pub(crate) trait Keys<V: Clmul>: Copy {
    /// Number of keys that share a register.
    const SHARED: usize;

    /// The register that key `first` shares with the next keys; the XOR of a key's lanes is congruent to its CRC.
    ///
    /// # Safety
    /// The keys must lie in their buffer and have lengths that the implementation supports.
    unsafe fn weighted(self, first: usize) -> V;
}

/// Keys of at most `BYTES` bytes.
#[derive(Clone, Copy)]
struct UpTo<'a, V: Clmul, const BYTES: usize>(Group<'a, V>);

impl<V: Clmul, const BYTES: usize> Keys<V> for UpTo<'_, V, BYTES> {
    const SHARED: usize = (16 * V::LANES).div_ceil(BYTES);

    // SAFETY: as the trait requires: keys in their buffer, of at most `BYTES` bytes.
    #[inline(always)]
    unsafe fn weighted(self, first: usize) -> V {
        let (width, weights) = (16 * V::LANES, poly::weights(BYTES));
        // SAFETY: passed on; weights of `BYTES` bytes are as many.
        unsafe {
            if BYTES <= width {
                return V::last::<BYTES>(self.0, first).weigh(V::load_repeated::<BYTES>(weights));
            }
            let (end, len) = self.0.end_and_len(first);
            let mut sum = weigh_part::<V>(end, len, BYTES, 0, weights);
            sum = sum.xor(weigh_part::<V>(end, len, BYTES, width, weights));
            if BYTES > 2 * width {
                let third = weigh_part::<V>(end, len, BYTES, 2 * width, weights);
                let fourth = weigh_part::<V>(end, len, BYTES, 3 * width, weights);
                sum = sum.xor(third.xor(fourth));
            }
            sum
        }
    }
}

/// Keys whose bytes are already weighted.
impl<V: Clmul> Keys<V> for &[V; GROUP] {
    const SHARED: usize = 1;

    // SAFETY: nothing to require, as no memory is read.
    #[inline(always)]
    unsafe fn weighted(self, first: usize) -> V {
        self[first]
    }
}

/// The function that handles groups with a key of more than 64 bytes: the base, the starts, the ends, the slots.
pub(crate) type AnyLength = unsafe fn(*const u8, &[u32; GROUP], &[u32; GROUP], &mut [u16; GROUP]);

/// Writes the slot of each span.
///
/// # Safety
/// The spans must lie in their buffer, `slots` must be as long, the CPU must have the instructions of `V`.
/// `any_length` must be [`any_length`], compiled for them and not inlined: it would crowd the registers of this loop.
#[inline(always)]
pub(crate) unsafe fn slots<V: Clmul>(parts: Batch<'_>, slots: &mut [u16], any_length: AnyLength) {
    let base = parts.base().as_ptr();
    let (starts, rest_starts) = parts.starts().as_chunks::<GROUP>();
    let (ends, rest_ends) = parts.ends().as_chunks::<GROUP>();
    let (groups, rest) = slots.as_chunks_mut::<GROUP>();
    let (mut last_starts, mut last_ends, mut last_slots) = ([0; GROUP], [0; GROUP], [0; GROUP]);
    last_starts[..rest_starts.len()].copy_from_slice(rest_starts);
    last_ends[..rest_ends.len()].copy_from_slice(rest_ends);
    let full = groups.len();
    // One call for whole groups and the last one, so that it is inlined once and its constants stay in registers.
    for i in 0..=full {
        let whole = i < full;
        let starts = if whole { &starts[i] } else { &last_starts };
        let ends = if whole { &ends[i] } else { &last_ends };
        let slots = if whole {
            &mut groups[i]
        } else {
            &mut last_slots
        };
        // SAFETY: the spans lie in the buffer, and so do the empty ones that pad the last group.
        unsafe { slots_of_group::<V>(base, starts, ends, slots, any_length) };
    }
    rest.copy_from_slice(&last_slots[..rest.len()]);
}

/// The slots of eight keys.
///
/// # Safety
/// As for `slots`.
#[inline(always)]
unsafe fn slots_of_group<V: Clmul>(
    base: *const u8,
    starts: &[u32; GROUP],
    ends: &[u32; GROUP],
    slots: &mut [u16; GROUP],
    any_length: AnyLength,
) {
    // SAFETY: passed on; the keys have the lengths that are asked for.
    unsafe {
        let group = Group::<V> {
            base,
            starts,
            ends,
            lens: V::lens(starts, ends),
        };
        if V::any_longer(group.lens, 32) {
            if V::any_longer(group.lens, 64) {
                any_length(base, starts, ends, slots)
            } else {
                V::finish(UpTo::<V, 64>(group), slots)
            }
        } else if V::any_longer(group.lens, 16) {
            V::finish(UpTo::<V, 32>(group), slots)
        } else {
            V::finish(UpTo::<V, 16>(group), slots)
        }
    }
}

/// The slots of eight keys of any length.
///
/// # Safety
/// The spans must lie in the buffer at `base`, the CPU must have the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn any_length<V: Clmul>(
    base: *const u8,
    starts: &[u32; GROUP],
    ends: &[u32; GROUP],
    slots: &mut [u16; GROUP],
) {
    // SAFETY: the CPU has the instructions. Spans lie in the buffer, which has 64 readable bytes before it.
    unsafe {
        let mut weighted = [V::zero(); GROUP];
        for i in 0..GROUP {
            let key = span(base, starts[i], ends[i]);
            if key.len() <= WEIGHTED {
                weighted[i] = weigh_blocks(key);
            }
        }
        V::finish(&weighted, slots);
        for i in 0..GROUP {
            let key = span(base, starts[i], ends[i]);
            if key.len() > WEIGHTED {
                slots[i] = slot_of_crc(portable::by_blocks(key));
            }
        }
    }
}

/// The bytes of a span of the buffer at `base`.
///
/// # Safety
/// It must lie in the buffer.
#[inline(always)]
unsafe fn span<'a>(base: *const u8, start: u32, end: u32) -> &'a [u8] {
    // SAFETY: passed on.
    unsafe { from_raw_parts(base.add(start as usize), (end - start) as usize) }
}

/// The sum of the weighted 64-byte blocks of at most `WEIGHTED` bytes.
///
/// # Safety
/// 64 bytes before `key` must be readable, the CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn weigh_blocks<V: Clmul>(key: &[u8]) -> V {
    let (first, blocks) = key.as_rchunks::<64>();
    let weights = poly::weights((64 * blocks.len() + 64).min(WEIGHTED));
    // SAFETY: the caller promises that the CPU has the instructions.
    let mut sum = unsafe { V::zero() };
    for at in (0..64).step_by(16 * V::LANES) {
        // SAFETY: at most 64 bytes before the key are read; a block has as many weights.
        let weighed = unsafe { weigh_part(first.as_ptr_range().end, first.len(), 64, at, weights) };
        sum = sum.xor(weighed);
    }
    for (i, block) in blocks.iter().rev().enumerate() {
        let weights = poly::weights(64 * i + 64);
        for at in (0..64).step_by(16 * V::LANES) {
            // SAFETY: a block has 64 bytes and as many weights.
            sum = sum.xor(unsafe {
                let bytes = V::load_unaligned(block.as_ptr().add(at)).reverse();
                bytes.weigh(V::load(weights.add(at)))
            });
        }
    }
    sum
}

/// A register of the last `bytes` bytes before `end`, from byte `at` on, times their weights; those before the last `len`
/// are zeros.
///
/// # Safety
/// As for `last_of_one`, and `weights` must be those of `bytes` bytes.
#[inline(always)]
unsafe fn weigh_part<V: Clmul>(
    end: *const u8,
    len: usize,
    bytes: usize,
    at: usize,
    weights: *const u8,
) -> V {
    // SAFETY: passed on.
    unsafe { last_of_one::<V>(end, len, bytes, at).weigh(V::load(weights.add(at))) }
}

/// The bytes from `at` on of the last `bytes` bytes before `end`, reversed; zeros before the last `len`.
///
/// # Safety
/// The bytes must be readable, `len` at most `bytes`, and the CPU must have the instructions of `V`.
#[inline(always)]
pub(crate) unsafe fn last_of_one<V: Clmul>(
    end: *const u8,
    len: usize,
    bytes: usize,
    at: usize,
) -> V {
    // SAFETY: passed on; the mask is as long as the bytes.
    unsafe {
        let mask = V::load_unaligned(own_mask(bytes, len).add(at));
        let from = end.wrapping_sub(bytes).wrapping_add(at);
        V::load_unaligned(from).and(mask).reverse()
    }
}

/// The sums in the lanes of `a` and `b`, folded to 64 bits each.
#[inline(always)]
pub(crate) fn fold<V: Clmul>(a: V, b: V) -> V {
    let (low, high) = (a.unpack_low(b), a.unpack_high(b));
    // 16 bits above x^64, so that x^48 of them still fits.
    let shifted = high.shl64::<20>().xor(high.shl64::<48>());
    low.xor(high).xor(shifted)
}

/// A register that divides by P: Barrett reduction.
pub(crate) trait Barrett: Clmul {
    /// `value` in each half of each lane.
    ///
    /// # Safety
    /// The CPU must have the instructions.
    unsafe fn splat64(value: u64) -> Self;

    /// `value` in each 16 bits.
    ///
    /// # Safety
    /// The CPU must have the instructions.
    unsafe fn splat16(value: u16) -> Self;

    /// Shifts each 16 bits to the left.
    fn shl16<const BITS: i32>(self) -> Self;

    /// Puts the low 16 bits of each half of `from` at bits 16 * K of each half; those above may be anything.
    fn insert16<const K: usize>(self, from: Self) -> Self;

    /// Writes the slots of eight keys a to h. The 16 bits at 16 * K in the halves of the lanes are those of
    /// a c, e g (two lanes: a c b d and e g f h), or of a b, c d, e f and g h.
    fn store_slots(self, slots: &mut [u16; GROUP]);
}

/// The slots of eight keys: `finish` of a register that divides.
///
/// # Safety
/// As for `Keys::weighted`.
#[inline(always)]
pub(crate) unsafe fn finish_by_division<V: Barrett, K: Keys<V>>(keys: K, slots: &mut [u16; GROUP]) {
    // SAFETY: passed on.
    unsafe {
        // 16 bits of each number and quotient are enough.
        let (mut numbers, mut quotients) = divide(V::sum(keys, 0), V::sum(keys, 1));
        let (number, quotient) = divide(V::sum(keys, 2), V::sum(keys, 3));
        numbers = numbers.insert16::<1>(number);
        quotients = quotients.insert16::<1>(quotient);
        if V::LANES == 1 {
            let (number, quotient) = divide(V::sum(keys, 4), V::sum(keys, 5));
            numbers = numbers.insert16::<2>(number);
            quotients = quotients.insert16::<2>(quotient);
            let (number, quotient) = divide(V::sum(keys, 6), V::sum(keys, 7));
            numbers = numbers.insert16::<3>(number);
            quotients = quotients.insert16::<3>(quotient);
        }
        let shifted = quotients.shl16::<5>().xor(quotients.shl16::<12>());
        let crcs = numbers.xor(quotients).xor(shifted);
        crcs.and(V::splat16(SLOTS as u16 - 1)).store_slots(slots);
    }
}

/// The sums in the lanes of `a` and `b` folded to 64 bits each, and their quotients by P.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn divide<V: Barrett>(a: V, b: V) -> (V, V) {
    let folded = fold(a, b);
    // SAFETY: passed on.
    let factor = unsafe { V::splat64(QUOTIENT) };
    let (a, b) = (folded.clmul_low(factor), folded.clmul_high(factor));
    (folded, a.unpack_high(b))
}
