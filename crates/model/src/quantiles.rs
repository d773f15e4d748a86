//! Quantiles of key lengths, key sizes and tag sizes.

use serde::{Deserialize, Serialize};

/// Count and extremes are exact, quantiles to three significant digits and never above the maximum.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// The smallest, 0 without values.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// Their mean.
    pub mean: f64,
    /// Half of the values are at most this.
    pub p50: u64,
    /// 90% of the values.
    pub p90: u64,
    /// 99%.
    pub p99: u64,
    /// 99.9%.
    pub p999: u64,
    /// How many values there are of each size, ascending; for charts.
    #[serde(skip)]
    pub counts: Vec<(u64, u64)>,
}

/// How many keys a hash tag has. Where there are too many tags to count each, the count is that of `tags.distinct`, maximum
/// and mean are those of all tags, and the quantiles are those of a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TagSizes {
    /// The quantiles of the sampled tags, for all tags.
    #[serde(flatten)]
    pub keys: Quantiles,
    /// How many tags were drawn where there are too many to count each; `None` where all are counted.
    pub sampled: Option<u64>,
}
