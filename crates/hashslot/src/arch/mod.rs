//! One file per instruction set. A new kernel is one file, its `mod` line, and one line in `kernels!` below.

pub(crate) mod generic;
pub(crate) mod scalar;

#[cfg(target_arch = "aarch64")]
pub mod aarch64;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

use crate::kernel::Kernel;
use crate::simd::Pass;

/// Creates the table of kernels, and `run`, which selects the instructions of a row.
macro_rules! kernels {
    ($($(#[$only:meta])* $($path:ident)::+,)*) => {
        /// Every kernel of this architecture, best first, whether or not this CPU supports it.
        pub static KERNELS: &[&Kernel] = &[$($(#[$only])* &$($path)::+::KERNEL),*];

        /// Runs `pass` with the instructions of `kernel`.
        ///
        /// # Safety
        /// The CPU must support the kernel.
        #[inline]
        pub(crate) unsafe fn run<P: Pass>(kernel: &Kernel, pass: P) -> P::Output {
            $(
                $(#[$only])*
                if core::ptr::eq(kernel, &$($path)::+::KERNEL) {
                    // SAFETY: passed on.
                    return unsafe { $($path)::+::run(pass) };
                }
            )*
            pass.scalar()
        }
    };
}

kernels! {
    #[cfg(target_arch = "x86_64")]
    x86_64::avx512,
    #[cfg(target_arch = "x86_64")]
    x86_64::avx2,
    #[cfg(target_arch = "x86_64")]
    x86_64::sse,
    #[cfg(target_arch = "aarch64")]
    aarch64::neon,
    scalar::portable,
    scalar::table,
}

/// The table row of a kernel with carry-less multiplication, and its passes compiled for its instructions:
/// `kernel!("name", Bytes, Register, detect, "feature", ...)`.
macro_rules! kernel {
    ($name:literal, $bytes:ty, $register:ty, $detect:ident, $($feature:tt),*) => {
        /// The kernel row.
        pub(crate) static KERNEL: $crate::kernel::Kernel = $crate::kernel::Kernel {
            name: $name,
            needs: concat!($($feature, " "),*).trim_ascii_end(),
            #[cfg(feature = "std")]
            supported: || true $(&& std::arch::$detect!($feature))*,
            #[cfg(not(feature = "std"))]
            supported: || cfg!(all($(target_feature = $feature),*)),
            slots,
        };

        $(#[target_feature(enable = $feature)])*
        fn slots(parts: $crate::Batch<'_>, slots: &mut [u16]) {
            parts.assert_in_bounds();
            assert_eq!(parts.len(), slots.len(), "a slot for each span");
            // SAFETY: the spans lie in the buffer, and the CPU has the features of this function.
            unsafe { $crate::arch::generic::crc::slots::<$register>(parts, slots, any_length) }
        }

        // `cold` keeps it out of line: rustc 1.95 ignores `inline(never)` on functions with `target_feature`.
        // SAFETY: as for `generic::crc::any_length`: the spans lie in their buffer, and the CPU has the features.
        #[cold]
        #[inline(never)]
        $(#[target_feature(enable = $feature)])*
        unsafe fn any_length(
            base: *const u8,
            starts: &[u32; $crate::arch::generic::groups::GROUP],
            ends: &[u32; $crate::arch::generic::groups::GROUP],
            slots: &mut [u16; $crate::arch::generic::groups::GROUP],
        ) {
            // SAFETY: passed on.
            unsafe {
                $crate::arch::generic::crc::any_length::<$register>(base, starts, ends, slots)
            }
        }

        /// Runs `pass` with this kernel's instructions.
        ///
        /// # Safety
        /// The CPU must have these instructions.
        $(#[target_feature(enable = $feature)])*
        pub(crate) unsafe fn run<P: $crate::simd::Pass>(pass: P) -> P::Output {
            pass.vector::<$bytes>()
        }
    };
}
pub(crate) use kernel;
