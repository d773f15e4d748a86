//! A value for each metric in the input; in JSON an object keyed by metric name.

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::metric::{METRIC_COUNT, Metric, WEIGHTS, names};

/// A value for each metric in the input; in JSON an object keyed by metric name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerMetric<T> {
    /// For keys.
    pub keys: T,
    /// For all other metrics.
    pub weights: PerWeight<T>,
}

/// A value for each metric that the input carries, except for keys: in JSON an object with their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerWeight<T>(#[doc(hidden)] pub [Option<T>; WEIGHTS]);

/// An error for each metric; in JSON the names end in `_error`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Errors(pub PerMetric<u64>);

impl<T> PerWeight<T> {
    /// No values.
    pub(crate) const NONE: PerWeight<T> = PerWeight([const { None }; WEIGHTS]);

    /// The result of `value` for each weight.
    pub fn from_fn(value: impl Fn(Metric) -> Option<T>) -> Self {
        PerWeight(Metric::WEIGHTS.map(value))
    }

    /// The value for `metric`.
    pub fn get(&self, metric: Metric) -> Option<&T> {
        self.0[metric.weight()?].as_ref()
    }

    /// Those of `totals` in metrics with a value here, and that of keys.
    #[doc(hidden)]
    pub fn of_known<U: Copy>(&self, totals: &PerMetric<U>) -> PerMetric<U> {
        let known = |metric| self.get(metric).and_then(|_| totals.get(metric).copied());
        PerMetric {
            keys: totals.keys,
            weights: PerWeight::from_fn(known),
        }
    }

    /// The metrics with a value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Metric, &T)> {
        let pairs = Metric::WEIGHTS.into_iter().zip(&self.0);
        pairs.filter_map(|(metric, value)| Some((metric, value.as_ref()?)))
    }
}

impl<T> PerMetric<T> {
    /// A value for keys only.
    pub const fn of_keys(keys: T) -> Self {
        PerMetric {
            keys,
            weights: PerWeight::NONE,
        }
    }

    /// Adds a value for one more metric.
    pub fn with(mut self, metric: Metric, value: T) -> Self {
        match metric.weight() {
            Some(weight) => self.weights.0[weight] = Some(value),
            None => self.keys = value,
        }
        self
    }

    /// The value for `metric`.
    pub fn get(&self, metric: Metric) -> Option<&T> {
        match metric.weight() {
            Some(weight) => self.weights.0[weight].as_ref(),
            None => Some(&self.keys),
        }
    }

    /// The value for `metric`, mutable.
    pub fn get_mut(&mut self, metric: Metric) -> Option<&mut T> {
        match metric.weight() {
            Some(weight) => self.weights.0[weight].as_mut(),
            None => Some(&mut self.keys),
        }
    }

    /// The value for bytes.
    pub fn bytes(&self) -> Option<&T> {
        self.get(Metric::Bytes)
    }

    /// The value for `metric`, required by `flag`.
    ///
    /// # Errors
    /// The input lacks the metric.
    pub fn required(&self, metric: Metric, flag: &str) -> Result<&T> {
        self.get(metric).ok_or_else(|| {
            let carried: Vec<&str> = self.iter().map(|(metric, _)| metric.name()).collect();
            let (name, carried) = (metric.name(), carried.join(", "));
            Error::bad(
                flag,
                format!("the input has no {name} of its keys; it has: {carried}"),
            )
        })
    }

    /// The value for `metric`, created if missing.
    #[inline]
    pub fn get_or_insert_with(&mut self, metric: Metric, make: impl FnOnce() -> T) -> &mut T {
        match metric.weight() {
            Some(weight) => self.weights.0[weight].get_or_insert_with(make),
            None => &mut self.keys,
        }
    }

    /// The metrics with a value.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, &T)> {
        Metric::ALL
            .into_iter()
            .filter_map(|metric| Some((metric, self.get(metric)?)))
    }

    /// Maps the value of each metric.
    pub fn map<U>(&self, make: impl Fn(Metric, &T) -> U) -> PerMetric<U> {
        PerMetric {
            keys: make(Metric::Keys, &self.keys),
            weights: PerWeight::from_fn(|metric| Some(make(metric, self.get(metric)?))),
        }
    }

    /// Maps values, dropping metrics for which `make` returns nothing; `None` if it does so for keys.
    pub fn filter_map<U>(&self, make: impl Fn(&T) -> Option<U>) -> Option<PerMetric<U>> {
        Some(PerMetric {
            keys: make(&self.keys)?,
            weights: PerWeight::from_fn(|metric| make(self.get(metric)?)),
        })
    }

    /// Merges another one, metric by metric.
    #[doc(hidden)]
    pub fn merge(&mut self, other: Self, combine: impl Fn(&mut T, T)) {
        combine(&mut self.keys, other.keys);
        for (mine, theirs) in self.weights.0.iter_mut().zip(other.weights.0) {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => combine(mine, theirs),
                (None, Some(theirs)) => *mine = Some(theirs),
                (_, None) => {}
            }
        }
    }
}

/// The names of the metrics, and those of their errors.
pub(super) const NAMES: [&str; METRIC_COUNT] = names(false);
pub(super) const ERROR_NAMES: [&str; METRIC_COUNT] = names(true);

impl<T: Serialize> Serialize for PerMetric<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(metric, value)| (metric.name(), value)))
    }
}

impl<T: Serialize> Serialize for PerWeight<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(metric, value)| (metric.name(), value)))
    }
}

impl Serialize for Errors {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let name = |metric: Metric| ERROR_NAMES[metric as usize];
        serializer.collect_map(self.0.iter().map(|(metric, error)| (name(metric), error)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerMetric<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let [keys, weights @ ..] = ByName::read(deserializer, &NAMES)?;
        let keys = keys.ok_or_else(|| D::Error::missing_field("keys"))?;
        Ok(PerMetric {
            keys,
            weights: PerWeight(weights),
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerWeight<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let [_, weights @ ..] = ByName::read(deserializer, &NAMES)?;
        Ok(PerWeight(weights))
    }
}

impl<'de> Deserialize<'de> for Errors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let [keys, weights @ ..] = ByName::read(deserializer, &ERROR_NAMES)?;
        Ok(Errors(PerMetric {
            keys: keys.unwrap_or(0),
            weights: PerWeight(weights),
        }))
    }
}

/// Reads the members of an object named after metrics; others are ignored.
struct ByName<T>(
    &'static [&'static str; METRIC_COUNT],
    std::marker::PhantomData<T>,
);

impl<'de, T: Deserialize<'de>> ByName<T> {
    fn read<D: Deserializer<'de>>(
        deserializer: D,
        names: &'static [&'static str; METRIC_COUNT],
    ) -> std::result::Result<[Option<T>; METRIC_COUNT], D::Error> {
        deserializer.deserialize_struct("PerMetric", names, ByName(names, std::marker::PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
    type Value = [Option<T>; METRIC_COUNT];

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an object with {}", self.0.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut members: A,
    ) -> std::result::Result<Self::Value, A::Error> {
        let mut values = [const { None }; METRIC_COUNT];
        while let Some(name) = members.next_key::<String>()? {
            match self.0.iter().position(|known| *known == name) {
                Some(place) => values[place] = members.next_value()?,
                None => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_one_of_two_carries_is_kept() {
        let mut sum = PerMetric::of_keys(1).with(Metric::Ops, 7);
        sum.merge(
            PerMetric::of_keys(2).with(Metric::Bytes, 5),
            |mine, theirs| *mine += theirs,
        );
        assert_eq!(
            sum,
            PerMetric::of_keys(3)
                .with(Metric::Bytes, 5)
                .with(Metric::Ops, 7)
        );
    }
}
