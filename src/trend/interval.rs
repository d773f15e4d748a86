//! Estimates with the ends of their intervals. Several fits give the smallest interval that spans those of all: the truth is
//! within it where it is within that of the right fit, whichever that is.

use schemars::JsonSchema;
use serde::Serialize;

/// An estimate and its interval in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// The lower end; absent where two reports leave no interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// When something is reached, in months.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Reached {
    /// The estimate; absent where it is not reached within 100 years.
    pub estimate: Option<f64>,
    /// The lower end of the 95% interval; absent too where two reports leave no interval.
    pub low: Option<f64>,
    /// The upper end; absent where it may never be reached.
    pub high: Option<f64>,
}

impl Interval {
    /// The estimate of `best` within an interval that spans its own and those of `rivals`. Where `best` has no interval,
    /// neither has the hull.
    pub(super) fn spanning(best: Interval, rivals: impl Iterator<Item = Interval>) -> Interval {
        rivals.fold(best, |hull, rival| Interval {
            estimate: hull.estimate,
            low: outer(hull.low, rival.low, f64::min),
            high: outer(hull.high, rival.high, f64::max),
        })
    }
}

impl Reached {
    /// The same for the months until a limit is reached: that it may never be reached, or only later, is part of the hull.
    pub(super) fn spanning(best: Reached, rivals: impl Iterator<Item = Reached>) -> Reached {
        rivals.fold(best, |hull, rival| Reached {
            estimate: hull.estimate,
            low: match (hull.low, rival.low) {
                (Some(mine), Some(other)) => Some(mine.min(other)),
                (mine, other) => mine.or(other),
            },
            high: match (hull.high, rival.high) {
                (Some(mine), Some(other)) => Some(mine.max(other)),
                _ => None,
            },
        })
    }
}

fn outer(mine: Option<f64>, other: Option<f64>, further: fn(f64, f64) -> f64) -> Option<f64> {
    mine.map(|mine| other.map_or(mine, |other| further(mine, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trend::fit::{Fit, SETTLED};

    fn interval(estimate: f64, ends: Option<(f64, f64)>) -> Interval {
        let (low, high) = ends.unzip();
        Interval {
            estimate,
            low,
            high,
        }
    }

    #[test]
    fn the_hull_spans_all_intervals_and_keeps_the_best_estimate() {
        let best = interval(10.0, Some((8.0, 12.0)));
        let rivals = [
            interval(11.0, Some((9.0, 15.0))),
            interval(7.0, None),
            interval(9.0, Some((5.0, 10.0))),
        ];
        let found = Interval::spanning(best, rivals.into_iter());
        assert_eq!(found, interval(10.0, Some((5.0, 15.0))));
        let without = interval(10.0, None);
        assert_eq!(Interval::spanning(without, rivals.into_iter()), without);
    }

    #[test]
    fn a_limit_that_one_fit_never_reaches_has_no_latest_month() {
        let reached = |low, high| Reached {
            estimate: Some(4.0),
            low,
            high,
        };
        let rivals = [reached(Some(3.0), None), reached(None, Some(9.0))];
        let found = Reached::spanning(reached(Some(5.0), Some(6.0)), rivals.into_iter());
        assert_eq!(found, reached(Some(3.0), None));
    }

    #[test]
    fn few_points_have_a_wider_interval_than_their_best_fit_and_many_have_that_of_the_fit() {
        let wave = |month: f64| 1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin());
        let width = |count: usize| {
            let months = (0..count).map(|month| month as f64);
            let points: Vec<_> = months.map(|month| (month, wave(month))).collect();
            let Interval { low, high, .. } = Fit::of(&points).unwrap().at(count as f64 + 5.0);
            (high.unwrap() / low.unwrap()).ln()
        };
        assert!(
            width(SETTLED - 1) > 1.5 * width(SETTLED),
            "{} {}",
            width(SETTLED - 1),
            width(SETTLED)
        );
    }
}
