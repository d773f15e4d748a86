//! Frequencies of amounts such as key lengths or sizes in bytes: exact below a power of two, 4096 unless said otherwise,
//! and with as many significant bits above; count, sum and extremes are always exact.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::MISSING;
use slotscope_base::metric::{Metric, are_counts};
use slotscope_base::slot::SlotBatch;

use crate::tally::Tally;
use crate::tally::slots::add_all;

/// Three significant digits.
pub const FINE: u32 = 12;
/// Within 6%: 16 counters per doubling.
pub const COARSE: u32 = 5;

/// Frequencies of amounts, which are told apart by their first `BITS` bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "SerializedHistogram", try_from = "SerializedHistogram")]
pub struct Histogram<const BITS: u32 = FINE> {
    /// Grows on demand, by doublings.
    counts: Vec<u64>,
    /// The sums of the amounts of each counter, where `BITS` are few.
    sums: Vec<u64>,
    /// Number, sum and extremes of amounts that `counts` only approximates.
    large: Large,
}

/// The serialized form: the non-zero counters, by index.
#[derive(Serialize, Deserialize)]
struct SerializedHistogram {
    counts: Vec<(u64, u64)>,
    sums: Vec<u64>,
    large: Large,
}

impl<const BITS: u32> From<Histogram<BITS>> for SerializedHistogram {
    fn from(histogram: Histogram<BITS>) -> Self {
        let is_used = |place: usize| histogram.counts[place] > 0;
        let sums = (0..).zip(&histogram.sums);
        let sums = sums.filter(|(place, _)| is_used(*place));
        let sums = sums.map(|(_, sum)| *sum).collect();
        let places = (0u64..).zip(histogram.counts);
        SerializedHistogram {
            counts: places.filter(|(_, count)| *count > 0).collect(),
            sums,
            large: histogram.large,
        }
    }
}

impl<const BITS: u32> TryFrom<SerializedHistogram> for Histogram<BITS> {
    type Error = &'static str;

    fn try_from(listed: SerializedHistogram) -> Result<Self, &'static str> {
        let bad = "invalid counts of amounts";
        if !are_counts(listed.counts.iter().map(|(_, count)| count)) || listed.large.sum >> 120 != 0
        {
            return Err(bad);
        }
        let expected = if Self::HAS_SUMS {
            listed.counts.len()
        } else {
            0
        };
        if listed.sums.len() != expected {
            return Err(bad);
        }
        let mut sums = listed.sums.into_iter();
        let mut histogram = Histogram {
            large: listed.large,
            ..Histogram::default()
        };
        for (place, count) in listed.counts {
            if place > Self::place_of(u64::MAX) {
                return Err(bad);
            }
            *histogram.counter(place as usize) = count;
            let sum = sums.next();
            histogram
                .sums
                .get_mut(place as usize)
                .zip(sum)
                .into_iter()
                .for_each(|(place, sum)| *place = sum);
        }
        Ok(histogram)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Large {
    sum: u128,
    min: u64,
    max: u64,
}

impl<const BITS: u32> Default for Histogram<BITS> {
    fn default() -> Self {
        Histogram {
            counts: vec![0; Self::EXACT as usize],
            sums: vec![
                0;
                if Self::HAS_SUMS {
                    Self::EXACT as usize
                } else {
                    0
                }
            ],
            large: Large {
                sum: 0,
                min: u64::MAX,
                max: 0,
            },
        }
    }
}

impl<const BITS: u32> Histogram<BITS> {
    /// Each amount below this has its own counter.
    const EXACT: u64 = 1 << BITS;
    /// Counters per doubling above.
    const STEPS: u64 = Self::EXACT / 2;
    /// Whether a counter has the mean of its amounts: the first of them is far off.
    const HAS_SUMS: bool = BITS <= COARSE;

    /// Adds all of `amounts`.
    #[inline]
    pub fn add(&mut self, amounts: impl Iterator<Item = u64>) {
        for amount in amounts {
            if amount < Self::EXACT {
                self.counts[amount as usize] += 1;
            } else {
                self.add_large(amount);
            }
        }
    }

    /// Merges the counts of another histogram.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        add_all(&mut self.counts, &other.counts);
        if self.sums.len() < other.sums.len() {
            self.sums.resize(other.sums.len(), 0);
        }
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.saturating_add(*other);
        }
        self.large.sum = self.large.sum.saturating_add(other.large.sum);
        self.large.min = self.large.min.min(other.large.min);
        self.large.max = self.large.max.max(other.large.max);
    }

    /// Every amount that occurs, ascending, with its frequency.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let positive = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        positive.map(|(place, count)| (Self::amount_at(place as u64), *count))
    }

    /// The mean amount of every counter, ascending, with its frequency.
    pub fn means(&self) -> impl Iterator<Item = (f64, u64)> {
        self.pairs().map(|(amount, count)| {
            let place = Self::place_of(amount);
            let sum = self
                .sums
                .get(place as usize)
                .filter(|_| amount >= Self::EXACT);
            // A hostile file may have any sum: keep the mean within the counter.
            let last = Self::amount_at(place + 1) as f64;
            let mean = sum.map_or(amount as f64, |sum| *sum as f64 / count as f64);
            (mean.clamp(amount as f64, last.max(amount as f64)), count)
        })
    }

    /// The number of amounts.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Sum of all amounts.
    pub fn sum(&self) -> u128 {
        let exact = self.pairs().take_while(|(amount, _)| *amount < Self::EXACT);
        exact
            .map(|(amount, count)| u128::from(amount) * u128::from(count))
            .sum::<u128>()
            + self.large.sum
    }

    /// The smallest; 0 if empty.
    pub fn min(&self) -> u64 {
        self.pairs().next().map_or(0, |(amount, _)| {
            if amount < Self::EXACT {
                amount
            } else {
                self.large.min
            }
        })
    }

    /// The largest; 0 if empty.
    pub fn max(&self) -> u64 {
        self.pairs()
            .next_back()
            .map_or(0, |(amount, _)| amount.max(self.large.max))
    }

    fn add_large(&mut self, amount: u64) {
        let place = Self::place_of(amount) as usize;
        *self.counter(place) += 1;
        if let Some(sum) = self.sums.get_mut(place) {
            *sum = sum.saturating_add(amount);
        }
        self.large.sum += u128::from(amount);
        self.large.min = self.large.min.min(amount);
        self.large.max = self.large.max.max(amount);
    }

    fn counter(&mut self, place: usize) -> &mut u64 {
        if place >= self.counts.len() {
            // Grow by whole doublings, so that the content does not depend on the order.
            let len = (place + 1).next_multiple_of(Self::STEPS as usize);
            self.counts.resize(len, 0);
            self.sums.resize(if Self::HAS_SUMS { len } else { 0 }, 0);
        }
        &mut self.counts[place]
    }

    /// The counter of an amount; large ones are indexed by their leading bits.
    fn place_of(amount: u64) -> u64 {
        match u64::BITS - amount.leading_zeros() {
            bits if bits <= BITS => amount,
            bits => {
                let dropped = bits - BITS;
                u64::from(dropped) * Self::STEPS + (amount >> dropped)
            }
        }
    }

    /// The smallest amount of a counter.
    fn amount_at(place: u64) -> u64 {
        match place / Self::STEPS {
            0 | 1 => place,
            octave => (place - (octave - 1) * Self::STEPS) << (octave - 1),
        }
    }
}

/// Lengths of keys in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths(pub Histogram);

impl Tally for Lengths {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let keys = keys.batch.keys;
        self.0.add(
            keys.start
                .iter()
                .zip(&keys.end)
                .map(|(start, end)| u64::from(end - start)),
        );
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(&other.0);
    }
}

/// Sizes of keys in bytes, if the input has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sizes(pub Histogram);

impl Tally for Sizes {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let sizes = keys.batch.values.column(Metric::Bytes).unwrap_or_default();
        self.0
            .add(sizes.iter().copied().filter(|size| *size != MISSING));
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(&other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_are_exact_and_large_ones_to_three_digits() {
        let mut amounts = Histogram::<FINE>::default();
        amounts.add([0, 34, 34, 4095, 4096, 5001, 1_000_001, u64::MAX - 1].into_iter());
        let pairs: Vec<_> = amounts.pairs().collect();
        assert_eq!(pairs[..4], [(0, 1), (34, 2), (4095, 1), (4096, 1)]);
        for ((found, _), truth) in pairs[4..]
            .iter()
            .zip([5001.0, 1_000_001.0, u64::MAX as f64])
        {
            assert!((*found as f64 / truth - 1.0).abs() < 0.0005, "{found}");
        }
        assert_eq!(
            (amounts.count(), amounts.max(), amounts.min()),
            (8, u64::MAX - 1, 0)
        );
        assert_eq!(
            amounts.sum(),
            34 + 34 + 4095 + 4096 + 5001 + 1_000_001 + u128::from(u64::MAX - 1)
        );
    }

    #[test]
    fn every_counter_starts_where_the_one_before_ends() {
        fn check<const BITS: u32>() {
            let mut amount = 0u64;
            for place in 0..20 * Histogram::<BITS>::STEPS {
                assert_eq!(Histogram::<BITS>::place_of(amount), place);
                assert_eq!(Histogram::<BITS>::amount_at(place), amount);
                let next = Histogram::<BITS>::amount_at(place + 1);
                assert_eq!(Histogram::<BITS>::place_of(next - 1), place);
                amount = next;
            }
        }
        check::<FINE>();
        check::<COARSE>();
    }

    #[test]
    fn a_coarse_counter_has_the_mean_of_its_amounts() {
        let mut amounts = Histogram::<COARSE>::default();
        amounts.add([7, 1001, 1003, 900_000_001].into_iter());
        let mut other = Histogram::default();
        other.add([7, 1020].into_iter());
        amounts.merge(&other);
        let truth = [(7.0, 2), (1008.0, 3), (900_000_001.0, 1)];
        assert_eq!(amounts.means().collect::<Vec<_>>(), truth);
        let text = serde_json::to_string(&amounts).unwrap();
        let read: Histogram<COARSE> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, amounts);
        let without = text.replace("3024", "99999999999");
        let read: Histogram<COARSE> = serde_json::from_str(&without).unwrap();
        assert_eq!(read.means().nth(1), Some((1024.0, 3)), "{without}");
        let short = text.replace("\"sums\":[0,", "\"sums\":[");
        assert!(serde_json::from_str::<Histogram<COARSE>>(&short).is_err());
    }

    #[test]
    fn the_order_does_not_show() {
        let of = |amounts: &[u64]| {
            let mut counted = Histogram::<FINE>::default();
            counted.add(amounts.iter().copied());
            counted
        };
        let mut forward = of(&[3, 1 << 40]);
        forward.merge(&of(&[70_000]));
        let mut backward = of(&[70_000]);
        backward.merge(&of(&[1 << 40, 3]));
        assert_eq!(forward, backward);
    }
}
