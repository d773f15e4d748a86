//! How evenly a load is spread over slots or nodes, and how numbers are written to reports.

use serde::{Deserialize, Serialize};

/// Statistics of loads in one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Balance {
    /// The largest load.
    pub max: u64,
    /// The smallest load.
    pub min: u64,
    /// mu.
    pub mean: f64,
    /// max / mu: the capacity number for nodes.
    pub max_over_mean: Option<f64>,
    /// Standard deviation / mu.
    pub cv: Option<f64>,
    /// Gini coefficient, 0 (even) to 1 (Gini 1912).
    pub gini: Option<f64>,
    /// Half of the loads are at most this (nearest rank, exact).
    pub p50: u64,
    /// 90% of the loads are at most this.
    pub p90: u64,
    /// 99%.
    pub p99: u64,
    /// 99.9%.
    pub p999: u64,
    /// Loads of zero.
    pub empty: usize,
}

/// The sum of loads, which may exceed 64 bits.
pub fn sum(loads: &[u64]) -> u128 {
    loads.iter().map(|load| u128::from(*load)).sum()
}

/// A number as written to reports: nine significant digits, so that none ends in ...00000004.
pub fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.8e}").parse().unwrap_or(value)
}
