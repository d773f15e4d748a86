//! Maps values to coordinates, and chooses the values to label.

use crate::plot::numbers::Numbers;

/// A range of values along one direction. Coordinates are pixels, or units of an SVG.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// The first value.
    pub from: f64,
    /// The last value.
    pub to: f64,
    /// The coordinate of the first value.
    pub start: i32,
    /// The coordinate of the last value.
    pub end: i32,
    /// Minimum distance between ticks: 1 for counts.
    pub step: f64,
    /// The number format.
    pub numbers: Numbers,
    /// Whether it is logarithmic: for ranks and loads, which span orders of magnitude.
    pub by_factors: bool,
}

impl Axis {
    /// A range of values, not yet placed.
    pub(crate) fn new((from, to): (f64, f64)) -> Self {
        Axis {
            from,
            to,
            start: 0,
            end: 0,
            step: 0.0,
            numbers: Numbers::Decimal,
            by_factors: false,
        }
    }

    /// Maps the values to a range of coordinates.
    pub(crate) fn placed(self, (start, end): (i32, i32)) -> Self {
        Axis { start, end, ..self }
    }

    /// Logarithmic, from the largest power of `step` below all values to the smallest above them; values below 1 count as 1.
    pub(crate) fn around(values: impl Iterator<Item = f64>, step: f64) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 1.0f64), |(low, high), value| {
            (low.min(value.max(1.0)), high.max(value))
        });
        // The logarithm of an exact power may be slightly off an integer.
        let from = step.powf((low.min(high).log(step) + 1e-9).floor());
        let to = step.powf((high.log(step) - 1e-9).ceil()).max(from * step);
        Axis {
            by_factors: true,
            ..Axis::new((from, to))
        }
    }

    /// For integers.
    pub(crate) fn whole(self) -> Self {
        Axis { step: 1.0, ..self }
    }

    /// Changes the number format.
    pub(crate) fn in_numbers(self, numbers: Numbers) -> Self {
        Axis { numbers, ..self }
    }

    /// The coordinate of `value`, as a fraction; values outside are clamped.
    pub(crate) fn exact(&self, value: f64) -> f64 {
        let part = if self.by_factors {
            (value.clamp(self.from, self.to) / self.from).ln() / (self.to / self.from).ln()
        } else {
            let part = (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE);
            part.clamp(0.0, 1.0)
        };
        f64::from(self.start) + part * f64::from(self.end - self.start)
    }

    /// The coordinate of `value`, rounded.
    #[cfg(feature = "charts")]
    pub(crate) fn at(&self, value: f64) -> i32 {
        self.exact(value).round() as i32
    }

    /// Round values about this many units apart, with labels.
    pub(crate) fn ticks(&self, places_each: i32) -> Vec<(f64, String)> {
        let about = ((self.end - self.start).abs() / places_each).max(3) as usize;
        if self.by_factors {
            // Powers are far apart where round values would be crowded.
            let values = self.factor_ticks(about * 5 / 3).into_iter();
            return values
                .map(|value| (value, self.numbers.short(value)))
                .collect();
        }
        self.numbers.ticks(self.from, self.to, about, self.step)
    }

    /// At most `about` round values of a logarithmic axis: powers of two for bytes, else 1, 2, 5, 10 or 1, 10, 100.
    fn factor_ticks(&self, about: usize) -> Vec<f64> {
        let powers = |step: f64| {
            let powers = (0..64).map(move |i| self.from * step.powi(i));
            powers.take_while(|value| *value <= self.to * 1.001)
        };
        if self.numbers == Numbers::Binary {
            let step = powers(2.0).count().div_ceil(about);
            return powers(2.0).step_by(step).collect();
        }
        let steps = powers(10.0).flat_map(|power| [1.0, 2.0, 5.0].map(|part| part * power));
        let parts: Vec<f64> = steps.filter(|value| *value <= self.to * 1.001).collect();
        if parts.len() <= about {
            return parts;
        }
        let step = powers(10.0).count().div_ceil(about);
        powers(10.0).step_by(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(to: f64, numbers: Numbers) -> Vec<String> {
        let axis = Axis::new((1.0, to)).placed((0, 300)).in_numbers(numbers);
        let by_factors = true;
        let ticks = Axis { by_factors, ..axis }.ticks(60);
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_of_factors_are_round_and_as_many_as_fit() {
        assert_eq!(factors(30.0, Numbers::Decimal), ["1", "2", "5", "10", "20"]);
        assert_eq!(
            factors(4000.0, Numbers::Decimal),
            ["1", "10", "100", "1,000"]
        );
        let bytes = factors(f64::from(1 << 20), Numbers::Binary);
        assert_eq!(
            bytes,
            ["1 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB"]
        );
    }

    #[test]
    fn values_outside_of_an_axis_are_at_its_ends() {
        let axis = Axis::new((10.0, 20.0)).placed((100, 0));
        assert_eq!(
            [5.0, 10.0, 15.0, 30.0].map(|value| axis.exact(value)),
            [100.0, 100.0, 50.0, 0.0]
        );
    }

    #[test]
    fn an_axis_of_factors_holds_all_values_between_round_ends() {
        let ends = |values: &[f64]| {
            let axis = Axis::around(values.iter().copied(), 10.0);
            (axis.from.round(), axis.to.round())
        };
        assert_eq!(ends(&[30.0, 4e8]), (10.0, 1e9));
        assert_eq!(ends(&[1.0, 1000.0]), (1.0, 1000.0));
        assert_eq!(ends(&[]), (1.0, 10.0));
        let axis = Axis::around([30.0, 4e8].into_iter(), 10.0).placed((0, 700));
        assert_eq!(
            [10.0, 1e9].map(|value| axis.exact(value).round()),
            [0.0, 700.0]
        );
    }
}
