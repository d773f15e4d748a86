//! What keys weigh in each metric that the input carries, beside the sums by slot: how many tell it, and the sums of
//! squares that say how many equal keys they behave like.

use serde::{Deserialize, Serialize};

use super::Tally;
use crate::format::batch::MISSING;
use crate::metric::Metric;
use crate::slot::SlotBatch;

/// The weights of keys in bytes and operations; absent where no key tells them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    bytes: Option<Weighed>,
    ops: Option<Weighed>,
}

/// Weights in one metric. Sums stop at the largest number there is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    /// Keys that tell their weight.
    pub told: u64,
    /// Keys whose weight is more than 0.
    pub positive: u64,
    /// The sum of all weights.
    pub sum: u128,
    /// The sum of their squares.
    pub squares: u128,
    /// The sum of the squares of keys without a hash tag.
    pub untagged_squares: u128,
}

impl Weights {
    /// The weights in `metric`; of keys there are none.
    pub fn get(&self, metric: Metric) -> Option<&Weighed> {
        match metric {
            Metric::Keys => None,
            Metric::Bytes => self.bytes.as_ref(),
            Metric::Ops => self.ops.as_ref(),
        }
    }

    fn slot(&mut self, metric: Metric) -> &mut Option<Weighed> {
        if metric == Metric::Ops { &mut self.ops } else { &mut self.bytes }
    }
}

impl Weighed {
    fn add(&mut self, weight: u64, tagged: bool) {
        let square = u128::from(weight) * u128::from(weight);
        self.told += 1;
        self.positive += u64::from(weight > 0);
        self.sum += u128::from(weight);
        self.squares = self.squares.saturating_add(square);
        if !tagged {
            self.untagged_squares = self.untagged_squares.saturating_add(square);
        }
    }

    fn merge(&mut self, other: &Weighed) {
        self.told += other.told;
        self.positive += other.positive;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.untagged_squares = self.untagged_squares.saturating_add(other.untagged_squares);
    }
}

impl Tally for Weights {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        for metric in Metric::WEIGHTS {
            let Some(column) = keys.batch.values.column(metric) else { continue };
            for (i, weight) in column.iter().enumerate().filter(|(_, weight)| **weight != MISSING) {
                self.slot(metric).get_or_insert_default().add(*weight, keys.is_tagged(i));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for metric in Metric::WEIGHTS {
            if let Some(theirs) = other.get(metric) {
                self.slot(metric).get_or_insert_default().merge(theirs);
            }
        }
    }
}
