//! The weights of keys in each metric of the input: the number of keys with one, and sums of squares, from which the
//! number of independent units is estimated. Sums by slot are in `slots`.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::metric::{Metric, PerWeight};
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::operations::BusyKeys;
use crate::tally::sketch::histogram::{COARSE, Histogram};

/// The weights of keys; absent in metrics missing from the input.
pub type Weights = PerWeight<Weighed>;

/// Weights in one metric. Sums saturate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Weighed {
    /// Keys of known weight.
    pub known: u64,
    /// Keys with a weight above 0.
    pub positive: u64,
    /// Untagged keys with operations; only set by `add_busy`, once everything is counted and merged.
    #[serde(skip)]
    pub untagged_busy: u64,
    /// The sum of all weights.
    pub sum: u128,
    /// The sum of the squares of keys without a hash tag.
    pub untagged_squares: u128,
    /// Those of keys without a hash tag, without zeros.
    pub untagged: Histogram<COARSE>,
}

/// Adds keys with all operations on them, or all CPU time of these, `total` of it. Of keys that are not among them only the
/// number is known: theirs counts as spread evenly.
pub(crate) fn add_busy(weights: &mut Weights, busy: &BusyKeys, metric: Metric, total: u64) {
    let Some(place) = metric.weight() else {
        return;
    };
    let weighed = weights.0[place].get_or_insert_with(Weighed::default);
    let named: u64 = busy.keys.iter().map(|key| key.weight(metric)).sum();
    let others = (busy.distinct - busy.keys.len() as f64).max(0.0);
    let rest = total.saturating_sub(named) as f64;
    let rest_squares = if others > 0.0 {
        rest * rest / others
    } else {
        0.0
    } as u128;
    weighed.known = weighed.known.saturating_add(busy.distinct as u64);
    weighed.positive += busy.distinct as u64;
    let untagged = busy.keys.iter().filter(|key| !key.tagged);
    weighed.untagged_busy += (untagged.clone().count() as f64 + others) as u64;
    let loads = untagged.map(|key| key.weight(metric));
    weighed.untagged.add(loads.clone().filter(|load| *load > 0));
    weighed.sum = weighed.sum.saturating_add(total.into());
    let squares = loads.map(|load| u128::from(load) * u128::from(load));
    weighed.untagged_squares = squares
        .chain([rest_squares])
        .fold(weighed.untagged_squares, u128::saturating_add);
}

/// A batch of weights below this cannot overflow a 128-bit sum of squares.
const USUAL: u64 = 1 << 48;

impl Weighed {
    /// Adds the weights of a batch; `tagged` tells which keys have a tag.
    fn add(&mut self, weights: &[u64], tagged: impl Fn(usize) -> bool) {
        let is_known = |weight: u64| weight != MISSING;
        let largest = weights
            .iter()
            .filter(|weight| is_known(**weight))
            .fold(0, |largest: u64, weight| largest.max(*weight));
        let (mut sum, mut untagged_squares) = (0u128, 0u128);
        for (i, weight) in weights.iter().copied().enumerate() {
            let weight = if is_known(weight) { weight } else { 0 };
            let untagged = if tagged(i) { 0 } else { u128::from(weight) };
            let untagged = untagged * untagged;
            sum += u128::from(weight);
            if largest < USUAL {
                untagged_squares += untagged;
            } else {
                untagged_squares = untagged_squares.saturating_add(untagged);
            }
        }
        let untagged = weights.iter().enumerate();
        let untagged = untagged.filter(|(i, weight)| is_known(**weight) && !tagged(*i));
        let positive = untagged.map(|(_, weight)| *weight);
        self.untagged.add(positive.filter(|weight| *weight > 0));
        self.known += weights
            .iter()
            .map(|weight| u64::from(is_known(*weight)))
            .sum::<u64>();
        self.positive += weights
            .iter()
            .map(|weight| u64::from(is_known(*weight) & (*weight > 0)))
            .sum::<u64>();
        self.sum += sum;
        self.untagged_squares = self.untagged_squares.saturating_add(untagged_squares);
    }

    fn merge(&mut self, other: &Weighed) {
        self.known = self.known.saturating_add(other.known);
        self.positive = self.positive.saturating_add(other.positive);
        self.untagged_busy = self.untagged_busy.saturating_add(other.untagged_busy);
        self.sum = self.sum.saturating_add(other.sum);
        self.untagged_squares = self.untagged_squares.saturating_add(other.untagged_squares);
        self.untagged.merge(&other.untagged);
    }
}

impl Tally for Weights {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let columns = keys.batch.values.weights.iter().zip(&mut self.0);
        for (place, (column, weighed)) in columns.enumerate() {
            // A column of sizes without any size must still be reported.
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
