//! Computes the slots of a batch with the kernels of the `hashslot` crate. The hashed part of a key follows the hash
//! tag rule of Redis and Valkey, or another `policy`.

pub mod policy;
#[doc(hidden)]
pub mod set;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::batch::{KeyBatch, Spans};
use crate::slot::policy::Policy;

pub use hashslot::{Kernel, SLOTS, hashed_part, slot, slot_of_part, tag};

/// A batch of keys with their hashed parts and slots.
#[derive(Clone, Copy)]
pub struct SlotBatch<'a> {
    /// The keys.
    pub batch: KeyBatch<'a>,
    /// The hashed part of each key: its hash tag, or all of it.
    pub hashed: &'a Spans,
    /// For keys without a tag, the start of the hashed part; any other value means the key has one.
    pub untagged: &'a [u32],
    /// The slot of each key, below `SLOTS`.
    pub slots: &'a [u16],
    /// Index of their input.
    pub input: u32,
    /// The offset of their block in the input, if it is a piece of it.
    pub offset: u64,
    /// Whether the block can be read again there.
    pub is_rereadable: bool,
    /// The kernel that computed them.
    pub kernel: &'static Kernel,
}

impl SlotBatch<'_> {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether hash tags are text in braces, so that either all keys of a pattern have one or none.
    #[doc(hidden)]
    pub fn tags_are_in_braces(&self) -> bool {
        std::ptr::eq(self.untagged, self.batch.keys.start.as_slice())
    }

    /// Whether key `i` has a hash tag: a part that is hashed instead of the whole key.
    pub fn is_tagged(&self, i: usize) -> bool {
        self.hashed.start[i] != self.untagged[i]
    }
}

/// The place of a slot in an order that puts neighbours far apart, so that the first ones are of all nodes.
#[inline(always)]
pub fn spread(slot: u16) -> u16 {
    slot.wrapping_mul(APART) % SLOTS as u16
}

/// The slot at a place of that order.
pub fn unspread(place: u16) -> u16 {
    place.wrapping_mul(TOGETHER) % SLOTS as u16
}

/// An odd factor, and its inverse modulo the number of slots.
const APART: u16 = 0x2F35;
const TOGETHER: u16 = 0x2B1D;

/// Reads a slot from untrusted data.
#[doc(hidden)]
pub fn checked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let slot = u16::deserialize(deserializer)?;
    if usize::from(slot) < SLOTS {
        Ok(slot)
    } else {
        Err(D::Error::custom("a slot above 16383"))
    }
}

/// A worker's buffers for slots, reused between batches.
#[derive(Default)]
pub struct SlotColumns {
    hashed: Spans,
    /// Empty if equal to the start of every key.
    untagged: Vec<u32>,
    slots: Vec<u16>,
}

/// In `SlotBatch::untagged`: the key has a tag, wherever it starts.
const TAGGED: u32 = u32::MAX;

impl SlotColumns {
    /// Computes hashed parts and slots of `batch` from input `input`, by the rule of Redis and Valkey.
    pub fn compute<'a>(
        &'a mut self,
        kernel: &'static Kernel,
        batch: KeyBatch<'a>,
        input: u32,
    ) -> SlotBatch<'a> {
        self.find_hashed(&Policy::Oss, kernel, batch);
        SlotBatch {
            input,
            ..self.hash(kernel, batch)
        }
    }

    /// Finds the hashed part of each key under `policy`; returns the indices of keys without a slot.
    pub fn find_hashed(
        &mut self,
        policy: &Policy,
        kernel: &'static Kernel,
        batch: KeyBatch<'_>,
    ) -> Vec<u32> {
        self.untagged.clear();
        if policy.is_oss() {
            let Spans { start, end } = &mut self.hashed;
            start.resize(batch.keys.len(), 0);
            end.resize(batch.keys.len(), 0);
            kernel.hashed_spans(batch.keys.in_block(batch.base), start, end);
            return Vec::new();
        }
        let misfits = policy.hashed_spans(batch.base, batch.keys, &mut self.hashed);
        let (keys, parts) = (batch.keys, &self.hashed);
        let is_whole = |i: usize| (parts.start[i], parts.end[i]) == (keys.start[i], keys.end[i]);
        self.untagged
            .extend((0..keys.len()).map(|i| if is_whole(i) { keys.start[i] } else { TAGGED }));
        misfits
    }

    /// Computes the slots of `batch`, given its hashed parts; the caller knows where they are from.
    pub fn hash<'a>(&'a mut self, kernel: &'static Kernel, batch: KeyBatch<'a>) -> SlotBatch<'a> {
        self.slots.resize(self.hashed.len(), 0);
        kernel.slots(self.hashed.in_block(batch.base), &mut self.slots);
        // A tag in braces starts after a brace, never at the start of its key.
        let untagged = if self.untagged.is_empty() {
            &batch.keys.start
        } else {
            &self.untagged
        };
        SlotBatch {
            batch,
            hashed: &self.hashed,
            untagged,
            slots: &self.slots,
            input: 0,
            offset: 0,
            is_rereadable: false,
            kernel,
        }
    }
}
