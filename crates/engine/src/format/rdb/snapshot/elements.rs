//! How many elements a value has.

/// How many elements a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// This many.
    Known(u64),
    /// Only a module knows, or there are too many to count.
    Unknown,
    /// Its packed bytes are invalid; a server refuses to load it.
    Damaged,
}

impl Elements {
    /// Their number, where it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Elements::Known(count) => Some(count),
            Elements::Unknown | Elements::Damaged => None,
        }
    }

    /// Those of two parts of a value.
    pub(super) fn plus(self, other: Elements) -> Elements {
        match (self, other) {
            (Elements::Known(mine), Elements::Known(theirs)) => {
                Elements::Known(mine.saturating_add(theirs))
            }
            (Elements::Damaged, _) | (_, Elements::Damaged) => Elements::Damaged,
            _ => Elements::Unknown,
        }
    }

    /// Elements of this many entries each.
    pub(super) fn of(self, entries: u64) -> Elements {
        match self {
            Elements::Known(count) => Elements::Known(count / entries),
            other => other,
        }
    }
}
