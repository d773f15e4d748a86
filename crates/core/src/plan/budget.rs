//! Work is counted, never timed: so a plan is the same on every machine.

/// What a search may still look at, counted in slots and pairs of slots.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// How much was looked at.
    pub spent: u64,
    /// Past this nothing but necessary steps is searched for.
    pub most: u64,
}

impl Budget {
    pub fn is_spent(&self) -> bool {
        self.spent >= self.most
    }
}
