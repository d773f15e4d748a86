//! The extent of each capture: its first and last operation, and the slots of its operations. A capture that covers
//! exactly one node's slots was taken from that node.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::slot_sets::SlotSets;

/// Times and slots of operations, by input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// First and last time, in milliseconds since 1970.
    times: BTreeMap<u32, (u64, u64)>,
    slots: SlotSets,
}

impl Captured {
    /// Whether no operation was counted.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Captured::default()
    }

    /// The times of an input's first and last operation, in milliseconds since 1970; `None` if unknown.
    pub fn times(&self, input: usize) -> Option<(u64, u64)> {
        self.times.get(&u32::try_from(input).ok()?).copied()
    }

    /// The distinct slots of an input's operations; empty if there are too many inputs.
    pub fn slots(&self, input: usize) -> impl Iterator<Item = u16> {
        self.slots.of(input as u64).into_iter().flatten()
    }

    fn note_time(&mut self, input: u32, (first, last): (u64, u64)) {
        let times = self.times.entry(input).or_insert((first, last));
        *times = (times.0.min(first), times.1.max(last));
    }
}

impl Tally for Captured {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let values = keys.batch.values;
        if !values.are_operations {
            return;
        }
        let place = self.slots.place(u64::from(keys.input));
        keys.slots
            .iter()
            .for_each(|slot| self.slots.add(place, *slot));
        let known = || values.times.iter().filter(|time| **time != MISSING);
        if let (Some(first), Some(last)) = (known().min(), known().max()) {
            self.note_time(keys.input, (*first, *last));
        }
    }

    fn merge(&mut self, other: Self) {
        for (input, times) in other.times {
            self.note_time(input, times);
        }
        self.slots.merge(other.slots);
    }
}
