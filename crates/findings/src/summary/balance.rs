//! How evenly a load is spread over slots or nodes: statistics only.
//!
//! L are the loads, n their number, W their sum, mu = W / n. Every ratio is absent if W = 0; nothing is ever NaN.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::metric::Metric;

use crate::summary::model::gini;

/// Statistics of loads in one metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// W^2 / (n * sum L^2): the fraction effectively used (Jain, Chiu, Hawe, DEC-TR-301, 1984).
    pub jain: Option<f64>,
    /// (1/n) * sum (L/mu) ln(L/mu) (Theil 1967).
    pub theil: Option<f64>,
    /// X^2 / (n - 1) with X^2 = sum (L - mu)^2 / mu; only for counts of keys by slot (Fisher 1922).
    pub dispersion: Option<f64>,
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

impl Balance {
    /// The statistics of `loads`; `dispersion` stays absent.
    pub fn of(loads: &[u64]) -> Self {
        let mut sorted = loads.to_vec();
        sorted.sort_unstable();
        let n = sorted.len() as f64;
        let total: f64 = sum(&sorted) as f64;
        let ratio = |value: f64| (total > 0.0).then(|| tidy(value));
        let squares: f64 = sorted.iter().map(|load| (*load as f64).powi(2)).sum();
        let mean = if sorted.is_empty() { 0.0 } else { total / n };
        let rank = |p: f64| match sorted.len() {
            0 => 0,
            len => sorted[((p * n).ceil() as usize).clamp(1, len) - 1],
        };
        let max = sorted.last().copied().unwrap_or(0);
        Balance {
            max,
            min: sorted.first().copied().unwrap_or(0),
            mean: tidy(mean),
            max_over_mean: ratio(max as f64 * n / total),
            cv: ratio((squares * n / (total * total) - 1.0).max(0.0).sqrt()),
            gini: ratio(gini::gini(gini::members(&sorted))),
            jain: ratio(total * total / (n * squares)),
            theil: ratio(theil(&sorted, mean)),
            dispersion: None,
            p50: rank(0.5),
            p90: rank(0.9),
            p99: rank(0.99),
            p999: rank(0.999),
            empty: sorted.iter().take_while(|load| **load == 0).count(),
        }
    }

    /// The statistics of slots by a metric; for keys including their dispersion.
    pub(crate) fn of_slots(metric: Metric, loads: &[u64]) -> Self {
        if metric == Metric::Keys {
            Balance::of_keys_by_slot(loads)
        } else {
            Balance::of(loads)
        }
    }

    fn of_keys_by_slot(loads: &[u64]) -> Self {
        let mut balance = Balance::of(loads);
        let mean = sum(loads) as f64 / loads.len() as f64;
        let x2: f64 = loads
            .iter()
            .map(|load| (*load as f64 - mean).powi(2) / mean)
            .sum();
        balance.dispersion = (mean > 0.0).then(|| tidy(x2 / (loads.len() as f64 - 1.0)));
        balance
    }
}

/// The sum of loads, which may exceed 64 bits.
pub fn sum(loads: &[u64]) -> u128 {
    loads.iter().map(|load| u128::from(*load)).sum()
}

fn theil(sorted: &[u64], mean: f64) -> f64 {
    let shares = sorted
        .iter()
        .filter(|load| **load > 0)
        .map(|load| *load as f64 / mean);
    (shares.map(|share| share * share.ln()).sum::<f64>() / sorted.len() as f64).max(0.0)
}

/// A number as written to reports: nine significant digits, so that none ends in ...00000004.
pub fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.8e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("a ratio");
        assert!((found - expected).abs() < 1e-8, "{found} for {expected}");
    }

    #[test]
    fn worked_by_hand() {
        let balance = Balance::of(&[4, 0, 1, 3]);
        assert_eq!(
            (balance.max, balance.min, balance.mean, balance.empty),
            (4, 0, 2.0, 1)
        );
        close(balance.max_over_mean, 2.0);
        close(balance.cv, (2.5f64).sqrt() / 2.0);
        close(
            balance.gini,
            (-3.0 * 0.0 - 1.0 + 3.0 + 3.0 * 4.0) / (4.0 * 8.0),
        );
        close(balance.jain, 64.0 / (4.0 * 26.0));
        close(
            balance.theil,
            (2.0 * 2f64.ln() + 0.5 * 0.5f64.ln() + 1.5 * 1.5f64.ln()) / 4.0,
        );
        assert_eq!(
            (balance.p50, balance.p90, balance.p99, balance.p999),
            (1, 4, 4, 4)
        );
        close(
            Balance::of_keys_by_slot(&[4, 0, 1, 3]).dispersion,
            (2.0 + 2.0 + 0.5 + 0.5) / 3.0,
        );
    }

    #[test]
    fn equal_loads_have_no_inequality() {
        let balance = Balance::of(&[7; 16384]);
        assert_eq!(balance.max_over_mean, Some(1.0));
        assert_eq!(
            [balance.cv, balance.gini, balance.theil].map(Option::unwrap),
            [0.0; 3]
        );
        assert_eq!(balance.jain, Some(1.0));
    }

    #[test]
    fn no_load_has_no_ratio() {
        for loads in [vec![], vec![0; 5]] {
            let balance = Balance::of(&loads);
            assert_eq!(
                (balance.max, balance.mean, balance.empty),
                (0, 0.0, loads.len())
            );
            assert_eq!((balance.max_over_mean, balance.gini), (None, None));
        }
        assert_eq!(Balance::of_keys_by_slot(&[0; 3]).dispersion, None);
    }

    #[test]
    fn numbers_are_tidy() {
        assert_eq!(tidy(0.1 + 0.2).to_string(), "0.3");
        assert_eq!(tidy(1.0 / 3.0).to_string(), "0.333333333");
        assert_eq!(tidy(123_456_789_012.0), 123_456_789_000.0);
        assert_eq!(tidy(-0.0).to_string(), "0");
    }
}
