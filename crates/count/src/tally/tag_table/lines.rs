//! The memory of a tag table, in huge pages if available: random access to 42 MiB would otherwise miss the TLB every
//! other time. Pages are first touched by the thread that adds to them, so that page faults are spread over threads.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use hashslot::simd::Bytes64;

use super::PARTITIONS;
use super::word::{COUNT_BYTES, Word};

/// Size and alignment of huge pages.
const HUGE: usize = 2 << 20;
/// The lowest bit of each word, in a bytes mask of a line.
const FIRST_BITS: u64 = 0x0101_0101_0101_0101;

/// Eight words in one cache line, filled in order.
#[repr(align(64))]
pub(super) struct Line(pub [Word; 8]);

/// The lines of all partitions.
pub(super) struct Lines {
    memory: NonNull<u8>,
    layout: Layout,
    start: NonNull<Line>,
    /// Lines of a partition.
    each: usize,
}

// SAFETY: it owns its memory.
unsafe impl Send for Lines {}
// SAFETY: lines are handed out under the condition of `of_partition`.
unsafe impl Sync for Lines {}

impl Lines {
    /// At least this many cells, all of them free.
    pub(super) fn for_cells(cells: usize) -> Self {
        let each = cells.div_ceil(8 * PARTITIONS).max(1);
        let bytes = PARTITIONS * each * size_of::<Line>();
        // With a larger alignment, allocators write the zeros themselves and touch all pages.
        let layout = Layout::array::<u64>((bytes + HUGE) / 8).expect("a table of a size that fits");
        // SAFETY: the layout has a size.
        let Some(memory) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            handle_alloc_error(layout)
        };
        let unaligned = memory.addr().get() % HUGE;
        // SAFETY: as many bytes more than needed were allocated.
        let start = unsafe { memory.add(HUGE - unaligned) };
        advise_huge(start.as_ptr(), bytes);
        Lines {
            memory,
            layout,
            start: start.cast(),
            each,
        }
    }

    /// How many cells a partition has.
    pub(super) fn cells(&self) -> usize {
        8 * self.each
    }

    /// The lines of a partition.
    ///
    /// # Safety
    /// No one else may use them meanwhile.
    #[expect(clippy::mut_from_ref, reason = "a partition is used under its lock")]
    pub(super) unsafe fn of_partition(&self, partition: usize) -> &mut [Line] {
        assert!(partition < PARTITIONS);
        // SAFETY: the words lie in the allocation, are initialized, and are not shared.
        unsafe {
            let first = self.start.add(partition * self.each);
            std::slice::from_raw_parts_mut(first.as_ptr(), self.each)
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

impl Line {
    /// Bit masks of the bytes where words with this word's tag start, and where free words start. Branch-free, as the
    /// position is unpredictable.
    ///
    /// # Safety
    /// The CPU must have the instructions of `B`.
    #[inline(always)]
    pub(super) unsafe fn look_for<B: Bytes64>(&self, word: Word) -> (u64, u64) {
        let load = |words: [Word; 8]| {
            let bytes = words.map(Word::to_le_bytes);
            // SAFETY: there are 64 bytes, and the CPU has the instructions.
            unsafe { B::load(bytes.as_ptr().cast()) }
        };
        let line = load(self.0);
        let lanes_with = |word: Word| {
            let same = line.same_as(load([word; 8])) >> COUNT_BYTES;
            let (two, four) = (same & same >> 1, (same >> 2) & (same >> 3));
            two & four & (same >> 4) & FIRST_BITS
        };
        (lanes_with(word), lanes_with(Word::FREE))
    }
}

#[cfg(target_os = "linux")]
fn advise_huge(start: *mut u8, bytes: usize) {
    // SAFETY: the memory is allocated, and the advice changes no content. Where the system refuses it, pages are small.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: *mut u8, _: usize) {}
