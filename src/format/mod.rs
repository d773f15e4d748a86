//! Stage 2, KEYS: blocks of bytes come in, batches of keys go out. One file a format, one line in `FORMATS`.

pub mod batch;
pub mod lines;

use crate::error::{Error, Result};
use crate::source::block::{Padded, Piece};
use batch::{KeyBatch, Spans};

/// Every format that can be read; detection asks them in this order.
pub static FORMATS: &[&dyn Format] = &[&lines::Lines];

/// A form that key dumps come in.
pub trait Format: Sync {
    /// What `--format` calls it.
    fn name(&self) -> &'static str;
    /// One line of such a dump.
    fn example(&self) -> &'static str;
    /// Whether an input that starts with `head` is in this form.
    fn detect(&self, head: Head<'_>) -> Detected;
    /// Settles what the start of one input decides, for instance how its lines end.
    fn open(&self, head: Head<'_>) -> Box<dyn Reader>;
}

/// The start of an input.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// Its first bytes.
    pub bytes: &'a [u8],
    /// Whether that is all there is.
    pub whole: bool,
}

/// An answer to "is this your form?".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// The head is too short to tell.
    NeedMore,
}

/// One input in a known form; shared by all workers, called once a block.
pub trait Reader: Send + Sync {
    /// The form.
    fn format(&self) -> &'static str;
    /// The byte that ends every line: the input may be cut behind any of them.
    fn separator(&self) -> u8;
    /// Finds the keys of a block, in order, and hands them on in batches.
    fn read(
        &self,
        base: Padded<'_>,
        piece: Piece,
        columns: &mut Columns<'_>,
        add: &mut dyn FnMut(KeyBatch<'_>),
    ) -> Seen;
}

/// Fills the offsets of a byte in `base[from..]`, ascending, and says how many; fewer than there is room for: the
/// bytes are used up.
pub type FindByte<'a> = &'a dyn Fn(Padded<'_>, u32, u8, &mut [u32]) -> usize;

/// What a reader works with.
pub struct Columns<'a> {
    /// The keys of the batch that is being filled.
    pub keys: &'a mut Spans,
    /// The kernel's way to find a byte.
    pub cut: FindByte<'a>,
}

/// What a reader saw beside the keys themselves; sums over the blocks of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Keys.
    pub keys: u64,
    /// Keys of no bytes at all.
    pub empty_keys: u64,
    /// Keys that end with a carriage return.
    pub cr_keys: u64,
    /// Inputs that start with a UTF-8 byte order mark, which was dropped.
    pub byte_order_marks: u64,
}

impl Seen {
    /// Evidence that the dump is not what it should be.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.empty_keys > 1 {
            warnings.push(format!(
                "empty lines, counted as empty keys, of which there can be only one: {}",
                self.empty_keys
            ));
        }
        if self.byte_order_marks > 0 {
            warnings
                .push(String::from("a byte order mark at the start was dropped: an editor may have changed the dump"));
        }
        warnings
    }

    /// What is odd, and may be right.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.cr_keys > 0 {
            notes.push(format!(
                "keys that end with a carriage return, which was taken as a part of the key: {}",
                self.cr_keys
            ));
        }
        notes
    }
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.keys += other.keys;
        self.empty_keys += other.empty_keys;
        self.cr_keys += other.cr_keys;
        self.byte_order_marks += other.byte_order_marks;
    }
}

/// The format called `name`.
///
/// # Errors
/// No format has that name; the message lists those there are.
pub fn named(name: &str) -> Result<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
        Error::bad("--format", format!("no format is called \"{name}\"; there are: auto, {}", names.join(", ")))
    })
}

/// The format of an input that starts with `head`; `None` where more of it must be seen.
pub fn detect(head: Head<'_>) -> Option<&'static dyn Format> {
    for format in FORMATS {
        match format.detect(head) {
            Detected::Yes => return Some(*format),
            Detected::NeedMore if !head.whole => return None,
            Detected::No | Detected::NeedMore => {}
        }
    }
    Some(&lines::Lines)
}
