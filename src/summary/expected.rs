//! What a perfect hash would give: the yardstick that every measured skew is held against.
//!
//! A unit is what hashes as one: a hash tag with all its keys, or an untagged key alone. w_g is its load, W the sum.
//! Formulas: N_eff = W^2 / sum w_g^2 (Kish, Survey Sampling, 1965); CV^2 of slots = (S - 1) / N_eff.

use serde::Serialize;

use super::balance::tidy;
use crate::slot::SLOTS;

/// The independent units that a load behaves like; `None` without load.
pub fn effective_units(total: f64, squares: f64) -> Option<f64> {
    (squares > 0.0).then(|| total * total / squares)
}

/// The coefficient of variation of slot loads under a perfect hash.
pub fn slot_cv(effective_units: f64) -> f64 {
    ((SLOTS as f64 - 1.0) / effective_units).sqrt()
}

/// What a perfect hash gives slots or nodes, to stand beside what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expectation {
    /// Coefficient of variation.
    pub cv: f64,
    /// max/mean in one perfect hash of two; only of slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_over_mean: Option<f64>,
    /// max/mean that 99 of 100 perfect hashes stay below.
    pub max_over_mean_p99: f64,
    /// Gini coefficient; only of slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gini: Option<f64>,
    /// Empty slots; only of slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<f64>,
}

impl Expectation {
    /// Of the slots, where the load is that of `units` equal units. Unequal ones have the same coefficient of
    /// variation, and about the same shape once there are many in a slot.
    pub fn of_slots(units: f64) -> Self {
        let lambda = units / SLOTS as f64;
        let largest = |level: f64| tidy(poisson_quantile(lambda, level.powf(1.0 / SLOTS as f64)) as f64 / lambda);
        Expectation {
            cv: tidy(slot_cv(units)),
            max_over_mean: Some(largest(0.5)),
            max_over_mean_p99: largest(0.99),
            gini: Some(tidy(poisson_gini(lambda))),
            empty: Some(SLOTS as f64 * (-lambda).exp()).map(|empty| if empty < 1e-6 { 0.0 } else { tidy(empty) }),
        }
    }

    /// Of `nodes` nodes with equal slots.
    pub fn of_nodes(nodes: usize, units: f64) -> Self {
        Expectation {
            cv: tidy(((nodes as f64 - 1.0) / units).sqrt()),
            max_over_mean: None,
            max_over_mean_p99: tidy(largest_node(nodes, units, 0.99)),
            gini: None,
            empty: None,
        }
    }
}

/// The smallest k with P(X <= k) >= `level` for X Poisson with mean `lambda`; level near 1, where the normal
/// distribution is far off.
pub fn poisson_quantile(lambda: f64, level: f64) -> u64 {
    let tail = 1.0 - level;
    let log_pmf = |k: f64| k * lambda.ln() - lambda - log_factorial(k);
    // Above the mean probabilities fall, ever faster: summed up from where hardly anything is left.
    let mut k = (lambda + 9.0 * lambda.sqrt() + 30.0).ceil();
    let mut above = 0.0;
    let mut pmf = log_pmf(k).exp();
    while k > 0.0 && above + pmf <= tail {
        above += pmf;
        pmf *= k / lambda;
        k -= 1.0;
    }
    k as u64
}

/// ln k!, by Stirling's series from 20 on (relative error below 1e-10).
fn log_factorial(k: f64) -> f64 {
    if k < 20.0 {
        return (2..=k as u64).map(|i| (i as f64).ln()).sum();
    }
    let n = k + 1.0;
    (n - 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3))
}

/// Gini coefficient of Poisson counts: exp(-2 lambda) (I0(2 lambda) + I1(2 lambda)), I the modified Bessel functions.
fn poisson_gini(lambda: f64) -> f64 {
    let x = 2.0 * lambda;
    if x > 60.0 {
        // The series for large x: I0 + I1 = e^x / sqrt(2 pi x) (2 - 1 / (4 x) - ...).
        return (2.0 - 0.25 / x - 3.0 / (64.0 * x * x)) / (std::f64::consts::TAU * x).sqrt();
    }
    let (mut sum, mut term) = (0.0, (-x).exp());
    // I0 has the even powers of x / 2, I1 the odd ones: together one series over all of them.
    for k in 0..200 {
        sum += term;
        term *= x / 2.0 / f64::from(k / 2 + 1);
    }
    sum
}

/// What max/mean of `nodes` equal nodes stays below in 9,999 of 10,000 perfect hashes.
pub fn node_max_over_mean(nodes: usize, effective_units: f64) -> f64 {
    largest_node(nodes, effective_units, 0.9999)
}

/// 1 + z sqrt((n - 1) / N), z the quantile of the largest of n normal deviates.
fn largest_node(nodes: usize, effective_units: f64, level: f64) -> f64 {
    let n = nodes as f64;
    let upper_tail = -(level.ln() / n).exp_m1();
    1.0 + normal_upper_quantile(upper_tail) * ((n - 1.0) / effective_units).sqrt()
}

/// z such that a standard normal deviate exceeds it with probability `tail`, to seven digits; tail in (0, 1).
/// Source: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988 (PPND7).
pub fn normal_upper_quantile(tail: f64) -> f64 {
    fn ratio<const N: usize, const D: usize>(r: f64, over: [f64; N], under: [f64; D]) -> f64 {
        let horner = |coefficients: &[f64]| coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c);
        horner(&over) / (horner(&under) * r + 1.0)
    }
    let q = 0.5 - tail;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        let over = [3.3871327179, 50.434271938, 159.29113202, 59.10937472];
        return q * ratio(r, over, [17.895169469, 78.757757664, 67.187563600]);
    }
    let r = (-tail.min(1.0 - tail).ln()).sqrt();
    let z = if r <= 5.0 {
        ratio(r - 1.6, [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103], [0.7370016425, 0.12021132975])
    } else {
        ratio(r - 5.0, [6.657905115, 3.081226386, 0.42868294337, 0.017337203997], [0.24197894225, 0.012258202635])
    };
    z.copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        let known = [(0.5, 0.0), (0.025, 1.959964), (0.0001, 3.719016), (1e-9, 5.997807), (0.975, -1.959964)];
        for (tail, z) in known {
            assert!((normal_upper_quantile(tail) - z).abs() < 2e-6, "{tail}: {}", normal_upper_quantile(tail));
        }
    }

    #[test]
    fn equal_units_are_as_many_as_there_are() {
        assert_eq!(effective_units(1e6, 1e6), Some(1e6));
        assert_eq!(effective_units(0.0, 0.0), None);
        assert!((slot_cv(1e6) - 0.128).abs() < 0.0005);
    }

    /// N keys, CV, max/mean median and 99 %, Gini, empty slots: worked out elsewhere.
    const TABLE: [(f64, f64, f64, f64, f64, f64); 5] = [
        (1e5, 0.405, 2.95, 3.44, 0.226, 36.6),
        (1e6, 0.128, 1.54, 1.69, 0.072, 0.0),
        (1e7, 0.0405, 1.163, 1.203, 0.0228, 0.0),
        (1e8, 0.0128, 1.051, 1.063, 0.0072, 0.0),
        (1e9, 0.0040, 1.016, 1.020, 0.0023, 0.0),
    ];

    #[test]
    fn slots_of_a_perfect_hash_are_those_of_the_table() {
        for (keys, cv, median, p99, gini, empty) in TABLE {
            let found = Expectation::of_slots(keys);
            let close = |found: f64, truth: f64, within: f64| (found - truth).abs() <= within;
            assert!(close(found.cv, cv, 0.013 * cv), "{keys}: cv {}", found.cv);
            // The largest of 1e5 keys over 16384 slots is a whole number of keys: 18 or 21 of 6.1.
            let step = 16_384.0 / keys;
            assert!(close(found.max_over_mean.unwrap(), median, step.max(0.006)), "{keys}: {:?}", found.max_over_mean);
            assert!(close(found.max_over_mean_p99, p99, step.max(0.006)), "{keys}: {}", found.max_over_mean_p99);
            assert!(close(found.gini.unwrap(), gini, 0.012 * gini), "{keys}: {:?}", found.gini);
            assert!(close(found.empty.unwrap(), empty, 0.1), "{keys}: {:?}", found.empty);
        }
    }

    #[test]
    fn nodes_of_a_perfect_hash_are_those_of_the_table() {
        for (keys, nodes, p99) in [(1e5, 3, 1.012), (1e5, 10, 1.029), (1e6, 100, 1.037), (1e9, 3, 1.0002)] {
            let found = Expectation::of_nodes(nodes, keys).max_over_mean_p99;
            assert!((found - p99).abs() < 0.05 * (p99 - 1.0) + 0.0001, "{keys} on {nodes}: {found}");
        }
    }

    #[test]
    fn a_poisson_quantile_is_that_of_the_sum() {
        for lambda in [0.01, 0.6, 6.1, 61.0, 6104.0] {
            for level in [0.9f64, 0.99, 0.999_957] {
                let (mut sum, mut k) = (0.0, 0u64);
                loop {
                    sum += (k as f64 * f64::ln(lambda) - lambda - log_factorial(k as f64)).exp();
                    if sum >= level {
                        break;
                    }
                    k += 1;
                }
                assert_eq!(poisson_quantile(lambda, level), k, "{lambda} at {level}");
            }
        }
    }

    #[test]
    fn noise_of_nodes_shrinks_with_the_keys_and_grows_with_the_nodes() {
        assert!(node_max_over_mean(3, 1e6) < node_max_over_mean(10, 1e6));
        assert!(node_max_over_mean(10, 1e7) < node_max_over_mean(10, 1e6));
        assert_eq!(node_max_over_mean(1, 100.0), 1.0);
    }
}
