//! A line through amounts over time, by least squares, and how far off it may be: on the logarithms of the amounts, which
//! is growth by a percentage a month, or on the amounts themselves, which is growth by an amount a month.

use schemars::JsonSchema;
use serde::Serialize;

use crate::summary::balance::tidy;
use crate::trend::student::t95;

/// A forecast does not go further.
pub const MOST_MONTHS: f64 = 1200.0;
/// Over less time than this, in months, nothing is said of growth: one day.
pub const LEAST_MONTHS: f64 = 12.0 / 365.25;
/// Fewer points than this do not choose between the shapes.
const CHOOSING: usize = 5;
/// A line on the amounts is chosen where it is 20 times as likely, e^3: chance rarely makes it so.
const LIKELIER: f64 = 3.0;
/// Points that are needed to see that deviations persist.
const PERSISTING: usize = 8;
/// A point is far off where it is so many times as far from the others' line as their interval reaches.
const FAR: f64 = 3.0;
/// Steps in which a crossing is searched, in months.
const STEP: f64 = 0.25;
/// Larger amounts are none.
const MOST: f64 = 1e30;

/// How something grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// By the same percentage each month.
    Exponential,
    /// By the same amount each month.
    Linear,
}

/// An estimate and the ends of what it is within in 95 of 100 cases.
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
    /// The lower end of the 95 % interval; absent too where two reports leave no interval.
    pub low: Option<f64>,
    /// The upper end; absent where it may never be reached.
    pub high: Option<f64>,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// On what it is a line.
    pub shape: Shape,
    /// How many points it goes through.
    pub count: usize,
    /// The time of the last point, in months.
    pub to: f64,
    /// Months from the first point to the last.
    pub span: f64,
    /// How alike neighbouring deviations are, from -1 to 1: near 0 where they are chance; absent below 8 points.
    pub autocorrelation: Option<f64>,
    mean_time: f64,
    mean_level: f64,
    slope: f64,
    squares_of_times: f64,
    /// Standard deviation of the points around the line, times Student's t; absent where two points leave none.
    spread: Option<f64>,
    squared_deviations: f64,
}

/// A side of an interval.
#[derive(Clone, Copy)]
enum Side {
    Low,
    Estimate,
    High,
}

impl Fit {
    /// The line through `points`, month and amount by time; `None` where they are fewer than two or within a day.
    pub fn of(points: &[(f64, f64)]) -> Option<Fit> {
        let positive = points.iter().all(|(_, amount)| *amount > 0.0);
        let linear = Fit::shaped(points, Shape::Linear)?;
        if !positive {
            return Some(linear);
        }
        let exponential = Fit::shaped(points, Shape::Exponential)?;
        let is_linear = points.len() >= CHOOSING
            && linear.likelihood(points) > exponential.likelihood(points) + LIKELIER;
        Some(if is_linear { linear } else { exponential })
    }

    fn shaped(points: &[(f64, f64)], shape: Shape) -> Option<Fit> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        if last - first < LEAST_MONTHS {
            return None;
        }
        let count = points.len();
        let mean = |value: &dyn Fn(&(f64, f64)) -> f64| {
            points.iter().map(value).sum::<f64>() / count as f64
        };
        let level = |amount: f64| shape.level(amount);
        let mean_time = mean(&|(time, _)| *time);
        let mean_level = mean(&|(_, amount)| level(*amount));
        let squares_of_times: f64 = points
            .iter()
            .map(|(time, _)| (time - mean_time).powi(2))
            .sum();
        let products = points.iter();
        let products =
            products.map(|(time, amount)| (time - mean_time) * (level(*amount) - mean_level));
        let slope = products.sum::<f64>() / squares_of_times;
        let deviation =
            |(time, amount): &(f64, f64)| level(*amount) - mean_level - slope * (time - mean_time);
        let deviations: Vec<f64> = points.iter().map(deviation).collect();
        let squared_deviations: f64 = deviations.iter().map(|off| off * off).sum();
        let neighbours = deviations.windows(2).map(|pair| pair[0] * pair[1]);
        let freedom = count - 2;
        Some(Fit {
            shape,
            count,
            to: last,
            span: last - first,
            autocorrelation: (count >= PERSISTING)
                .then(|| tidy(neighbours.sum::<f64>() / squared_deviations)),
            mean_time,
            mean_level,
            slope,
            squares_of_times,
            spread: (freedom > 0)
                .then(|| (squared_deviations / freedom as f64).sqrt() * t95(freedom)),
            squared_deviations,
        })
    }

    /// The logarithm of the likelihood of the amounts, but for a constant: that of logarithms has their derivative too.
    fn likelihood(&self, points: &[(f64, f64)]) -> f64 {
        let count = points.len() as f64;
        let logarithms = match self.shape {
            Shape::Exponential => points.iter().map(|(_, amount)| amount.ln()).sum(),
            Shape::Linear => 0.0,
        };
        // Amounts are whole: a line is never closer to them than rounding.
        let scale = match self.shape {
            Shape::Exponential => 1e-12,
            Shape::Linear => 1e-12 * self.mean_level.abs().max(1.0),
        };
        let variance = self.squared_deviations / count + scale * scale;
        -count / 2.0 * variance.ln() - logarithms
    }

    /// The amount to expect at a time in months, and the interval that a report of then is within.
    pub fn at(&self, time: f64) -> Interval {
        let side = |side| tidy(self.amount(self.level(time, side)));
        Interval {
            estimate: side(Side::Estimate),
            low: self.spread.map(|_| side(Side::Low)),
            high: self.spread.map(|_| side(Side::High)),
        }
    }

    /// The growth a month at the time of the last point, as a part of the amount.
    pub fn growth(&self) -> Interval {
        let share = |slope: f64| match self.shape {
            Shape::Exponential => tidy(slope.exp_m1().min(MOST)),
            Shape::Linear => {
                let last = self.level(self.to, Side::Estimate);
                tidy(if last > 0.0 { slope / last } else { 0.0 })
            }
        };
        let off = self
            .spread
            .map(|spread| spread / self.squares_of_times.sqrt());
        Interval {
            estimate: share(self.slope),
            low: off.map(|off| share(self.slope - off)),
            high: off.map(|off| share(self.slope + off)),
        }
    }

    /// When, in months after the last point, the amount is `limit`.
    pub fn reaches(&self, limit: f64) -> Reached {
        let at = |side| self.crossing(limit, side).map(tidy);
        let ends = self.spread.is_some();
        Reached {
            estimate: at(Side::Estimate),
            low: at(Side::High).filter(|_| ends),
            high: at(Side::Low).filter(|_| ends),
        }
    }

    /// Whether deviations persist from point to point, so that the truth is further off than the interval says.
    pub fn persists(&self) -> bool {
        let chance = 2.0 / (self.count as f64).sqrt();
        self.autocorrelation.is_some_and(|alike| alike > chance)
    }

    /// The place of the point that is furthest off what all others give, and the amount that they give; `None` where none
    /// is further off than chance makes one in very many.
    pub fn outlier(points: &[(f64, f64)]) -> Option<(usize, f64)> {
        if points.len() < PERSISTING {
            return None;
        }
        let off = |place: usize| {
            let mut others = points.to_vec();
            let (time, amount) = others.remove(place);
            let fit = Fit::of(&others)?;
            let level = fit.level(time, Side::Estimate);
            let reach = fit.level(time, Side::High) - level;
            let off = (fit.shape.level(amount) - level).abs() / reach;
            let is_far = off > FAR && amount > 0.0;
            is_far.then(|| (place, off, fit.amount(level)))
        };
        let all = (0..points.len()).filter_map(off);
        let (place, _, expected) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((place, expected))
    }

    /// The first time after the last point at which a side of the interval is at `limit` or above.
    fn crossing(&self, limit: f64, side: Side) -> Option<f64> {
        let limit = self.shape.level(limit);
        let is_over = |months: f64| self.level(self.to + months, side) >= limit;
        let steps = (0..=(MOST_MONTHS / STEP) as u32).map(|step| f64::from(step) * STEP);
        let mut high = steps.into_iter().find(|months| is_over(*months))?;
        let mut low = (high - STEP).max(0.0);
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            match is_over(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        Some(high)
    }

    /// The line, or an end of the interval of one more point.
    fn level(&self, time: f64, side: Side) -> f64 {
        let away = time - self.mean_time;
        let line = self.mean_level + self.slope * away;
        let variance = 1.0 + 1.0 / self.count as f64 + away * away / self.squares_of_times;
        let off = self.spread.unwrap_or(0.0) * variance.sqrt();
        match side {
            Side::Low => line - off,
            Side::Estimate => line,
            Side::High => line + off,
        }
    }

    fn amount(&self, level: f64) -> f64 {
        match self.shape {
            Shape::Exponential => level.exp().min(MOST),
            Shape::Linear => level.clamp(0.0, MOST),
        }
    }
}

impl Shape {
    /// What a line is drawn through.
    fn level(self, amount: f64) -> f64 {
        match self {
            Shape::Exponential => amount.ln(),
            Shape::Linear => amount,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(count: usize, amount: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let times = (0..count).map(|month| month as f64);
        times.map(|month| (month, amount(month))).collect()
    }

    #[test]
    fn the_shape_is_the_one_that_the_points_have() {
        let doubling = Fit::of(&series(12, |month| 1000.0 * 1.06f64.powf(month))).unwrap();
        assert_eq!(doubling.shape, Shape::Exponential);
        assert!((doubling.growth().estimate - 0.06).abs() < 1e-9);
        let adding = Fit::of(&series(12, |month| 1000.0 + 500.0 * month)).unwrap();
        assert_eq!(adding.shape, Shape::Linear);
        assert!((adding.growth().estimate - 500.0 / 6500.0).abs() < 1e-9);
        assert_eq!(adding.at(20.0).estimate, 11_000.0);
        let few = Fit::of(&series(4, |month| 1000.0 + 500.0 * month)).unwrap();
        assert_eq!(few.shape, Shape::Exponential, "four points do not choose");
        let from_nothing = Fit::of(&series(4, |month| 500.0 * month)).unwrap();
        assert_eq!(from_nothing.shape, Shape::Linear, "0 has no logarithm");
    }

    #[test]
    fn the_interval_is_that_of_the_textbook_formula() {
        // x 1..5, y 1, 3, 2, 5, 4 (least squares by hand): slope 0.8, mean 3, s^2 = 3.6 / 3, t of 3 = 3.1824.
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 5.0), (5.0, 4.0)];
        let fit = Fit::shaped(&points, Shape::Linear).unwrap();
        let Interval {
            estimate,
            low,
            high,
        } = fit.at(7.0);
        let off = 3.182_446 * 1.2f64.sqrt() * (1.0f64 + 0.2 + 16.0 / 10.0).sqrt();
        assert!((estimate - 6.2).abs() < 1e-9);
        assert!((high.unwrap() - estimate - off).abs() < 1e-4, "{high:?}");
        assert!((estimate - low.unwrap() - off).abs() < 1e-4, "{low:?}");
        let slope_off = 3.182_446 * 1.2f64.sqrt() / 10f64.sqrt();
        let growth = fit.growth();
        assert!((growth.high.unwrap() - (0.8 + slope_off) / 4.6).abs() < 1e-4);
    }

    #[test]
    fn two_points_have_a_rate_and_no_interval_and_a_day_has_none() {
        let two = Fit::of(&[(0.0, 100.0), (2.0, 121.0)]).unwrap();
        assert_eq!((two.growth().estimate, two.growth().low), (0.1, None));
        let reached = two.reaches(161.051);
        assert!((reached.estimate.unwrap() - 3.0).abs() < 1e-6);
        assert_eq!((reached.low, reached.high), (None, None));
        assert_eq!(Fit::of(&[(0.0, 100.0), (0.01, 121.0)]), None);
        assert_eq!(Fit::of(&[(0.0, 100.0)]), None);
        assert_eq!(Fit::of(&[]), None);
    }

    #[test]
    fn what_shrinks_or_is_full_already_is_not_reached_later() {
        let shrinking = Fit::of(&series(4, |month| 1000.0 * 0.9f64.powf(month))).unwrap();
        assert_eq!(shrinking.reaches(2000.0).estimate, None);
        assert_eq!(shrinking.reaches(500.0).estimate, Some(0.0));
        let steady = Fit::of(&series(9, |_| 7.0)).unwrap();
        assert_eq!((steady.growth().estimate, steady.persists()), (0.0, false));
        assert_eq!(steady.reaches(8.0).high, None);
    }

    #[test]
    fn the_ends_are_crossed_before_and_after_the_line() {
        let noisy = series(12, |month| {
            1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin())
        });
        let Reached {
            estimate,
            low,
            high,
        } = Fit::of(&noisy).unwrap().reaches(4000.0);
        let (estimate, low, high) = (estimate.unwrap(), low.unwrap(), high.unwrap());
        assert!(
            low < estimate && estimate < high && high < 25.0,
            "{low} {estimate} {high}"
        );
    }

    #[test]
    fn deviations_that_persist_are_noticed() {
        let chance = series(24, |month| {
            1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin())
        });
        assert!(!Fit::of(&chance).unwrap().persists());
        let jump = series(24, |month| if month < 12.0 { 1000.0 } else { 3000.0 });
        assert!(Fit::of(&jump).unwrap().persists());
    }

    #[test]
    fn a_point_that_the_others_contradict_is_found() {
        let wave = |month: f64| 1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin());
        let mut points = series(12, wave);
        assert_eq!(Fit::outlier(&points), None);
        points[7].1 /= 2.0;
        let (place, expected) = Fit::outlier(&points).unwrap();
        assert_eq!(place, 7);
        assert!((expected / wave(7.0) - 1.0).abs() < 0.03, "{expected}");
    }

    #[test]
    fn absurd_growth_stays_a_number() {
        let fit = Fit::of(&[(0.0, 1.0), (0.04, u64::MAX as f64)]).unwrap();
        assert_eq!(
            (fit.growth().estimate, fit.at(100.0).estimate),
            (1e30, 1e30)
        );
    }
}
