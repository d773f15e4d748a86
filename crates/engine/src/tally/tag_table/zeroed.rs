//! Large arrays of zeros in huge pages where the system has them: at random places of 60 MiB, every other look-up would wait
//! for the address of a small page.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Huge pages are as large, and start at multiples of it.
const HUGE: usize = 2 << 20;

/// A type of which zeros are a valid value.
///
/// # Safety
/// Memory of zeros must be valid, and shared by threads only in ways that the type allows.
pub(super) unsafe trait Zero: Sync {}

// SAFETY: the number 0.
unsafe impl Zero for AtomicU32 {}
// SAFETY: the number 0.
unsafe impl Zero for AtomicU64 {}

/// The array.
pub(super) struct Zeroed<T: Zero> {
    start: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its memory, and values of `T` may be shared and need no drop.
unsafe impl<T: Zero> Send for Zeroed<T> {}
// SAFETY: as above.
unsafe impl<T: Zero> Sync for Zeroed<T> {}

impl<T: Zero> Zeroed<T> {
    /// `len` zeros; at least one.
    pub(super) fn new(len: usize) -> Self {
        let layout = layout::<T>(len.max(1));
        // SAFETY: the layout has a size.
        let start = unsafe { alloc(layout) };
        let Some(memory) = NonNull::new(start) else {
            handle_alloc_error(layout)
        };
        advise_huge(start, layout.size());
        // SAFETY: as many bytes were allocated.
        unsafe { start.write_bytes(0, layout.size()) };
        Zeroed {
            start: memory.cast(),
            len: len.max(1),
        }
    }
}

impl<T: Zero> Deref for Zeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: there are as many values: memory of zeros, or valid values written over them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Zero> Drop for Zeroed<T> {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr().cast(), layout::<T>(self.len)) }
    }
}

fn layout<T>(len: usize) -> Layout {
    let values = Layout::array::<T>(len).and_then(|values| values.align_to(HUGE));
    values.expect("a table of a size that fits")
}

#[cfg(target_os = "linux")]
fn advise_huge(start: *mut u8, bytes: usize) {
    // SAFETY: the memory is allocated, and the advice changes no content. Where the system refuses it, pages are small.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: *mut u8, _: usize) {}
