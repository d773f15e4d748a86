//! The load of each of the 16384 slots: exact.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::metric::{Metric, PerMetric, are_counts};
use slotscope_base::slot::{SLOTS, SlotBatch};

use crate::tally::Tally;

/// The load of each of the 16384 slots, in every metric of the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SlotCounts {
    /// Loads by slot.
    pub loads: PerMetric<Vec<u64>>,
}

impl Default for SlotCounts {
    fn default() -> Self {
        SlotCounts {
            loads: PerMetric::of_keys(vec![0; SLOTS]),
        }
    }
}

impl SlotCounts {
    /// Whether these may be counts of keys.
    pub(super) fn is_sound(&self) -> bool {
        let mut loads = self.loads.iter();
        loads.all(|(_, load)| load.len() == SLOTS) && are_counts(&self.loads.keys)
    }

    /// All keys.
    pub fn total(&self) -> u64 {
        self.loads.keys.iter().sum()
    }

    /// The sum of a metric.
    pub fn total_of(&self, metric: Metric) -> u64 {
        let loads = self.loads.get(metric).into_iter().flatten();
        loads.fold(0, |sum, load| sum.saturating_add(*load))
    }
}

impl Tally for SlotCounts {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if !keys.batch.values.are_operations {
            for slot in keys.slots {
                self.loads.keys[usize::from(*slot)] += 1;
            }
        }
        for metric in Metric::WEIGHTS {
            let Some(column) = keys.batch.values.column(metric) else {
                continue;
            };
            if column.iter().all(|value| *value == MISSING) {
                continue;
            }
            let loads = self.loads.get_or_insert_with(metric, || vec![0; SLOTS]);
            for (slot, value) in keys
                .slots
                .iter()
                .zip(column)
                .filter(|(_, value)| **value != MISSING)
            {
                let load = &mut loads[usize::from(*slot)];
                *load = load.saturating_add(*value);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.loads
            .merge(other.loads, |mine, theirs| add_all(mine, &theirs));
    }
}

/// Adds `other` to `counts` element-wise.
pub fn add_all(counts: &mut [u64], other: &[u64]) {
    counts
        .iter_mut()
        .zip(other)
        .for_each(|(count, added)| *count = count.saturating_add(*added));
}
