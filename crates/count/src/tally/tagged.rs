//! The tagged keys of a batch: found branch-free, then processed in loops of their own.

use slotscope_base::batch::Spans;
use slotscope_base::hash::Keys;
use slotscope_base::simd::rows::{Flags, list_rows};
use slotscope_base::slot::SlotBatch;

/// The keys of a batch with a hash tag, and the tags' hashes. A buffer, reused between batches.
#[derive(Debug, Clone, Default)]
pub struct Tagged {
    /// Their indices in the batch.
    pub keys: Vec<u32>,
    /// The hash of each tag, never 0.
    pub hashes: Vec<u64>,
}

/// Selects keys with a tag and a wanted slot.
struct IsTagged<'a, F> {
    keys: &'a SlotBatch<'a>,
    wanted: F,
}

impl<F: Fn(u16) -> bool> Flags for IsTagged<'_, F> {
    #[inline(always)]
    fn flag(&self, from: usize, flags: &mut [u8]) {
        let starts = &self.keys.hashed.start[from..];
        let pairs = starts.iter().zip(&self.keys.untagged[from..]);
        let columns = pairs.zip(&self.keys.slots[from..]);
        for (flag, ((start, untagged), slot)) in flags.iter_mut().zip(columns) {
            *flag = u8::from((start != untagged) & (self.wanted)(*slot));
        }
    }
}

/// Ignored when comparing the containing value.
impl PartialEq for Tagged {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tagged {
    /// Finds the tagged keys of `keys` whose slot is `wanted`.
    #[inline]
    pub fn find(&mut self, keys: &SlotBatch<'_>, wanted: impl Fn(u16) -> bool) {
        self.find_with(&Keys::FIXED, keys, wanted);
    }

    /// The same, with hashes keyed by other numbers.
    #[inline(always)]
    pub(crate) fn find_with(
        &mut self,
        hashing: &Keys,
        keys: &SlotBatch<'_>,
        wanted: impl Fn(u16) -> bool,
    ) {
        let tagged = IsTagged { keys, wanted };
        list_rows(keys.kernel, keys.len(), tagged, &mut self.keys);
        let Spans { start, end } = keys.hashed;
        let hash = |key: &u32| {
            let key = *key as usize;
            hashing.hash_span(keys.batch.base, start[key], end[key])
        };
        self.hashes.clear();
        self.hashes
            .extend(self.keys.iter().map(|key| hash(key).max(1)));
    }
}

/// Fills `listed` with the numbers below `len` that satisfy `concerns`. Branch-free: the selection is unpredictable.
#[inline]
pub(crate) fn list(listed: &mut Vec<u32>, len: usize, concerns: impl Fn(usize) -> bool) {
    listed.clear();
    listed.resize(len + 1, 0);
    let mut count = 0;
    for i in 0..len {
        listed[count] = i as u32;
        count += usize::from(concerns(i));
    }
    listed.truncate(count);
}
