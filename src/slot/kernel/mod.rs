//! The kernels: the same three passes, one file an instruction set, best first in `KERNELS`.
//!
//! A kernel that this CPU does not support cannot be obtained from here, so calling one is always sound.

pub mod table;

use crate::error::{Error, Result};
use crate::format::batch::Spans;
use crate::source::block::Padded;

/// One implementation of the passes over a batch. The functions are called once a batch, never once a key.
pub struct Kernel {
    /// What `--kernel` calls it: the name of its file.
    pub name: &'static str,
    /// The CPU features it needs, for people.
    pub needs: &'static str,
    supported: fn() -> bool,
    /// Fills the offsets of `delimiter` in `base[from..]`, ascending, until `ends` is full or the bytes end.
    cut: unsafe fn(base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize,
    /// Writes the hashed part of each key.
    narrow: unsafe fn(base: Padded<'_>, keys: &Spans, hashed: &mut Spans),
    /// Writes the slot of each span.
    slots: unsafe fn(base: Padded<'_>, spans: &Spans, slots: &mut [u16]),
}

/// Every kernel of this architecture, best first.
pub static KERNELS: &[&Kernel] = &[&table::KERNEL];

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
        None => Err(Error::bad("--kernel", format!("no kernel is called \"{name}\"; usable here: {}", usable()))),
    }
}

impl Kernel {
    /// Finds `delimiter` in `base[from..]`: fills `ends` with its ascending offsets and returns how many it
    /// found; fewer than `ends.len()` means that the bytes are used up.
    pub fn cut(&self, base: Padded<'_>, from: u32, delimiter: u8, ends: &mut [u32]) -> usize {
        assert!(from as usize <= base.len());
        // SAFETY: `from` is in bounds, and a kernel is only obtained where the CPU supports it.
        unsafe { (self.cut)(base, from, delimiter, ends) }
    }

    /// Writes the hashed part of every key of `keys` to `hashed`.
    pub fn narrow(&self, base: Padded<'_>, keys: &Spans, hashed: &mut Spans) {
        check(base, keys);
        hashed.resize(keys.len());
        // SAFETY: all spans are in bounds (checked), `hashed` is as long as `keys`, the CPU supports the kernel.
        unsafe { (self.narrow)(base, keys, hashed) }
    }

    /// Writes the slot of every span to `slots`.
    pub fn slots(&self, base: Padded<'_>, spans: &Spans, slots: &mut Vec<u16>) {
        check(base, spans);
        slots.resize(spans.len(), 0);
        // SAFETY: all spans are in bounds (checked), `slots` is as long as `spans`, the CPU supports the kernel.
        unsafe { (self.slots)(base, spans, slots) }
    }
}

/// Panics unless every span lies in `base`; two compares a key, vectorised, are what makes the passes safe.
fn check(base: Padded<'_>, spans: &Spans) {
    assert_eq!(spans.start.len(), spans.end.len());
    let ordered = spans.start.iter().zip(&spans.end).fold(true, |ok, (start, end)| ok & (start <= end));
    let last = spans.end.iter().fold(0, |last, end| last.max(*end));
    assert!(ordered && last as usize <= base.len(), "a span outside its block");
}

#[cfg(test)]
mod tests;
