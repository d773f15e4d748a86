//! The number of elements of a value.

/// The number of elements of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elements {
    /// This many.
    Known(u64),
    /// Known only to a module, or too many to count.
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

    /// The sum over two parts of a value.
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
