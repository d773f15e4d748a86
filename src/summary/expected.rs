//! What a perfect hash would give: the yardstick that every measured skew is held against.
//!
//! A unit is what hashes as one: a hash tag with all its keys, or an untagged key alone. w_g is its load, W the sum.
//! Formulas: N_eff = W^2 / sum w_g^2 (Kish, Survey Sampling, 1965); CV^2 of slots = (S - 1) / N_eff.

use crate::slot::SLOTS;

/// The independent units that a load behaves like; `None` without load.
pub fn effective_units(total: f64, squares: f64) -> Option<f64> {
    (squares > 0.0).then(|| total * total / squares)
}

/// The coefficient of variation of slot loads under a perfect hash.
pub fn slot_cv(effective_units: f64) -> f64 {
    ((SLOTS as f64 - 1.0) / effective_units).sqrt()
}

/// What max/mean of `nodes` equal nodes stays below in 9,999 of 10,000 perfect hashes:
/// 1 + z sqrt((n - 1) / N), z the quantile of the largest of n normal deviates.
pub fn node_max_over_mean(nodes: usize, effective_units: f64) -> f64 {
    let n = nodes as f64;
    let upper_tail = -(0.9999f64.ln() / n).exp_m1();
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

    #[test]
    fn noise_of_nodes_shrinks_with_the_keys_and_grows_with_the_nodes() {
        assert!(node_max_over_mean(3, 1e6) < node_max_over_mean(10, 1e6));
        assert!(node_max_over_mean(10, 1e7) < node_max_over_mean(10, 1e6));
        assert_eq!(node_max_over_mean(1, 100.0), 1.0);
    }
}
