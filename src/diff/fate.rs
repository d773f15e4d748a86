//! The certain facts about one name in two lists of the heaviest names: only these are claimed.

/// The count of a name in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// It is listed, with bounds on its load.
    Listed {
        /// The count.
        at_least: u64,
        /// The count, and the load that may have been missed.
        at_most: u64,
    },
    /// It is not listed, and holds at most this; 0 where the list has every name.
    Unlisted(u64),
}

/// The fate of a name from one list to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It holds more, by at least this.
    Grew(u64),
    /// It holds less, by at least this.
    Shrank(u64),
    /// It is new, with at least this.
    Appeared(u64),
    /// It is gone, and held at least this.
    Vanished(u64),
    /// One list has it, and the other may have it below its last row.
    Open,
    /// Its load may be the same.
    Same,
}

impl Known {
    /// The fate of the name, if a later list has `later` of it.
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
