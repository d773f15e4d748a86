//! 64 bytes at a time: bytes come in, one bit a byte goes out. One file an instruction set; the passes that look
//! for bytes are written once, over `Lanes`.
//!
//! ```text
//! bytes    u s e r : { 4 2 } : n a m e ...     64 of them
//! equal    . . . . . 1 . . . . . . . . ...     bit i belongs to byte i
//! ```

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
#[cfg(target_arch = "aarch64")]
pub mod neon;
pub mod portable;
#[cfg(target_arch = "x86_64")]
pub mod sse;

/// Bytes that are looked at together: as many as a u64 has bits.
pub const LANES: usize = 64;

/// 64 bytes in the registers of an instruction set. A value exists only where the CPU has the instructions.
///
/// All functions must be inlined into one that has the `#[target_feature]`s, or each becomes a call.
pub trait Lanes: Copy {
    /// Reads 64 bytes.
    ///
    /// # Safety
    /// They must be readable, and the CPU must have the instructions.
    unsafe fn load(from: *const u8) -> Self;

    /// Which bytes are `byte`.
    fn equal(self, byte: u8) -> u64;

    /// Which bytes are at least `low` and at most `high`.
    fn within(self, low: u8, high: u8) -> u64;

    /// Which bytes are letters from `low` to `high`, in either case; `low` and `high` are small letters.
    #[inline(always)]
    fn letters(self, low: u8, high: u8) -> u64 {
        self.within(low, high) | self.within(low.to_ascii_uppercase(), high.to_ascii_uppercase())
    }

    /// Writes the number of each set bit of `mask`, plus `base`, in ascending order, and returns how many there are.
    ///
    /// # Safety
    /// 64 numbers must have room at `to`: more may be written than are counted. `self` is only evidence that the
    /// CPU has the instructions.
    #[inline(always)]
    unsafe fn positions(self, mask: u64, base: u32, to: *mut u32) -> usize {
        // SAFETY: passed on.
        unsafe { positions(mask, base, to) }
    }
}

/// An instruction set that picks bits and bytes by a mask.
pub trait Squeeze: Lanes {
    /// The bits of `from` where `mask` has ones, pushed together at the low end.
    fn extract(self, from: u64, mask: u64) -> u64;

    /// The low bits of `from`, one after the other where `mask` has ones: undoes `extract`.
    fn deposit(self, from: u64, mask: u64) -> u64;

    /// A number that depends on each byte where `mask` has ones, pushed together, as a hash does.
    fn squeeze(self, mask: u64) -> u128;
}

/// Four steps a round without a branch between them: what a round writes past the last bit is overwritten later.
/// Keys are mostly longer than 16 bytes, so one round mostly does and its branch is foreseen.
///
/// # Safety
/// As for `Lanes::positions`.
#[inline(always)]
unsafe fn positions(mut mask: u64, base: u32, to: *mut u32) -> usize {
    let count = mask.count_ones() as usize;
    let mut done = 0;
    while done < count {
        for i in 0..4 {
            // SAFETY: `done` is a multiple of four below 64. An empty mask has 64 trailing zeros, no wrong step.
            unsafe { to.add(done + i).write(base.wrapping_add(mask.trailing_zeros())) };
            mask &= mask.wrapping_sub(1);
        }
        done += 4;
    }
    count
}

#[cfg(test)]
mod tests;
