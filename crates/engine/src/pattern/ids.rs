//! Finds the bytes of ids in keys, as defined by `slotscope_keyname::ids`, with vector instructions.

use hashslot::simd::Bytes64;
use slotscope_keyname::ids::{HYPHENS, UUID};

/// Masks of the bytes of a key of up to 64 bytes, by character class.
///
/// ```text
/// key      n e w s 0 0 1 : a f 3
/// word     1 1 1 1 1 1 1 . 1 1 1     letters and digits
/// digit    . . . . 1 1 1 . . . 1
/// hex      . 1 . . 1 1 1 . 1 1 1     digits, a to f and A to F
/// ```
#[derive(Clone, Copy)]
pub(super) struct Masks {
    pub digit: u64,
    /// Letters, digits, and the hyphens of UUIDs, which makes a UUID one token.
    pub word: u64,
    pub hex: u64,
    /// The starts of UUIDs that have a digit.
    pub uuid: u64,
}

impl Masks {
    #[inline(always)]
    pub(super) fn of<B: Bytes64>(bytes: B, len: u32) -> Masks {
        let in_key = below(len);
        let digit = bytes.within(b'0', b'9') & in_key;
        let word = digit | bytes.letters(b'a', b'z') & in_key;
        let hex = digit | bytes.letters(b'a', b'f') & in_key;
        let hyphen = bytes.equal(b'-') & in_key;
        let mut masks = Masks {
            digit,
            word,
            hex,
            uuid: 0,
        };
        if (len >= UUID as u32) & (hyphen.count_ones() >= HYPHENS.len() as u32) {
            masks.join_uuids(hyphen);
        }
        masks
    }

    /// Finds UUIDs: hyphens in the right places, hexadecimal digits between, no letter or digit on either side.
    fn join_uuids(&mut self, hyphen: u64) {
        let four = self.hex & self.hex >> 1 & self.hex >> 2 & self.hex >> 3;
        let [a, b, c, d] = HYPHENS;
        let hyphens = hyphen >> a & hyphen >> b & hyphen >> c & hyphen >> d;
        let digits = four
            & four >> 4
            & four >> 9
            & four >> 14
            & four >> 19
            & four >> 24
            & four >> 28
            & four >> 32;
        let adjacent = self.word << 1 | self.word >> UUID;
        let mut starts = hyphens & digits & !adjacent;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            if self.digit >> start & below(UUID as u32) != 0 {
                self.uuid |= 1 << start;
                self.word |= below(UUID as u32) << start;
            }
        }
    }
}

/// The bits below `n`.
#[inline(always)]
pub(super) fn below(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}
