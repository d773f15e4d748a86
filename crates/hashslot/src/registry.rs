//! The table of kernels, best first, and the passes that its rows run.

use core::fmt;

use crate::arch;
use crate::batch::Batch;
use crate::kernel::Kernel;
use crate::simd::Pass;
use crate::simd::hashed_spans::HashedSpans;

pub use crate::arch::KERNELS;

/// The kernels that this CPU supports, best first; the table is always among them.
pub fn available() -> impl Iterator<Item = &'static Kernel> {
    KERNELS
        .iter()
        .copied()
        .filter(|kernel| kernel.is_supported())
}

/// The best kernel of this CPU.
pub fn best() -> &'static Kernel {
    available().next().unwrap_or(&arch::scalar::table::KERNEL)
}

/// The kernel called `name`, if this CPU supports it.
///
/// # Errors
/// No kernel has that name, or the CPU lacks its instructions.
pub fn named(name: &str) -> Result<&'static Kernel, UnknownKernel> {
    match KERNELS.iter().find(|kernel| kernel.name == name) {
        Some(kernel) if kernel.is_supported() => Ok(kernel),
        Some(kernel) => Err(UnknownKernel::Unsupported {
            needs: kernel.needs,
        }),
        None => Err(UnknownKernel::NoSuchName),
    }
}

/// The reason why there is no kernel with a name; [`available`] lists those that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKernel {
    /// No kernel of this architecture has that name.
    NoSuchName,
    /// This CPU lacks some of the kernel's instructions.
    Unsupported {
        /// The CPU features that the kernel needs.
        needs: &'static str,
    },
}

impl fmt::Display for UnknownKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownKernel::NoSuchName => f.write_str("no kernel has this name"),
            UnknownKernel::Unsupported { needs } => write!(f, "this CPU lacks {needs}"),
        }
    }
}

impl core::error::Error for UnknownKernel {}

impl Kernel {
    /// Writes the start and end of the hashed part of each key: its hash tag, or all of it.
    ///
    /// # Panics
    /// If a key does not lie in its buffer, a column is not as long as the batch, or the CPU lacks the kernel's
    /// instructions.
    pub fn hashed_spans(&self, keys: Batch<'_>, start: &mut [u32], end: &mut [u32]) {
        self.run(HashedSpans { keys, start, end });
    }

    /// Runs a pass written in terms of [`Bytes64`](crate::simd::Bytes64), compiled for the kernel's instructions.
    ///
    /// # Panics
    /// If the CPU lacks the kernel's instructions, or the pass panics.
    #[inline]
    pub fn run<P: Pass>(&self, pass: P) -> P::Output {
        self.assert_supported();
        // SAFETY: the CPU supports the kernel.
        unsafe { arch::run(self, pass) }
    }
}
