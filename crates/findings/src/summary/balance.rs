//! How evenly a load is spread over slots or nodes: statistics only.
//!
//! L are the loads, n their number, W their sum, mu = W / n. Every ratio is absent if W = 0; nothing is ever NaN.

use slotscope_model::balance::{Balance, sum, tidy};

/// The statistics of `loads`.
pub fn of(loads: &[u64]) -> Balance {
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
        gini: ratio(gini(&sorted, total)),
        p50: rank(0.5),
        p90: rank(0.9),
        p99: rank(0.99),
        p999: rank(0.999),
        empty: sorted.iter().take_while(|load| **load == 0).count(),
    }
}

/// Twice the area between the Lorenz curve and the diagonal: sum (2 i + 1 - n) L_i / (n W), with i from 0 in ascending
/// order.
fn gini(sorted: &[u64], total: f64) -> f64 {
    let n = sorted.len() as f64;
    let loads = sorted.iter().enumerate();
    let ranked = loads.map(|(at, load)| (2.0 * at as f64 + 1.0 - n) * *load as f64);
    (ranked.sum::<f64>() / (n * total)).max(0.0)
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
        let balance = of(&[4, 0, 1, 3]);
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
        assert_eq!(
            (balance.p50, balance.p90, balance.p99, balance.p999),
            (1, 4, 4, 4)
        );
    }

    #[test]
    fn equal_loads_have_no_inequality() {
        let balance = of(&[7; 16384]);
        assert_eq!(balance.max_over_mean, Some(1.0));
        assert_eq!([balance.cv, balance.gini].map(Option::unwrap), [0.0; 2]);
    }

    #[test]
    fn the_gini_coefficient_is_twice_the_area_over_the_curve() {
        let loads = [1, 1, 2, 7, 7, 90];
        let (mut below, mut area) = (0.0, 0.0);
        for load in loads {
            let share = load as f64 / 108.0;
            area += (2.0 * below + share) / 6.0;
            below += share;
        }
        close(of(&loads).gini, 1.0 - area);
    }

    #[test]
    fn no_load_has_no_ratio() {
        for loads in [vec![], vec![0; 5]] {
            let balance = of(&loads);
            assert_eq!(
                (balance.max, balance.mean, balance.empty),
                (0, 0.0, loads.len())
            );
            assert_eq!((balance.max_over_mean, balance.gini), (None, None));
        }
    }

    #[test]
    fn numbers_are_tidy() {
        assert_eq!(tidy(0.1 + 0.2).to_string(), "0.3");
        assert_eq!(tidy(1.0 / 3.0).to_string(), "0.333333333");
        assert_eq!(tidy(123_456_789_012.0), 123_456_789_000.0);
        assert_eq!(tidy(-0.0).to_string(), "0");
    }
}
