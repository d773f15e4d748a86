//! Stage 3, beside the slots: which bytes of a key are letters and digits, as masks that ids are told by.
//!
//! ```text
//! key      n e w s 0 0 1 : a f 3
//! word     1 1 1 1 1 1 1 . 1 1 1     letters and digits
//! digit    . . . . 1 1 1 . . . 1
//! hex      . 1 . . 1 1 1 . 1 1 1     digits, a to f and A to F
//! ```

use crate::format::batch::Spans;
use crate::lanes::{LANES, Lanes};
use crate::source::block::Padded;

/// A bit for each of the first 64 bytes of a key; bits behind the key are not set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes {
    /// ASCII letters and digits.
    pub word: u64,
    /// Digits.
    pub digit: u64,
    /// Hexadecimal digits.
    pub hex: u64,
}

impl Classes {
    /// Those of a key, byte by byte.
    pub fn of(key: &[u8]) -> Self {
        let mask = |is: fn(&u8) -> bool| {
            key.iter().take(LANES).enumerate().fold(0, |mask, (i, byte)| mask | u64::from(is(byte)) << i)
        };
        Classes {
            word: mask(u8::is_ascii_alphanumeric),
            digit: mask(u8::is_ascii_digit),
            hex: mask(u8::is_ascii_hexdigit),
        }
    }
}

/// Writes the classes of each key.
///
/// # Safety
/// The keys must lie in `base`, `classes` must be as long as `keys`, the CPU must have the instructions of `L`.
#[inline(always)]
pub unsafe fn classes<L: Lanes>(base: Padded<'_>, keys: &Spans, classes: &mut [Classes]) {
    for ((&start, &end), classes) in keys.start.iter().zip(&keys.end).zip(classes) {
        // SAFETY: the key starts in the block, 64 bytes after the block may be read.
        let lanes = unsafe { L::load(base.as_ptr().add(start as usize)) };
        let in_key = u64::MAX.checked_shr(64u32.saturating_sub(end - start)).unwrap_or(0);
        let digit = lanes.within(b'0', b'9') & in_key;
        let letters = |low: u8, high: u8| lanes.within(low, high) | lanes.within(low & !0x20, high & !0x20);
        *classes = Classes {
            word: digit | letters(b'a', b'z') & in_key,
            digit,
            hex: digit | letters(b'a', b'f') & in_key,
        };
    }
}
