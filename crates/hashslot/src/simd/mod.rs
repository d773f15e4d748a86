//! Passes that search for bytes, written once for all instruction sets: 64 bytes become masks with one bit per byte.
//!
//! ```text
//! bytes    u s e r : { 4 2 } : n a m e ...     64 of them
//! equal    . . . . . 1 . . . . . . . . ...     bit i belongs to byte i
//! ```
//!
//! A pass implements [`Pass`], and [`Kernel::run`](crate::Kernel::run) calls the method that fits the kernel:
//!
//! ```
//! use hashslot::simd::{Bytes64, LANES, Pass};
//!
//! struct CountColons<'a>(&'a [u8; LANES]);
//!
//! impl Pass for CountColons<'_> {
//!     type Output = u32;
//!
//!     fn scalar(self) -> u32 {
//!         self.0.iter().filter(|byte| **byte == b':').count() as u32
//!     }
//!
//!     #[inline(always)]
//!     fn vector<B: Bytes64>(self) -> u32 {
//!         // SAFETY: 64 bytes are readable, and the kernel that runs this has the instructions of `B`.
//!         unsafe { B::load(self.0.as_ptr()) }.equal(b':').count_ones()
//!     }
//! }
//!
//! for kernel in hashslot::available() {
//!     assert_eq!(kernel.run(CountColons(&[b':'; LANES])), 64);
//! }
//! ```

pub(crate) mod hashed_spans;
mod portable;

pub use portable::Portable;

/// Bytes that are examined together: as many as a u64 has bits.
pub const LANES: usize = 64;

/// A pass over a batch: compiled for each instruction set, which is chosen once per batch.
///
/// `vector` and everything it calls per key should be `#[inline(always)]`, so that it is compiled with the kernel's
/// instructions.
pub trait Pass: Sized {
    /// The result of the pass.
    type Output;

    /// The pass for CPUs without vectors.
    fn scalar(self) -> Self::Output;

    /// The pass over vectors. The CPU has the instructions of `B`.
    fn vector<B: Bytes64>(self) -> Self::Output;
}

/// 64 bytes in the registers of an instruction set. A value exists only where the CPU has the instructions.
///
/// All functions must be inlined into one that has the `#[target_feature]`s, or each becomes a call.
pub trait Bytes64: Copy {
    /// Reads 64 bytes.
    ///
    /// # Safety
    /// They must be readable, and the CPU must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// The bytes that equal `byte`, as a bit mask.
    fn equal(self, byte: u8) -> u64;

    /// The bytes equal to those of `other`, as a bit mask.
    fn same_as(self, other: Self) -> u64;

    /// The bytes from `low` to `high` (inclusive), as a bit mask.
    fn within(self, low: u8, high: u8) -> u64;

    /// The letters from `low` to `high`, in either case, as a bit mask; `low` and `high` are lower case.
    #[inline(always)]
    fn letters(self, low: u8, high: u8) -> u64 {
        self.within(low, high) | self.within(low.to_ascii_uppercase(), high.to_ascii_uppercase())
    }

    /// Writes the number of each set bit of `mask`, plus `base`, in ascending order, and returns their count.
    ///
    /// # Safety
    /// `to` must have room for 64 numbers: more may be written than are counted. `self` only proves that the CPU has
    /// the instructions.
    #[inline(always)]
    unsafe fn positions(self, mask: u64, base: u32, to: *mut u32) -> usize {
        // SAFETY: passed on.
        unsafe { positions(mask, base, to) }
    }
}

/// Four steps per round without a branch between them: anything a round writes past the last bit is overwritten later.
/// Keys are mostly longer than 16 bytes, so one round usually suffices and its branch predicts well.
///
/// # Safety
/// As for `Bytes64::positions`.
#[inline(always)]
unsafe fn positions(mut mask: u64, base: u32, to: *mut u32) -> usize {
    let count = mask.count_ones() as usize;
    let mut done = 0;
    while done < count {
        for i in 0..4 {
            // SAFETY: `done` is a multiple of four below 64. An empty mask has 64 trailing zeros, no wrong step.
            unsafe {
                to.add(done + i)
                    .write(base.wrapping_add(mask.trailing_zeros()))
            };
            mask &= mask.wrapping_sub(1);
        }
        done += 4;
    }
    count
}

#[cfg(test)]
mod tests;
