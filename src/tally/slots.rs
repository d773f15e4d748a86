//! Keys by hash slot, exactly.

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::slot::{SLOTS, SlotBatch};

/// How many keys each of the 16384 slots holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotCounts {
    /// Keys by slot.
    pub keys: Vec<u64>,
}

impl Default for SlotCounts {
    fn default() -> Self {
        SlotCounts { keys: vec![0; SLOTS] }
    }
}

impl SlotCounts {
    /// All keys.
    pub fn total(&self) -> u64 {
        self.keys.iter().sum()
    }
}

impl Tally for SlotCounts {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        for slot in keys.slots {
            self.keys[usize::from(*slot)] += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        add_all(&mut self.keys, &other.keys);
    }
}

/// Adds `other` to `counts`, place by place.
pub fn add_all(counts: &mut [u64], other: &[u64]) {
    counts.iter_mut().zip(other).for_each(|(count, other)| *count += other);
}
