//! Places in names whose whole segment is a value or a constant.

use std::collections::HashMap;
use std::sync::Arc;

use slotscope_base::hash::{fold, hash};

/// Stands for the hash of a word; must not be small, as `fold` does not mix small numbers.
pub(crate) const FIELD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Delimiters of segments: the first one that a key contains divides it.
const DELIMITERS: &[u8] = b":|/.-_";

/// The kind of a place's segments, which are read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// Values of one field.
    Value,
    /// Words of the pattern, which may still become a tag.
    Constant,
}

/// Places known from batches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places(Option<Arc<HashMap<u64, PlaceKind>>>);

impl From<HashMap<u64, PlaceKind>> for Places {
    fn from(places: HashMap<u64, PlaceKind>) -> Self {
        Places(Some(Arc::new(places)))
    }
}

impl Places {
    /// Whether places are known or being learned.
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

/// The hash of the text before a place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Prefix(u64);

impl Prefix {
    /// The place that follows this prefix and a separator.
    pub(crate) fn place(self, separator: &[u8]) -> u64 {
        fold(self.0 ^ FIELD, hash(separator))
    }

    /// Adds a separator and a token: the hash of a word, or `FIELD`.
    pub(crate) fn push(&mut self, separator: &[u8], word: u64) {
        self.0 = fold(self.place(separator), word);
    }
}

/// The delimiter between the segments of a key.
pub(crate) fn delimiter(key: &[u8]) -> Option<u8> {
    let mut delimiters = DELIMITERS.iter().copied();
    delimiters.find(|byte| memchr::memchr(*byte, key).is_some())
}
