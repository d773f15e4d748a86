//! What load is measured in: keys always, bytes and operations where the input tells them.

use std::ops::{AddAssign, Index, IndexMut};

use serde::{Deserialize, Serialize};

/// A measure of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The number of keys.
    Keys,
    /// Their sizes in bytes.
    Bytes,
    /// Operations on them.
    Ops,
}

impl Metric {
    /// All of them, in the order in which reports name them.
    pub const ALL: [Metric; 3] = [Metric::Keys, Metric::Bytes, Metric::Ops];

    /// Those that an input may lack.
    pub const WEIGHTS: [Metric; 2] = [Metric::Bytes, Metric::Ops];

    /// Its name, which is also that of its unit.
    pub fn name(self) -> &'static str {
        ["keys", "bytes", "ops"][self as usize]
    }
}

/// A load in every metric; 0 where the input does not tell it. Sums stop at the largest number there is, whatever
/// order they are made in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Load([u64; 3]);

impl Load {
    /// One key of unknown weight.
    pub const KEY: Load = Load([1, 0, 0]);

    /// A load of so many keys, bytes and operations.
    pub const fn new(keys: u64, bytes: u64, ops: u64) -> Self {
        Load([keys, bytes, ops])
    }

    /// The load that `of` gives for each metric.
    pub fn from_fn(of: impl Fn(Metric) -> u64) -> Self {
        Load(Metric::ALL.map(of))
    }

    /// The larger of both in each metric.
    pub fn max(self, other: Load) -> Load {
        Load::from_fn(|metric| self[metric].max(other[metric]))
    }

    /// The smaller of both in each metric.
    pub fn min(self, other: Load) -> Load {
        Load::from_fn(|metric| self[metric].min(other[metric]))
    }

    /// What this has over `other` in each metric, 0 where it has less.
    pub fn over(self, other: Load) -> Load {
        Load::from_fn(|metric| self[metric].saturating_sub(other[metric]))
    }
}

impl Index<Metric> for Load {
    type Output = u64;

    #[inline]
    fn index(&self, metric: Metric) -> &u64 {
        &self.0[metric as usize]
    }
}

impl IndexMut<Metric> for Load {
    #[inline]
    fn index_mut(&mut self, metric: Metric) -> &mut u64 {
        &mut self.0[metric as usize]
    }
}

impl AddAssign for Load {
    #[inline]
    fn add_assign(&mut self, other: Load) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
    }
}

/// Something for each metric that the input carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PerMetric<T> {
    /// For keys.
    pub keys: T,
    /// For bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<T>,
    /// For operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<T>,
}

impl<T> PerMetric<T> {
    /// For keys alone.
    pub const fn of_keys(keys: T) -> Self {
        PerMetric { keys, bytes: None, ops: None }
    }

    /// What there is for `metric`.
    pub fn get(&self, metric: Metric) -> Option<&T> {
        match metric {
            Metric::Keys => Some(&self.keys),
            Metric::Bytes => self.bytes.as_ref(),
            Metric::Ops => self.ops.as_ref(),
        }
    }

    /// What there is for `metric`, made where there is nothing yet.
    #[inline]
    pub fn get_or_insert_with(&mut self, metric: Metric, make: impl FnOnce() -> T) -> &mut T {
        match metric {
            Metric::Keys => &mut self.keys,
            Metric::Bytes => self.bytes.get_or_insert_with(make),
            Metric::Ops => self.ops.get_or_insert_with(make),
        }
    }

    /// The metrics that there is something for, and what.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, &T)> {
        Metric::ALL.into_iter().filter_map(|metric| Some((metric, self.get(metric)?)))
    }

    /// Another thing for each of the same metrics.
    pub fn map<U>(&self, make: impl Fn(Metric, &T) -> U) -> PerMetric<U> {
        PerMetric {
            keys: make(Metric::Keys, &self.keys),
            bytes: self.bytes.as_ref().map(|there| make(Metric::Bytes, there)),
            ops: self.ops.as_ref().map(|there| make(Metric::Ops, there)),
        }
    }

    /// Takes in another, one metric at a time.
    pub fn merge(&mut self, other: Self, both: impl Fn(&mut T, T)) {
        both(&mut self.keys, other.keys);
        for (mine, theirs) in [(&mut self.bytes, other.bytes), (&mut self.ops, other.ops)] {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => both(mine, theirs),
                (None, Some(theirs)) => *mine = Some(theirs),
                (_, None) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_number_in_any_order() {
        let loads = [Load::new(1, u64::MAX - 5, 0), Load::new(1, 3, 1), Load::new(1, 9, u64::MAX)];
        let sum = |order: [usize; 3]| {
            let mut sum = Load::default();
            order.iter().for_each(|i| sum += loads[*i]);
            sum
        };
        assert_eq!(sum([0, 1, 2]), sum([2, 1, 0]));
        assert_eq!(sum([1, 0, 2]), Load::new(3, u64::MAX, u64::MAX));
    }

    #[test]
    fn what_only_one_of_two_carries_is_kept() {
        let mut sum = PerMetric { keys: 1, bytes: None, ops: Some(7) };
        sum.merge(PerMetric { keys: 2, bytes: Some(5), ops: None }, |mine, theirs| *mine += theirs);
        assert_eq!(sum, PerMetric { keys: 3, bytes: Some(5), ops: Some(7) });
    }
}
