//! Templates: keys seen before. A key that matches a template outside of its ids, with the same kinds of bytes inside
//! them, has its pattern: two loads and two compares, where a shape looks at all bytes of the key.
//!
//! ```text
//! template   u s e r : 1 0 0 1 : c a r t
//! digits     . . . . . 1 1 1 1 . . . . .    the same in the key, so what is a number here is one there
//! ids        . . . . . 1 1 1 1 . . . . .    the other bytes are the same
//! ```
//!
//! A key without a template is looked up by its shape and becomes a template. There are two tables: one of keys whose
//! ids are numbers, found by their digits and the text between, and one for all others (`mingled`).

use hashslot::simd::{self, Bytes64};
use hashslot::{Batch, Kernel};

use slotscope_keyname::ids::{self, Found};

use crate::pattern::mingled::{ByRuns, Mingled};
use crate::pattern::template::{
    MAX_LEN, TEMPLATES, around, bytes_of, end, is_of_numbers, is_too_long, last_eight, mask_of,
    place,
};

/// Keys that may become templates initially, and additionally per batch; each takes 200 ns.
const MAX_LEARNT: usize = 4096;
const LEARNT_IN_BATCH: usize = 64;
/// After this many consecutive batches with a miss rate above one half, lookups pause.
const STRIKES: u32 = 8;
/// Batches without lookups during a pause.
const PAUSE: u32 = 1000;

/// Finds the patterns of keys; keeps templates between batches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Templates {
    /// The pattern of each key in the last batch; for keys without a template, `unknown` as passed to `find`.
    pub patterns: Vec<u32>,
    /// Indices of the keys without a template.
    pub missed: Vec<u32>,
    numbers: Vec<Numbers>,
    mingled: Vec<Mingled>,
    scratch: Vec<u32>,
    /// How many keys may still become templates.
    learnable: usize,
    /// The table that gets the next template that fits both.
    is_turn_of_numbers: bool,
    /// Consecutive batches with few matches.
    strikes: u32,
    /// Remaining batches without lookups.
    paused: u32,
}

impl Templates {
    /// Finds the patterns of keys with these traits; `unknown` is the pattern of those without a template.
    ///
    /// # Panics
    /// If a key is not within its buffer.
    pub(crate) fn find(&mut self, kernel: &Kernel, keys: Batch<'_>, traits: &[u8], unknown: u32) {
        self.patterns.resize(keys.len(), unknown);
        if self.is_paused() {
            self.missed.clear();
            return self.missed.extend(0..keys.len() as u32);
        }
        self.missed.resize(keys.len() + 1, 0);
        self.scratch.resize(keys.len() + 1, 0);
        let others = kernel.run(ByDigits {
            keys,
            traits,
            templates: &self.numbers,
            patterns: &mut self.patterns,
            missed: &mut self.scratch,
        });
        let missed = kernel.run(ByRuns {
            keys,
            traits,
            templates: &self.mingled,
            wanted: &self.scratch[..others],
            patterns: &mut self.patterns,
            missed: &mut self.missed,
        });
        self.missed.truncate(missed);
        for key in &self.missed {
            self.patterns[*key as usize] = unknown;
        }
        self.judge(keys.len());
    }

    /// Whether lookups are paused for this batch.
    fn is_paused(&mut self) -> bool {
        let is_paused = self.paused > 0;
        self.paused = self.paused.saturating_sub(1);
        if self.numbers.is_empty() {
            self.learnable = MAX_LEARNT;
            self.numbers.resize_with(TEMPLATES, Numbers::default);
            self.mingled.resize_with(TEMPLATES, Mingled::default);
        }
        is_paused
    }

    /// Pauses lookups if too few keys have templates.
    fn judge(&mut self, keys: usize) {
        self.learnable = MAX_LEARNT.min(self.learnable + LEARNT_IN_BATCH);
        self.strikes = if 2 * self.missed.len() > keys {
            self.strikes + 1
        } else {
            0
        };
        if self.strikes == STRIKES {
            (self.strikes, self.paused) = (0, PAUSE);
        }
    }

    /// Whether a key without a template may become one now.
    pub(crate) fn may_learn(&self) -> bool {
        self.learnable > 0 && self.paused == 0
    }

    /// Turns a key with ids into a template; true if it is one now.
    #[cold]
    pub(crate) fn learn(&mut self, key: &[u8], traits: u8, pattern: u32) -> bool {
        self.learnable = self.learnable.saturating_sub(1);
        if key.len() > MAX_LEN as usize {
            return false;
        }
        let ids = ids::of_key(key);
        if ids.is_empty() {
            return false;
        }
        if let Some(template) = Numbers::of(key, traits, &ids, pattern) {
            self.is_turn_of_numbers ^= true;
            let place = &mut self.numbers[template.home(key)];
            // If two keys keep replacing each other in this table, one of them moves to the other table.
            if place.is_free_for(&template) || self.is_turn_of_numbers {
                *place = template;
                return true;
            }
        }
        let mingled = Mingled::of(key, traits, &ids, pattern);
        let home = mingled.home(key);
        self.mingled[home] = mingled;
        true
    }

    /// Drops all templates, as there are more patterns than can be kept.
    #[cold]
    pub(crate) fn forget(&mut self) {
        self.numbers.fill_with(Numbers::default);
        self.mingled.fill_with(Mingled::default);
        (self.strikes, self.paused) = (0, PAUSE);
    }
}

/// Maximum length of a key in the table for numeric ids.
const MAX_LEN_OF_NUMBERS: usize = 52;

/// A key with numeric ids: one cache line.
#[derive(Debug, Clone)]
#[repr(C, align(64))]
struct Numbers {
    /// With `BLANK` for digits of ids.
    bytes: [u8; MAX_LEN_OF_NUMBERS],
    pattern: u32,
    /// Its digits, end and traits; 0 in an empty entry.
    shape: u64,
}

/// Stands for a digit, since it is not one.
const BLANK: u8 = 0xFF;

impl Default for Numbers {
    fn default() -> Self {
        Numbers {
            bytes: [0; MAX_LEN_OF_NUMBERS],
            pattern: 0,
            shape: 0,
        }
    }
}

impl Numbers {
    /// The template of a key with these ids; `None` if it is too long, or if they are not all numbers.
    fn of(key: &[u8], traits: u8, ids: &[Found], pattern: u32) -> Option<Self> {
        if key.len() > MAX_LEN_OF_NUMBERS || !ids.iter().all(|span| is_of_numbers(span.id)) {
            return None;
        }
        let mut bytes = [0; MAX_LEN_OF_NUMBERS];
        bytes[..key.len()].copy_from_slice(key);
        for span in ids {
            let id = bytes[span.start as usize..span.end as usize].iter_mut();
            id.filter(|byte| byte.is_ascii_digit())
                .for_each(|digit| *digit = BLANK);
        }
        Some(Numbers {
            bytes,
            pattern,
            shape: mask_of(key, u8::is_ascii_digit) | end(key.len() as u32, traits),
        })
    }

    fn home(&self, key: &[u8]) -> usize {
        let digits = mask_of(key, u8::is_ascii_digit);
        let room = around(key);
        // SAFETY: eight bytes before the key are readable, and 64 from its start.
        unsafe { home(room.as_ptr().add(8), key.len() as u32, self.shape, digits) }
    }

    /// Whether a template may take this entry: it is empty, or its template matches the new one.
    fn is_free_for(&self, other: &Numbers) -> bool {
        self.shape == 0 || (self.shape, self.pattern) == (other.shape, other.pattern)
    }
}

struct ByDigits<'a> {
    keys: Batch<'a>,
    traits: &'a [u8],
    templates: &'a [Numbers],
    patterns: &'a mut [u32],
    missed: &'a mut [u32],
}

impl simd::Pass for ByDigits<'_> {
    /// The number of keys without a template.
    type Output = usize;

    /// Without vectors, there are no templates.
    fn scalar(self) -> usize {
        let keys = self.keys.len();
        (0..)
            .zip(&mut self.missed[..keys])
            .for_each(|(i, missed)| *missed = i);
        keys
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

impl ByDigits<'_> {
    /// Branch-free: which keys have a template is unpredictable.
    #[inline(always)]
    fn find<B: Bytes64>(self, traits: impl Fn(usize) -> u8) -> usize {
        self.keys.assert_in_bounds();
        let templates: &[Numbers; TEMPLATES] = self.templates.try_into().expect("a whole table");
        let mut missed = 0;
        let keys = self.keys.starts().iter().zip(self.keys.ends());
        for (i, ((&start, &end_at), pattern)) in keys.zip(self.patterns).enumerate() {
            let len = end_at - start;
            // SAFETY: the key is in the block, and 64 bytes on either side of the block may be read.
            let first = unsafe { self.keys.base().as_ptr().add(start as usize) };
            // SAFETY: the same, and the CPU has the instructions.
            let bytes = unsafe { B::load(first) };
            let in_key = bytes_of(len);
            let digits = bytes.within(b'0', b'9') & in_key;
            let shape = digits | end(len, traits(i));
            // SAFETY: as above.
            let template = &templates[unsafe { home(first, len, shape, digits) }];
            // SAFETY: a template has 64 bytes, its last twelve after those of its key.
            let known = unsafe { B::load(std::ptr::from_ref(template).cast()) };
            let ids = known.equal(BLANK) & digits;
            let differs = in_key & !ids & !bytes.same_as(known) | (template.shape ^ shape);
            *pattern = template.pattern;
            self.missed[missed] = i as u32;
            missed += usize::from((differs != 0) | is_too_long(len));
        }
        missed
    }
}

/// The entry for a key: hashed from its shape and from the text before its first and after its last digit.
///
/// # Safety
/// Eight bytes before the key, and 64 from its start, must be readable.
#[inline(always)]
unsafe fn home(first: *const u8, len: u32, shape: u64, digits: u64) -> usize {
    // Without a digit there is no template, and matches are ignored.
    let (start, end) = (digits.trailing_zeros(), 64 - digits.leading_zeros());
    // SAFETY: passed on.
    let (before, behind) = unsafe {
        (
            last_eight(first.add(start as usize), start),
            last_eight(first.add(len as usize), len - end),
        )
    };
    place(shape ^ before ^ behind.rotate_left(29))
}
