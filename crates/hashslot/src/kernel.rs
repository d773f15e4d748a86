//! A kernel as a row of the table of kernels; every row is defined by its file in `arch`.

use core::fmt;

use crate::batch::Batch;

/// One implementation of the passes over a batch. It is chosen once per batch, never once per key.
pub struct Kernel {
    /// Its name, which is the name of its file.
    pub name: &'static str,
    /// The CPU features it needs, for people: `avx2 bmi1`, or `nothing`.
    pub needs: &'static str,
    pub(crate) supported: fn() -> bool,
    /// Writes the slot of each span; panics unless all spans lie in the buffer.
    pub(crate) slots: unsafe fn(parts: Batch<'_>, slots: &mut [u16]),
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

impl Kernel {
    /// Whether this CPU has the kernel's instructions.
    #[inline]
    pub fn is_supported(&self) -> bool {
        (self.supported)()
    }

    /// Writes the slot of each span of `parts`, hashing all its bytes.
    ///
    /// # Panics
    /// If a span does not lie in its buffer, `slots` is not as long as the batch, or the CPU lacks the kernel's
    /// instructions.
    pub fn slots(&self, parts: Batch<'_>, slots: &mut [u16]) {
        self.assert_supported();
        // SAFETY: the CPU supports the kernel.
        unsafe { (self.slots)(parts, slots) }
    }

    /// Panics if this CPU lacks its instructions.
    pub(crate) fn assert_supported(&self) {
        assert!(
            self.is_supported(),
            "this CPU lacks {}, which kernel {} needs",
            self.needs,
            self.name
        );
    }
}
