//! The kernels: the same three passes, one file an instruction set, best first in `KERNELS`.
//!
//! A kernel that this CPU does not support cannot be obtained from here, so calling one is always sound.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cut;
mod groups;
mod narrow;
#[cfg(target_arch = "aarch64")]
mod neon;
mod poly;
mod portable;
mod sparse;
#[cfg(target_arch = "x86_64")]
mod sse;
pub mod table;

use crate::error::{Error, Result};
use crate::format::batch::Spans;
use crate::name::Name;
use crate::source::block::Padded;

/// One implementation of the passes over a batch. The functions are called once a batch, never once a key; all
/// they ask of a caller is that the CPU has the instructions.
pub struct Kernel {
    /// What `--kernel` calls it: the name of its file.
    pub name: &'static str,
    /// The CPU features it needs, for people.
    pub needs: &'static str,
    supported: fn() -> bool,
    /// Fills the offsets of `delimiter` in `base[from..]`, ascending, until `ends` is full or the bytes end.
    cut: unsafe fn(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize,
    /// Writes the hashed part of each key; panics unless all keys lie in `base`.
    narrow: unsafe fn(base: Padded<'_>, keys: &Spans, hashed: &mut Spans),
    /// Writes the shape of each key; panics unless all keys lie in `base`.
    shapes: unsafe fn(base: Padded<'_>, keys: &Spans, shapes: &mut [u64]),
    /// Writes the slot of each span; panics unless all spans lie in `base`.
    slots: unsafe fn(base: Padded<'_>, spans: &Spans, slots: &mut [u16]),
}

/// The row of a kernel file and its three passes, compiled for its instructions: `kernel!("name", Lanes, shapes,
/// detect, "feature", ...)` beside an `unsafe fn hash(base, spans, slots)` that may trust the spans and the lengths.
macro_rules! kernel {
    ($name:literal, $lanes:ty, $shapes:ident, $detect:ident, $($feature:tt),*) => {
        /// The kernel row.
        pub static KERNEL: $crate::slot::kernel::Kernel = $crate::slot::kernel::Kernel {
            name: $name,
            needs: concat!($($feature, " "),*).trim_ascii_end(),
            supported: || true $(&& $detect!($feature))*,
            cut,
            narrow,
            shapes,
            slots,
        };

        $(#[target_feature(enable = $feature)])*
        fn cut(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
            // SAFETY: the CPU has the features of this function.
            unsafe { $crate::slot::kernel::cut::cut::<$lanes>(base, from, delimiter, ends) }
        }

        $(#[target_feature(enable = $feature)])*
        fn narrow(base: Padded<'_>, keys: &Spans, hashed: &mut Spans) {
            $crate::slot::kernel::check(base, keys, hashed.len());
            // SAFETY: the keys lie in the block, and the CPU has the features of this function.
            unsafe { $crate::slot::kernel::narrow::narrow::<$lanes>(base, keys, hashed) }
        }

        $(#[target_feature(enable = $feature)])*
        fn shapes(base: Padded<'_>, keys: &Spans, shapes: &mut [u64]) {
            $crate::slot::kernel::check(base, keys, shapes.len());
            // SAFETY: the keys lie in the block, and the CPU has the features of this function.
            unsafe { $crate::slot::shapes::$shapes::<$lanes>(base, keys, shapes) }
        }

        $(#[target_feature(enable = $feature)])*
        fn slots(base: Padded<'_>, spans: &Spans, slots: &mut [u16]) {
            $crate::slot::kernel::check(base, spans, slots.len());
            // SAFETY: the spans lie in the block, and the CPU has the features of this function.
            unsafe { hash(base, spans, slots) }
        }
    };
}
use kernel;

/// Every kernel of this architecture, best first.
pub static KERNELS: &[&Kernel] = &[
    #[cfg(target_arch = "x86_64")]
    &avx512::KERNEL,
    #[cfg(target_arch = "x86_64")]
    &avx2::KERNEL,
    #[cfg(target_arch = "x86_64")]
    &sse::KERNEL,
    #[cfg(target_arch = "aarch64")]
    &neon::KERNEL,
    &portable::KERNEL,
    &table::KERNEL,
];

/// The kernels that this CPU supports, best first; the table is always among them.
pub fn available() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().copied().filter(|kernel| (kernel.supported)())
}

/// The best kernel of this CPU.
pub fn best() -> &'static Kernel {
    available().next().unwrap_or(&table::KERNEL)
}

/// The kernel called `name`, if this CPU supports it.
///
/// # Errors
/// An unknown name, or one whose instructions this CPU lacks; the message lists the usable ones.
pub fn named(name: &str) -> Result<&'static Kernel> {
    let usable = || available().map(|kernel| kernel.name).collect::<Vec<_>>().join(", ");
    match KERNELS.iter().find(|kernel| kernel.name == name) {
        Some(kernel) if (kernel.supported)() => Ok(kernel),
        Some(kernel) => Err(Error::bad(
            format!("--kernel {name}"),
            format!("this CPU lacks {}; usable here: {}", kernel.needs, usable()),
        )),
        None => Err(Error::bad(
            "--kernel",
            format!("no kernel is called \"{}\"; usable here: {}", Name::from(name), usable()),
        )),
    }
}

impl Kernel {
    /// Finds `delimiter` in `base[from..]`: fills `ends` with its ascending offsets and returns how many it
    /// found; fewer than `ends.len()` means that the bytes are used up.
    pub fn cut(&self, base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
        // SAFETY: a kernel is only obtained where the CPU supports it.
        unsafe { (self.cut)(base, from, delimiter, ends) }
    }

    /// Writes the hashed part of every key of `keys` to `hashed`.
    ///
    /// # Panics
    /// Where a key does not lie in `base`.
    pub fn narrow(&self, base: Padded<'_>, keys: &Spans, hashed: &mut Spans) {
        hashed.resize(keys.len());
        // SAFETY: a kernel is only obtained where the CPU supports it.
        unsafe { (self.narrow)(base, keys, hashed) }
    }

    /// Writes the shape of every key of `keys` to `shapes`.
    ///
    /// # Panics
    /// Where a key does not lie in `base`.
    pub fn shapes(&self, base: Padded<'_>, keys: &Spans, shapes: &mut Vec<u64>) {
        shapes.resize(keys.len(), 0);
        // SAFETY: a kernel is only obtained where the CPU supports it.
        unsafe { (self.shapes)(base, keys, shapes) }
    }

    /// Writes the slot of every span to `slots`.
    ///
    /// # Panics
    /// Where a span does not lie in `base`.
    pub fn slots(&self, base: Padded<'_>, spans: &Spans, slots: &mut Vec<u16>) {
        slots.resize(spans.len(), 0);
        // SAFETY: a kernel is only obtained where the CPU supports it.
        unsafe { (self.slots)(base, spans, slots) }
    }
}

/// Panics unless every span lies in `base` and the columns are `len` long: that makes the passes safe. Inlined
/// into each kernel, it is vectorised with the kernel's instructions (0.03 ns a key with AVX-512, 0.3 without).
#[inline(always)]
fn check(base: Padded<'_>, spans: &Spans, len: usize) {
    assert!(spans.start.len() == len && spans.end.len() == len, "columns of different lengths");
    let (mut ordered, mut last) = (true, 0);
    for (start, end) in spans.start.iter().zip(&spans.end) {
        ordered &= start <= end;
        last = last.max(*end);
    }
    assert!(ordered && last as usize <= base.len(), "a span outside its block");
}

#[cfg(test)]
mod tests;
