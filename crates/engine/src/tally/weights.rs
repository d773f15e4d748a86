//! The weights of keys in each metric that the input carries: how many keys have one, and sums of squares, from which the
//! number of independent units is estimated. Sums by slot are in `slots`.

use serde::{Deserialize, Serialize};

use crate::format::batch::MISSING;
use crate::metric::{Metric, PerWeight, WEIGHTS};
use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::operations::BusyKeys;

/// The weights of keys; absent in metrics that the input does not carry.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "PerWeight<Weighed>", from = "PerWeight<Weighed>")]
pub struct Weights([Option<Weighed>; WEIGHTS]);

impl From<Weights> for PerWeight<Weighed> {
    fn from(weights: Weights) -> Self {
        PerWeight::from_fn(|metric| weights.get(metric).cloned())
    }
}

impl From<PerWeight<Weighed>> for Weights {
    fn from(weights: PerWeight<Weighed>) -> Self {
        Weights(Metric::WEIGHTS.map(|metric| weights.get(metric).cloned()))
    }
}

/// Weights in one metric. Sums stop at the largest number there is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    /// Keys whose weight is known.
    pub known: u64,
    /// Keys whose weight is more than 0.
    pub positive: u64,
    /// Keys without a hash tag that are operated on; only `add_busy` counts them, once all is counted and merged.
    #[serde(skip)]
    pub untagged_busy: u64,
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
        self.0[metric.weight()?].as_ref()
    }
}

impl Weights {
    /// Adds keys with all operations on them, `total` of them. Of keys that are not among them only the number is known:
    /// their operations count as spread evenly.
    pub(crate) fn add_busy(&mut self, busy: &BusyKeys, total: u64) {
        let Some(place) = Metric::Ops.weight() else {
            return;
        };
        let weighed = self.0[place].get_or_insert_with(Weighed::default);
        let squares = |only_untagged: bool| {
            let counted = busy.keys.iter().filter(|key| !only_untagged || !key.tagged);
            counted.fold(0, |sum: u128, key| {
                sum.saturating_add(u128::from(key.ops) * u128::from(key.ops))
            })
        };
        let named: u64 = busy.keys.iter().map(|key| key.ops).sum();
        let others = (busy.distinct - busy.keys.len() as f64).max(0.0);
        let rest = total.saturating_sub(named) as f64;
        let rest_squares = if others > 0.0 {
            rest * rest / others
        } else {
            0.0
        } as u128;
        weighed.known += busy.distinct as u64;
        weighed.positive += busy.distinct as u64;
        let untagged = busy.keys.iter().filter(|key| !key.tagged).count() as f64;
        weighed.untagged_busy += (untagged + others) as u64;
        weighed.sum = weighed.sum.saturating_add(total.into());
        let add = |sum: &mut u128, more: u128| {
            *sum = sum.saturating_add(more.saturating_add(rest_squares))
        };
        add(&mut weighed.squares, squares(false));
        add(&mut weighed.untagged_squares, squares(true));
    }
}

/// Weights below this have sums of squares that a batch cannot fill 128 bits with.
const USUAL: u64 = 1 << 48;

impl Weighed {
    /// Takes in the weights of a batch; `tagged` says which keys have a tag.
    fn add(&mut self, weights: &[u64], tagged: impl Fn(usize) -> bool) {
        let is_known = |weight: u64| weight != MISSING;
        let largest = weights
            .iter()
            .filter(|weight| is_known(**weight))
            .fold(0, |largest: u64, weight| largest.max(*weight));
        let (mut sum, mut squares, mut untagged_squares) = (0u128, 0u128, 0u128);
        for (i, weight) in weights.iter().copied().enumerate() {
            let weight = if is_known(weight) { weight } else { 0 };
            let square = u128::from(weight) * u128::from(weight);
            let untagged = if tagged(i) { 0 } else { square };
            sum += u128::from(weight);
            if largest < USUAL {
                squares += square;
                untagged_squares += untagged;
            } else {
                squares = squares.saturating_add(square);
                untagged_squares = untagged_squares.saturating_add(untagged);
            }
        }
        self.known += weights
            .iter()
            .map(|weight| u64::from(is_known(*weight)))
            .sum::<u64>();
        self.positive += weights
            .iter()
            .map(|weight| u64::from(is_known(*weight) & (*weight > 0)))
            .sum::<u64>();
        self.sum += sum;
        self.squares = self.squares.saturating_add(squares);
        self.untagged_squares = self.untagged_squares.saturating_add(untagged_squares);
    }

    fn merge(&mut self, other: &Weighed) {
        self.known = self.known.saturating_add(other.known);
        self.positive = self.positive.saturating_add(other.positive);
        self.untagged_busy = self.untagged_busy.saturating_add(other.untagged_busy);
        self.sum = self.sum.saturating_add(other.sum);
        self.squares = self.squares.saturating_add(other.squares);
        self.untagged_squares = self.untagged_squares.saturating_add(other.untagged_squares);
    }
}

impl Tally for Weights {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let columns = keys.batch.values.weights.iter().zip(&mut self.0);
        for (place, (column, weighed)) in columns.enumerate() {
            // Where a column of sizes has none, that is to be said.
            let is_of_sizes = place == Metric::SIZE && !column.is_empty();
            if is_of_sizes || column.iter().any(|weight| *weight != MISSING) {
                weighed
                    .get_or_insert_default()
                    .add(column, |i| keys.is_tagged(i));
            }
        }
    }

    fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(&theirs);
            }
        }
    }
}
