//! Templates of keys with ids of any kind: found by their runs of letters and digits and by the text before the first
//! digit.
//!
//! ```text
//! template   s e s s : 4 f 0 b 9 a c 7 : v 2
//! shape      . . . . 1 . . . . . . . . 1 . .    what is neither a letter nor a digit: the same in the key
//! literal    1 1 1 1 1 . . . . . . . . 1 1 1    where the bytes are the same
//! runs       . . . . . 1 1 1 1 1 1 1 1 . . .    all hexadecimal, a digit and a letter among them: then it is such an id
//! ```

use hashslot::Batch;
use hashslot::simd::{self, Bytes64, LANES};

use slotscope_keyname::ids::{Found, Id};

use crate::pattern::template::{
    TEMPLATES, around, below, bytes_of, end, ids_of, is_of_numbers, is_too_long, last_eight,
    mask_of, padded, place,
};

/// A key with ids.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(super) struct Mingled {
    bytes: [u8; LANES],
    /// Bytes that are neither letters nor digits, the end and the traits; 0 in an empty entry.
    shape: u64,
    /// Where bytes must match.
    literal: u64,
    /// Digits of numbers.
    digits: u64,
    /// Bytes that must be hexadecimal.
    hex: u64,
    /// Ids other than numbers; each run has a digit.
    runs: u64,
    /// The bits after runs that must also have a letter; a non-hexadecimal one if not all of the run must be
    /// hexadecimal.
    lettered: u64,
    pattern: u32,
}

impl Default for Mingled {
    fn default() -> Self {
        Mingled {
            bytes: [0; LANES],
            shape: 0,
            literal: 0,
            digits: 0,
            hex: 0,
            runs: 0,
            lettered: 0,
            pattern: 0,
        }
    }
}

impl Mingled {
    pub(super) fn of(key: &[u8], traits: u8, ids: &[Found], pattern: u32) -> Self {
        let len = key.len() as u32;
        let separators = mask_of(key, |byte| !byte.is_ascii_alphanumeric());
        let uuids = ids_of(ids, |id| id == Id::Uuid);
        let numbers = ids_of(ids, is_of_numbers);
        let runs = ids_of(ids, |id| !is_of_numbers(id));
        let unlike_uuids = runs & !uuids;
        Mingled {
            bytes: padded(key),
            shape: separators | end(len, traits),
            literal: below(len) & !(numbers | runs) | (numbers | uuids) & separators,
            digits: numbers & !separators,
            hex: ids_of(ids, |id| id == Id::Hex) | uuids & !separators,
            runs,
            lettered: unlike_uuids << 1 & !unlike_uuids,
            pattern,
        }
    }

    pub(super) fn home(&self, key: &[u8]) -> usize {
        let digits = mask_of(key, u8::is_ascii_digit);
        let room = around(key);
        // SAFETY: eight bytes before the key are readable, and 64 from its start.
        unsafe { home(room.as_ptr().add(8), key.len() as u32, self.shape, digits) }
    }

    /// 0 if a key of this shape and these literal bytes has matching ids; otherwise the mismatches.
    #[inline(always)]
    fn differs(&self, digits: u64, letters: u64, hex: u64) -> u64 {
        // The addition carries out of every run that has one of these.
        let having = |some: u64| self.runs.wrapping_add(some & self.runs) & !self.runs;
        let ends = self.runs << 1 & !self.runs;
        let letters = letters & (self.hex | !hex);
        self.digits & !digits
            | self.hex & !hex
            | having(digits) ^ ends
            | self.lettered & !having(letters)
    }
}

pub(super) struct ByRuns<'a> {
    pub keys: Batch<'a>,
    pub traits: &'a [u8],
    pub templates: &'a [Mingled],
    /// The keys to look up.
    pub wanted: &'a [u32],
    pub patterns: &'a mut [u32],
    pub missed: &'a mut [u32],
}

impl simd::Pass for ByRuns<'_> {
    /// The number of keys without a template.
    type Output = usize;

    /// Without vectors, there are no templates.
    fn scalar(self) -> usize {
        self.missed[..self.wanted.len()].copy_from_slice(self.wanted);
        self.wanted.len()
    }

    #[inline(always)]
    fn vector<B: Bytes64>(self) -> usize {
        if self.traits.is_empty() {
            self.find::<B>(|_| 0)
        } else {
            let traits = self.traits;
            self.find::<B>(|i| traits[i])
        }
    }
}

impl ByRuns<'_> {
    /// Branch-free: which keys have a template is unpredictable.
    #[inline(always)]
    fn find<B: Bytes64>(self, traits: impl Fn(usize) -> u8) -> usize {
        self.keys.assert_in_bounds();
        let templates: &[Mingled; TEMPLATES] = self.templates.try_into().expect("a whole table");
        let mut missed = 0;
        for &key in self.wanted {
            let i = key as usize;
            let (start, end_at) = (self.keys.starts()[i], self.keys.ends()[i]);
            let len = end_at - start;
            // SAFETY: the key is in the block, and 64 bytes on either side of the block may be read.
            let first = unsafe { self.keys.base().as_ptr().add(start as usize) };
            // SAFETY: the same, and the CPU has the instructions.
            let bytes = unsafe { B::load(first) };
            let in_key = bytes_of(len);
            let digits = bytes.within(b'0', b'9') & in_key;
            let letters = bytes.letters(b'a', b'z') & in_key;
            let hex = digits | bytes.letters(b'a', b'f') & in_key;
            let shape = in_key & !(digits | letters) | end(len, traits(i));
            // SAFETY: as above.
            let template = &templates[unsafe { home(first, len, shape, digits) }];
            // SAFETY: a template has 64 bytes.
            let known = unsafe { B::load(template.bytes.as_ptr()) };
            let unlike = template.literal & !bytes.same_as(known) | (template.shape ^ shape);
            let differs = unlike | template.differs(digits, letters, hex);
            self.patterns[i] = template.pattern;
            self.missed[missed] = key;
            missed += usize::from((differs != 0) | is_too_long(len));
        }
        missed
    }
}

/// The entry for a key: hashed from its shape; from the text before the run of letters and digits that has the first
/// digit, since that run may be an id; and from the last run unless it may be one.
///
/// # Safety
/// Eight bytes before the key, and 64 from its start, must be readable.
#[inline(always)]
unsafe fn home(first: *const u8, len: u32, shape: u64, digits: u64) -> usize {
    let separators = shape & bytes_of(len);
    let behind = |separators: u64| 64 - separators.leading_zeros();
    let before = behind(separators & !digits & digits.wrapping_sub(1));
    let last = behind(separators);
    let in_last = digits.wrapping_shr(last);
    // A number of one digit has at most ten templates.
    let has_one = (in_last & in_last.wrapping_sub(1) == 0) & (len - last < 8);
    let is_text = u64::from((in_last == 0) | has_one);
    // SAFETY: passed on.
    let (before, last) = unsafe {
        (
            last_eight(first.add(before as usize), before),
            last_eight(first.add(len as usize), len - last),
        )
    };
    place(shape ^ before ^ (last * is_text).rotate_left(29))
}
