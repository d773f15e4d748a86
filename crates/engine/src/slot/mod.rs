//! Slots of a batch of keys, by the kernels of the `hashslot` crate. Which part of a key is hashed is decided by the
//! hash tag rule of Redis and Valkey, or by another `policy`.

pub mod policy;
#[doc(hidden)]
pub mod set;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::format::batch::{KeyBatch, Spans};
use crate::slot::policy::Policy;

pub use hashslot::{Kernel, SLOTS, hashed_part, slot, slot_of_part, tag};

/// A batch of keys with the hashed part and the slot of each.
#[derive(Clone, Copy)]
pub struct SlotBatch<'a> {
    /// The keys.
    pub batch: KeyBatch<'a>,
    /// The hashed part of each key: its hash tag, or all of it.
    pub hashed: &'a Spans,
    /// Where the hashed part of each key starts if the key has no tag; anything else: it has one.
    pub untagged: &'a [u32],
    /// The slot of each key, below `SLOTS`.
    pub slots: &'a [u16],
    /// The input that they are from, counted from 0.
    pub input: u32,
    /// The offset in it of the block that their offsets are in, where the block is a piece of it.
    pub offset: u64,
    /// The kernel that computed them.
    pub kernel: &'static Kernel,
}

impl SlotBatch<'_> {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True where there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether the hash tag is the text in braces, so that all keys of a pattern have one, or none has.
    pub fn tags_are_in_braces(&self) -> bool {
        std::ptr::eq(self.untagged, self.batch.keys.start.as_slice())
    }

    /// Whether key `i` has a hash tag: a part that is hashed in place of the whole key.
    pub fn is_tagged(&self, i: usize) -> bool {
        self.hashed.start[i] != self.untagged[i]
    }
}

/// Reads a slot from where anything may be written.
#[doc(hidden)]
pub fn checked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let slot = u16::deserialize(deserializer)?;
    if usize::from(slot) < SLOTS {
        Ok(slot)
    } else {
        Err(D::Error::custom("a slot above 16383"))
    }
}

/// The columns a worker keeps for this stage, reused from batch to batch.
#[derive(Default)]
pub struct SlotColumns {
    hashed: Spans,
    /// Empty where that is the start of every key.
    untagged: Vec<u32>,
    slots: Vec<u16>,
}

/// In `SlotBatch::untagged`: the key has a tag, wherever that starts.
const TAGGED: u32 = u32::MAX;

impl SlotColumns {
    /// Computes the hashed parts and the slots of `batch`, which is from input `input`, as Redis and Valkey do.
    pub fn compute<'a>(
        &'a mut self,
        kernel: &'static Kernel,
        batch: KeyBatch<'a>,
        input: u32,
    ) -> SlotBatch<'a> {
        self.find_hashed(&Policy::Oss, kernel, batch);
        self.hash(kernel, batch, (input, 0))
    }

    /// Finds what `policy` hashes of each key; returns the numbers of the keys that it gives no slot.
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

    /// Computes the slots of `batch`, whose hashed parts were found and whose block is at an offset of an input.
    pub fn hash<'a>(
        &'a mut self,
        kernel: &'static Kernel,
        batch: KeyBatch<'a>,
        (input, offset): (u32, u64),
    ) -> SlotBatch<'a> {
        self.slots.resize(self.hashed.len(), 0);
        kernel.slots(self.hashed.in_block(batch.base), &mut self.slots);
        // A tag in braces starts after one, never where its key does.
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
            input,
            offset,
            kernel,
        }
    }
}
