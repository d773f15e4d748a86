//! Certain facts about one name, given two lists of heaviest names; nothing else is claimed.

/// A list's knowledge of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// It is listed, with bounds on its load.
    Listed {
        /// The counted load.
        at_least: u64,
        /// The counted load plus what may have been missed.
        at_most: u64,
    },
    /// It is not listed, and holds at most this; 0 if the list is complete.
    Unlisted(u64),
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
    /// The change, given the name's entry in a later list.
    pub(crate) fn until(self, later: Known) -> Fate {
        use Known::{Listed, Unlisted};
        match (self, later) {
            (Listed { at_most, .. }, Listed { at_least, .. }) if at_least > at_most => {
                Fate::Grew(at_least - at_most)
            }
            (Listed { at_least, .. }, Listed { at_most, .. }) if at_least > at_most => {
                Fate::Shrank(at_least - at_most)
            }
            (Unlisted(0), Listed { at_least, .. }) => Fate::Appeared(at_least),
            (Unlisted(below), Listed { at_least, .. }) if at_least > below => {
                Fate::Grew(at_least - below)
            }
            (Listed { at_least, .. }, Unlisted(0)) => Fate::Vanished(at_least),
            (Listed { at_least, .. }, Unlisted(below)) if at_least > below => {
                Fate::Shrank(at_least - below)
            }
            (Listed { .. }, Listed { .. }) | (Unlisted(_), Unlisted(_)) => Fate::Same,
            _ => Fate::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_bounds_leave_certain_is_claimed() {
        let listed = |at_least, at_most| Known::Listed { at_least, at_most };
        let whole = Known::Unlisted(0);
        for (before, after, fate) in [
            (listed(5, 7), listed(8, 9), Fate::Grew(1)),
            (listed(5, 7), listed(7, 9), Fate::Same),
            (listed(9, 9), listed(5, 7), Fate::Shrank(2)),
            (whole, listed(5, 7), Fate::Appeared(5)),
            (Known::Unlisted(4), listed(5, 7), Fate::Grew(1)),
            (Known::Unlisted(5), listed(5, 7), Fate::Open),
            (listed(5, 7), whole, Fate::Vanished(5)),
            (listed(5, 7), Known::Unlisted(4), Fate::Shrank(1)),
            (listed(5, 7), Known::Unlisted(5), Fate::Open),
            (whole, whole, Fate::Same),
        ] {
            assert_eq!(before.until(after), fate, "{before:?} {after:?}");
        }
    }
}
