//! The expected loads under a perfect hash, in closed form from the number of effective units.
//!
//! w_g is the load of unit g, W their sum, S the number of slots.
//! N_eff = W^2 / sum w_g^2 (Kish, Survey Sampling, 1965); CV^2 of slots = (S - 1) / N_eff.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::slot::SLOTS;

use crate::summary::balance::tidy;
use crate::summary::model::poisson;

/// The equivalent number of equal independent units; `None` without load.
pub(crate) fn effective_units(total: f64, squares: f64) -> Option<f64> {
    (squares > 0.0).then(|| total * total / squares)
}

/// The coefficient of variation of slot loads under a perfect hash.
pub fn slot_cv(effective_units: f64) -> f64 {
    ((SLOTS as f64 - 1.0) / effective_units).sqrt()
}

/// The spread of slots or nodes under a perfect hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Expectation {
    /// Coefficient of variation.
    pub cv: f64,
    /// Median of max/mean.
    pub max_over_mean_p50: f64,
    /// 99% quantile of max/mean.
    pub max_over_mean_p99: f64,
    /// Gini coefficient; only of slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gini: Option<f64>,
    /// Empty slots; only of slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<f64>,
}

impl Expectation {
    /// For slots with a load of `units` equal units, such as keys without hash tags.
    pub fn of_slots(units: f64) -> Self {
        let lambda = units / SLOTS as f64;
        let largest = |level: f64| {
            tidy(poisson::quantile(lambda, level.powf(1.0 / SLOTS as f64)) as f64 / lambda)
        };
        Expectation {
            cv: tidy(slot_cv(units)),
            max_over_mean_p50: largest(0.5),
            max_over_mean_p99: largest(0.99),
            gini: Some(tidy(poisson::gini(lambda))),
            empty: Some(SLOTS as f64 * (-lambda).exp())
                .map(|empty| if empty < 1e-6 { 0.0 } else { tidy(empty) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_units_are_as_many_as_there_are() {
        assert_eq!(effective_units(1e6, 1e6), Some(1e6));
        assert_eq!(effective_units(0.0, 0.0), None);
        assert!((slot_cv(1e6) - 0.128).abs() < 0.0005);
    }

    /// N keys, CV, max/mean median and 99%, Gini, empty slots: computed independently.
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
            // The largest of 1e5 keys over 16384 slots is a whole number of keys: 18 or 21 where the mean is 6.1.
            let step = 16_384.0 / keys;
            assert!(
                close(found.max_over_mean_p50, median, step.max(0.006)),
                "{keys}: {}",
                found.max_over_mean_p50
            );
            assert!(
                close(found.max_over_mean_p99, p99, step.max(0.006)),
                "{keys}: {}",
                found.max_over_mean_p99
            );
            assert!(
                close(found.gini.unwrap(), gini, 0.012 * gini),
                "{keys}: {:?}",
                found.gini
            );
            assert!(
                close(found.empty.unwrap(), empty, 0.1),
                "{keys}: {:?}",
                found.empty
            );
        }
    }
}
