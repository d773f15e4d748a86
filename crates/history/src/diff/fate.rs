//! Certain facts about one name, given two lists of heaviest names; nothing else is claimed.

/// A list's knowledge of a name: whether it is listed, and bounds on its load, of which the upper one is 0 for a name
/// that a complete list does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub is_listed: bool,
    /// The counted load.
    pub at_least: u64,
    /// The counted load plus what may have been missed.
    pub at_most: u64,
}

/// The change of a name from one list to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It grew by at least this.
    Grew(u64),
    /// It shrank by at least this.
    Shrank(u64),
    /// It is new, with at least this.
    Appeared(u64),
    /// It is gone, and held at least this.
    Vanished(u64),
    /// One list has it; in the other it may be below the last row.
    Open,
    /// It may be unchanged.
    Same,
}

impl Known {
    /// The change, given the name's entry in a later list; a name without load in both has not changed.
    pub(crate) fn until(self, later: Known) -> Fate {
        let is_absent = |known: Known| !known.is_listed && known.at_most == 0;
        if self.at_most == 0 && later.at_most == 0 {
            Fate::Same
        } else if is_absent(self) && later.at_least > 0 {
            Fate::Appeared(later.at_least)
        } else if self.at_least > 0 && is_absent(later) {
            Fate::Vanished(self.at_least)
        } else if later.at_least > self.at_most {
            Fate::Grew(later.at_least - self.at_most)
        } else if self.at_least > later.at_most {
            Fate::Shrank(self.at_least - later.at_most)
        } else if self.is_listed == later.is_listed {
            Fate::Same
        } else {
            Fate::Open
        }
    }
}
