//! Quantiles of values that repeat, such as key lengths: an HDR histogram filled from (value, count) pairs.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::balance::tidy;
use crate::tally::lengths::Lengths;

/// Significant digits of a quantile.
const DIGITS: u8 = 3;

/// Count and extremes are exact, quantiles to three significant digits and never above the maximum.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// 90 % of the values.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// How many values there are of each size, ascending; for charts.
    #[serde(skip)]
    pub counts: Vec<(u64, u64)>,
}

impl Quantiles {
    /// The quantiles of key lengths in bytes.
    pub fn of(lengths: &Lengths) -> Self {
        let Ok(mut histogram) = Histogram::<u64>::new(DIGITS) else { return Quantiles::default() };
        histogram.auto(true);
        for (value, count) in lengths.pairs() {
            histogram.saturating_record_n(value, count);
        }
        let count = lengths.count();
        let quantile = |p: f64| histogram.value_at_quantile(p).min(lengths.max);
        Quantiles {
            count,
            min: lengths.min().unwrap_or(0),
            max: lengths.max,
            mean: if count == 0 { 0.0 } else { tidy(lengths.sum as f64 / count as f64) },
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p999: quantile(0.999),
            counts: lengths.pairs().collect(),
        }
    }
}
