//! Places of names where a segment is a value or a constant as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_engine::hash::{fold, hash};

/// In place of the hash of a word; not a small number, which `fold` does not mix.
pub(crate) const FIELD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Delimiters of segments: a key is divided by the first one that it has.
const DELIMITERS: &[u8] = b":|/.-_";

/// The segments of a place, taken whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// They are values of one field.
    Value,
    /// They are words of the pattern, and may still become a tag.
    Constant,
}

/// The places that batches show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places(Option<Arc<HashMap<u64, PlaceKind>>>);

impl From<HashMap<u64, PlaceKind>> for Places {
    fn from(places: HashMap<u64, PlaceKind>) -> Self {
        Places(Some(Arc::new(places)))
    }
}

impl Places {
    /// Whether any place is known, or may become so.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn get(&self, place: u64) -> Option<PlaceKind> {
        self.0.as_ref()?.get(&place).copied()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, PlaceKind)> {
        let places = self.0.iter().flat_map(|places| places.iter());
        places.map(|(place, kind)| (*place, *kind))
    }
}

/// The text before a place, as a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefix(u64);

impl Prefix {
    /// The place after this prefix and a separator.
    pub(crate) fn place(self, separator: &[u8]) -> u64 {
        fold(self.0 ^ FIELD, hash(separator))
    }

    /// Adds a separator and a token: the hash of a word, or `FIELD`.
    pub(crate) fn push(&mut self, separator: &[u8], word: u64) {
        self.0 = fold(self.place(separator), word);
    }
}

/// The delimiter of the segments of a key.
pub(crate) fn delimiter(key: &[u8]) -> Option<u8> {
    let mut delimiters = DELIMITERS.iter().copied();
    delimiters.find(|byte| memchr::memchr(*byte, key).is_some())
}
