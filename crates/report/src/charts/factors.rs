//! Axes in pixels, including logarithmic ones.

use crate::plot::axis::Axis;

impl Axis {
    pub(super) fn at(&self, value: f64) -> i32 {
        self.exact(value).round() as i32
    }

    /// From the largest power of `step` below all values to the smallest above them, mapped to `places`; values below 1
    /// count as 1.
    pub(super) fn around(values: impl Iterator<Item = f64>, step: f64, places: (i32, i32)) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        // The logarithm of an exact power may be slightly off an integer.
        let power = |value: f64, round: fn(f64) -> f64, hair: f64| {
            step.powf(round(value.ln() / step.ln() + hair))
        };
        let low = if low.is_finite() { low.max(1.0) } else { 1.0 };
        let from = power(low, f64::floor, 1e-9);
        let to = power(high.max(1.0), f64::ceil, -1e-9);
        Axis {
            by_factors: true,
            ..Axis::new((from, to.max(from * step)), places)
        }
    }

    /// From `from` to `to`; an empty range is widened.
    pub(super) fn between(from: f64, to: f64, places: (i32, i32)) -> Self {
        Axis {
            by_factors: true,
            ..Axis::new((from, to.max(from * 2.0)), places)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_factors_holds_all_values_between_round_ends() {
        let axis = Axis::around([30.0, 4e8].into_iter(), 10.0, (0, 700));
        assert_eq!((axis.from.round(), axis.to.round()), (10.0, 1e9));
        assert_eq!(
            (axis.exact(10.0).round(), axis.exact(1e9).round()),
            (0.0, 700.0)
        );
    }

    #[test]
    fn round_values_are_ends_themselves_and_no_value_is_an_axis_too() {
        let axis = Axis::around([1.0, 1000.0].into_iter(), 10.0, (0, 300));
        assert_eq!((axis.from.round(), axis.to.round()), (1.0, 1000.0));
        let none = Axis::around(std::iter::empty(), 10.0, (0, 300));
        assert_eq!(
            (none.from.round(), none.to.round(), none.exact(0.0)),
            (1.0, 10.0, 0.0)
        );
    }
}
