//! The measures of load: keys, and the weights found in the input. All code loops over the rows of `METRICS`: a new
//! metric is a variant and a row here, and a format that carries it.

#[doc(hidden)]
pub mod extreme;
mod per_metric;
#[cfg(feature = "schemas")]
mod schema;

use std::ops::{AddAssign, Index, IndexMut};

use serde::{Deserialize, Serialize};

pub use crate::metric::per_metric::{Errors, PerMetric, PerWeight};

/// A measure of load. All of them add up: the load of a slot is the sum of the loads of its keys. An LFU counter or an
/// idle time does not add up, so it is not a metric of load; the accesses that a counter stands for do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Metric {
    /// The number of keys.
    #[default]
    Keys,
    /// Their sizes in bytes.
    Bytes,
    /// Operations on them, as they were counted.
    Ops,
    /// Accesses to them a minute, as LFU counters estimate them; never mixed with operations.
    Accesses,
    /// CPU time in microseconds, as CLUSTER SLOT-STATS counts it by slot.
    Cpu,
}

/// The properties of a metric.
struct MetricRow {
    metric: Metric,
    name: &'static str,
    /// Its display name, also used as column title.
    title: &'static str,
    head: &'static str,
    error: &'static str,
    unit: &'static str,
    units: &'static str,
    is_size: bool,
    of_a_key: &'static str,
    columns: &'static [&'static str],
}

/// The metrics in report order.
const METRICS: &[MetricRow] = &[
    MetricRow {
        metric: Metric::Keys,
        name: "keys",
        title: "keys",
        head: "keys",
        error: "keys_error",
        unit: "key",
        units: "keys",
        is_size: false,
        of_a_key: "name",
        columns: &[],
    },
    MetricRow {
        metric: Metric::Bytes,
        name: "bytes",
        title: "bytes",
        head: "bytes",
        error: "bytes_error",
        unit: "byte",
        units: "bytes",
        is_size: true,
        of_a_key: "size",
        columns: &[
            "memory",
            "size_in_bytes",
            "bytes",
            "used_memory",
            "memory_usage",
            "size",
        ],
    },
    MetricRow {
        metric: Metric::Ops,
        name: "ops",
        title: "ops",
        head: "ops",
        error: "ops_error",
        unit: "operation",
        units: "operations",
        is_size: false,
        of_a_key: "number of operations",
        columns: &["ops", "hits", "qps", "requests", "count"],
    },
    MetricRow {
        metric: Metric::Accesses,
        name: "accesses",
        title: "estimated accesses",
        head: "≈ accesses/min",
        error: "accesses_error",
        unit: "estimated access a minute",
        units: "estimated accesses a minute",
        is_size: false,
        of_a_key: "LFU counter",
        // Derived from another column.
        columns: &[],
    },
    // Last, because columns of files keep their order.
    MetricRow {
        metric: Metric::Cpu,
        name: "cpu",
        title: "CPU time",
        head: "CPU time",
        error: "cpu_error",
        unit: "microsecond of CPU time",
        units: "microseconds of CPU time",
        is_size: false,
        of_a_key: "CPU time",
        // Servers count it per slot, never per key.
        columns: &[],
    },
];

/// The names of the metrics, or of their error fields.
const fn names(errors: bool) -> [&'static str; METRIC_COUNT] {
    let mut names = [""; METRIC_COUNT];
    let mut place = 0;
    while place < METRIC_COUNT {
        let row = &METRICS[place];
        names[place] = if errors { row.error } else { row.name };
        place += 1;
    }
    names
}

const METRIC_COUNT: usize = METRICS.len();

/// The number of metrics an input may lack: all but keys.
pub const WEIGHTS: usize = METRIC_COUNT - 1;

impl Metric {
    /// All metrics in report order.
    pub const ALL: [Metric; METRIC_COUNT] = {
        let mut metrics = [Metric::Keys; METRIC_COUNT];
        let mut place = 0;
        while place < METRIC_COUNT {
            metrics[place] = METRICS[place].metric;
            place += 1;
        }
        metrics
    };

    /// The metrics an input may lack.
    pub const WEIGHTS: [Metric; WEIGHTS] = {
        let mut weights = [Metric::Keys; WEIGHTS];
        let mut place = 0;
        while place < WEIGHTS {
            weights[place] = METRICS[place + 1].metric;
            place += 1;
        }
        weights
    };

    /// The index of `Metric::Bytes` among the weights.
    pub const SIZE: usize = Metric::Bytes as usize - 1;

    /// The index of `Metric::Ops` among the weights.
    pub const OPS: usize = Metric::Ops as usize - 1;

    /// The index of `Metric::Accesses` among the weights.
    pub(crate) const USE: usize = Metric::Accesses as usize - 1;

    /// The place of `Metric::Cpu` among the weights.
    pub const CPU: usize = Metric::Cpu as usize - 1;

    fn row(self) -> &'static MetricRow {
        &METRICS[self as usize]
    }

    /// Its name in flags, report.json, columns and headings.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Its column title.
    pub fn head(self) -> &'static str {
        self.row().head
    }

    /// Whether it measures the use of keys rather than their size: a node can be hot by it, not full.
    pub fn is_of_use(self) -> bool {
        matches!(self, Metric::Ops | Metric::Accesses | Metric::Cpu)
    }

    /// Whether tables and files show it only if the input has it.
    pub fn is_rare(self) -> bool {
        matches!(self, Metric::Accesses | Metric::Cpu)
    }

    /// Whether it is a time in microseconds, shown with units such as ms.
    pub fn is_time(self) -> bool {
        self == Metric::Cpu
    }

    /// Whether amounts are shown with a unit of their own.
    pub fn has_unit(self) -> bool {
        self.is_size() || self.is_time()
    }

    /// The singular of its unit.
    pub fn unit(self) -> &'static str {
        self.row().unit
    }

    /// The plural of its unit.
    pub fn units(self) -> &'static str {
        self.row().units
    }

    /// Whether it is a size in bytes, read and shown with units such as KiB.
    pub fn is_size(self) -> bool {
        self.row().is_size
    }

    /// Its name as an attribute of a key: `size`.
    pub fn of_a_key(self) -> &'static str {
        self.row().of_a_key
    }

    /// Its column names in inputs, preferred one first.
    pub fn columns(self) -> &'static [&'static str] {
        self.row().columns
    }

    /// Its index among the weights; `None` for keys.
    pub fn weight(self) -> Option<usize> {
        (self as usize).checked_sub(1)
    }
}

/// A load in every metric; 0 if the input lacks it. Sums saturate at 2^64 - 1, in any order of addition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "PerMetric<u64>", try_from = "PerMetric<u64>")]
pub struct Load([u64; METRIC_COUNT]);

/// Above the number of keys of any input; sums of a few of these fit into 64 bits.
pub const MOST_KEYS: u64 = 1 << 48;

/// Whether these may be key counts of one input, by their total.
#[doc(hidden)]
pub fn are_counts<'c>(counts: impl IntoIterator<Item = &'c u64>) -> bool {
    let add = |sum: u64, count: &u64| sum.checked_add(*count).filter(|sum| *sum <= MOST_KEYS);
    counts.into_iter().try_fold(0, add).is_some()
}

/// Absent metrics are not written, so that metrics can be added.
impl From<Load> for PerMetric<u64> {
    fn from(load: Load) -> Self {
        let weights = PerWeight::from_fn(|metric| Some(load[metric]).filter(|load| *load > 0));
        PerMetric {
            keys: load[Metric::Keys],
            weights,
        }
    }
}

impl TryFrom<PerMetric<u64>> for Load {
    type Error = &'static str;

    fn try_from(loads: PerMetric<u64>) -> std::result::Result<Self, &'static str> {
        match loads.keys {
            ..=MOST_KEYS => Ok(Load::from_fn(|metric| {
                loads.get(metric).copied().unwrap_or_default()
            })),
            _ => Err("more keys than any input has"),
        }
    }
}

impl Load {
    /// One key of unknown weight.
    pub const KEY: Load = {
        let mut load = Load([0; METRIC_COUNT]);
        load.0[0] = 1;
        load
    };

    /// A load of this many keys, bytes and operations.
    pub const fn new(keys: u64, bytes: u64, ops: u64) -> Self {
        let mut load = Load([0; METRIC_COUNT]);
        (load.0[0], load.0[1], load.0[2]) = (keys, bytes, ops);
        load
    }

    /// The load given by `value` for each metric.
    pub fn from_fn(value: impl Fn(Metric) -> u64) -> Self {
        Load(Metric::ALL.map(value))
    }

    /// The element-wise maximum.
    pub fn max(self, other: Load) -> Load {
        Load::from_fn(|metric| self[metric].max(other[metric]))
    }

    /// The element-wise minimum.
    pub fn min(self, other: Load) -> Load {
        Load::from_fn(|metric| self[metric].min(other[metric]))
    }

    /// The excess over `other` in each metric, at least 0.
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

impl Load {
    /// This amount of one metric.
    pub fn of(metric: Metric, amount: u64) -> Self {
        let mut load = Load::default();
        load[metric] = amount;
        load
    }

    /// The amounts in a row of some columns.
    #[inline]
    #[doc(hidden)]
    pub fn of_row(columns: &[(Metric, &[u64])], row: usize) -> Self {
        let mut load = Load::default();
        for (metric, amounts) in columns {
            load[*metric] = amounts[row];
        }
        load
    }
}

impl AddAssign for Load {
    #[inline]
    fn add_assign(&mut self, other: Load) {
        self.0
            .iter_mut()
            .zip(other.0)
            .for_each(|(mine, theirs)| *mine = mine.saturating_add(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stop_at_the_largest_number_in_any_order() {
        let loads = [
            Load::new(1, u64::MAX - 5, 0),
            Load::new(1, 3, 1),
            Load::new(1, 9, u64::MAX),
        ];
        let sum = |order: [usize; 3]| {
            let mut sum = Load::default();
            order.iter().for_each(|i| sum += loads[*i]);
            sum
        };
        assert_eq!(sum([0, 1, 2]), sum([2, 1, 0]));
        assert_eq!(sum([1, 0, 2]), Load::new(3, u64::MAX, u64::MAX));
    }
}
