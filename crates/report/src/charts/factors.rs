//! An axis on which each step is a factor: for ranks, sizes and rates, which span many magnitudes.

/// Values from `from` to `to`, both above 0, and their pixels.
pub(super) struct Factors {
    /// The first value.
    pub from: f64,
    /// The last value.
    pub to: f64,
    start: f64,
    end: f64,
}

impl Factors {
    /// From the largest power of `step` below all values to the smallest above them, on the pixels `start` to `end`;
    /// values below 1 count as 1.
    pub(super) fn around(
        values: impl Iterator<Item = f64>,
        step: f64,
        start: i32,
        end: i32,
    ) -> Self {
        let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        // The logarithm of a power of the step may be slightly off a whole number.
        let power = |value: f64, round: fn(f64) -> f64, hair: f64| {
            step.powf(round(value.ln() / step.ln() + hair))
        };
        let low = if low.is_finite() { low.max(1.0) } else { 1.0 };
        let (from, to) = (
            power(low, f64::floor, 1e-9),
            power(high.max(1.0), f64::ceil, -1e-9),
        );
        Factors {
            from,
            to: to.max(from * step),
            start: f64::from(start),
            end: f64::from(end),
        }
    }

    /// From `from` to `to`, whatever they are; a range of no width gets some.
    pub(super) fn between(from: f64, to: f64, start: i32, end: i32) -> Self {
        Factors {
            from,
            to: to.max(from * 2.0),
            start: f64::from(start),
            end: f64::from(end),
        }
    }

    /// The pixel of `value`, as a fraction; values outside are set to the nearest end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let part = (value.clamp(self.from, self.to) / self.from).ln() / (self.to / self.from).ln();
        self.start + (self.end - self.start) * part
    }

    /// Round decimal values on an axis that starts at a power of ten: 1, 10, 100; 1, 2, 5, 10 where those are few.
    pub(super) fn decimal_ticks(&self) -> Vec<f64> {
        let few = self.to < 500.0 * self.from;
        let parts: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let all = self
            .ticks(10.0)
            .flat_map(|decade| parts.iter().map(move |part| part * decade));
        all.filter(|value| *value <= self.to * 1.001).collect()
    }

    /// Every power of `step` on the axis.
    pub(super) fn ticks(&self, step: f64) -> impl Iterator<Item = f64> {
        let (from, to) = (self.from, self.to * 1.001);
        (0..64)
            .map(move |i| from * step.powi(i))
            .take_while(move |value| *value <= to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_factors_holds_all_values_between_round_ends() {
        let axis = Factors::around([30.0, 4e8].into_iter(), 10.0, 0, 700);
        assert_eq!((axis.from.round(), axis.to.round()), (10.0, 1e9));
        assert_eq!((axis.at(10.0).round(), axis.at(1e9).round()), (0.0, 700.0));
        assert_eq!(axis.ticks(10.0).count(), 9);
    }

    #[test]
    fn round_values_are_ends_themselves_and_no_value_is_an_axis_too() {
        let axis = Factors::around([1.0, 1000.0].into_iter(), 10.0, 0, 300);
        assert_eq!((axis.from.round(), axis.to.round()), (1.0, 1000.0));
        assert_eq!(
            Factors::between(1.0, 30.0, 0, 300).decimal_ticks(),
            [1.0, 2.0, 5.0, 10.0, 20.0]
        );
        assert_eq!(
            Factors::between(1.0, 4000.0, 0, 300).decimal_ticks(),
            [1.0, 10.0, 100.0, 1000.0]
        );
        let none = Factors::around(std::iter::empty(), 10.0, 0, 300);
        assert_eq!(
            (none.from.round(), none.to.round(), none.at(0.0)),
            (1.0, 10.0, 0.0)
        );
    }
}
