//! Work is counted, not timed, so a plan is the same on every machine.

/// Remaining search work, counted in slots and pairs of slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Work done so far.
    pub spent: u64,
    /// The search stops beyond this.
    pub most: u64,
}

impl Budget {
    pub(super) fn new(most: u64) -> Self {
        Budget { spent: 0, most }
    }

    /// A share of the remaining budget, at most `most`; the caller adds the work it spends to `spent`.
    pub(super) fn part(&self, most: u64) -> Self {
        Budget::new(most.min(self.most.saturating_sub(self.spent)))
    }

    pub(super) fn is_spent(&self) -> bool {
        self.spent >= self.most
    }
}
