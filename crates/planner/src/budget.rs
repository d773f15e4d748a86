//! Work is counted, not timed, so a plan is the same on every machine.

/// Remaining search work, counted in slots and pairs of slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// How much was looked at.
    pub spent: u64,
    /// The search stops beyond this.
    pub most: u64,
}

impl Budget {
    /// Nothing is spent.
    pub(crate) fn new(most: u64) -> Self {
        Budget { spent: 0, most }
    }

    /// A part of the rest, at most this much; the work spent of it is to be added to `spent`.
    pub(crate) fn part(&self, most: u64) -> Self {
        Budget::new(most.min(self.most.saturating_sub(self.spent)))
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.spent >= self.most
    }
}
