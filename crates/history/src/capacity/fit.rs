//! Lines through amounts over time, with 95% prediction intervals.
//!
//! Growth is linear or exponential, and each report adds a deviation that stays: a random walk with a drift, of which the last
//! point is known. The drift is the mean of the steps between reports, with reduced weights for outliers (Huber 1964). The
//! likelier shape gives the estimate; the interval spans both where the points do not rule one out. Where deviations do not
//! stay, it is wider than it had to be. Steps that repeat by the week or the year are taken out first, from two periods on.
//!
//! Parts that grow differently are fitted apart and added up: a line through their sum would bend up too late.

use serde::Serialize;

use slotscope_model::balance::tidy;

pub use crate::capacity::line::Shape;
use crate::capacity::line::{ESTIMATE, HIGH, LOW, Line, MOST, Side};
use crate::capacity::months::months;
use crate::capacity::season::{DAY, period};

/// Forecasts end here.
const MOST_MONTHS: f64 = 1200.0;
/// The first step of a search over time, in months: an hour.
const FIRST_STEP: f64 = 0.0014;
/// Minimum time span for growth, in months: one day.
pub(crate) const LEAST_MONTHS: f64 = 12.0 / 365.25;
/// Minimum time span for monthly growth: 27 days, as months differ.
const LEAST_FOR_A_MONTH: f64 = 0.9;
/// A shape is ruled out if the other is 7 times as likely, e^2.
const RULED_OUT: f64 = 2.0;

/// An estimate and its interval in 95 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// The lower end; absent where two reports leave no interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// When something is reached, in months.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reached {
    /// The estimate; absent where it is not reached within 100 years.
    pub estimate: Option<f64>,
    /// The lower end of the 95% interval; absent too where two reports leave no interval.
    pub low: Option<f64>,
    /// The upper end; absent where it may never be reached.
    pub high: Option<f64>,
}

impl Reached {
    /// It is reached already.
    pub const NOW: Reached = Reached {
        estimate: Some(0.0),
        low: Some(0.0),
        high: Some(0.0),
    };
}

/// Growth at the time of the newest report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Rate {
    /// The amount that a day adds.
    pub a_day: Interval,
    /// The part of the amount that a month adds, 0.05 for 5%; absent where the reports are of less than a month.
    pub a_month: Option<Interval>,
}

/// An amount over time: of one part, or of parts that grow differently and add up.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The time of the last point, in months.
    to: f64,
    /// Months from the first point to the last.
    pub span: f64,
    /// Whether there are enough regular points to tell a season.
    pub tells_seasons: bool,
    parts: Vec<Part>,
}

/// The shapes that the points do not rule out, likeliest first.
#[derive(Debug, Clone, PartialEq)]
struct Part(Vec<Line>);

impl Fit {
    /// The fit for `points`, as month and amount by time; `None` for fewer than two points, or within a day.
    pub fn new(points: &[(f64, f64)]) -> Option<Fit> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        (last - first >= LEAST_MONTHS).then(|| Fit {
            to: last,
            span: last - first,
            tells_seasons: period(points).is_some(),
            parts: vec![Part::new(points)],
        })
    }

    /// The fit of amounts at times in seconds, in months since the first.
    pub(crate) fn of(points: &[(u64, f64)]) -> Option<Fit> {
        let start = points.first()?.0;
        let months = |(at, amount): &(u64, f64)| (months(start, *at), *amount);
        Fit::new(&points.iter().map(months).collect::<Vec<_>>())
    }

    /// With another part, of the same times.
    #[must_use]
    pub fn and(mut self, other: Fit) -> Fit {
        self.parts.extend(other.parts);
        self
    }

    /// The part of the amount that a month adds at the last point.
    pub(crate) fn speed(&self) -> f64 {
        let added = self.sum(ESTIMATE, |line, side| line.added(1.0, side));
        added / self.amount(0.0, ESTIMATE).max(1.0)
    }

    /// The likelier shape of the first part.
    pub(crate) fn shape(&self) -> Shape {
        self.parts[0].0[0].shape
    }

    /// The expected amount at a time in months, not before the last point, with the prediction interval for a report.
    pub fn at(&self, time: f64) -> Interval {
        let ahead = time - self.to;
        self.interval(|side| self.amount(ahead, side))
    }

    /// Growth at the last point.
    pub(crate) fn rate(&self) -> Rate {
        let added = |months, side| self.sum(side, |line, side| line.added(months, side));
        let now = self.amount(0.0, ESTIMATE).max(1.0);
        Rate {
            a_day: self.interval(|side| added(DAY, side)),
            a_month: (self.span >= LEAST_FOR_A_MONTH)
                .then(|| self.interval(|side| added(1.0, side) / now)),
        }
    }

    /// When the amount reaches `limit`, in months after the last point. If it reaches it later by a shape that the points
    /// do not rule out, or never, that is part of the interval.
    pub fn reaches(&self, limit: f64) -> Reached {
        let at = |side| first_time(|months| self.amount(months, side) >= limit).map(tidy);
        let ends = self.has_ends();
        Reached {
            estimate: at(ESTIMATE),
            low: at(HIGH).filter(|_| ends),
            high: at(LOW).filter(|_| ends),
        }
    }

    /// The amount some months after the last point.
    fn amount(&self, ahead: f64, side: Side) -> f64 {
        self.sum(side, |line, side| line.amount(line.level(ahead, side)))
            .clamp(0.0, MOST)
    }

    /// The sum of the parts. How far they are off is taken to be independent: squares add up.
    fn sum(&self, side: Side, amount: impl Fn(&Line, Side) -> f64) -> f64 {
        let estimates = self.parts.iter().map(|part| amount(&part.0[0], ESTIMATE));
        let off = |part: &Part| part.furthest(side, &amount) - amount(&part.0[0], ESTIMATE);
        let squares: f64 = self.parts.iter().map(|part| off(part).powi(2)).sum();
        estimates.sum::<f64>() + side * squares.sqrt()
    }

    fn interval(&self, amount: impl Fn(Side) -> f64) -> Interval {
        let end = |side| self.has_ends().then(|| tidy(amount(side)));
        Interval {
            estimate: tidy(amount(ESTIMATE)),
            low: end(LOW),
            high: end(HIGH),
        }
    }

    fn has_ends(&self) -> bool {
        self.parts[0].0[0].reach.is_some()
    }
}

impl Part {
    fn new(points: &[(f64, f64)]) -> Part {
        let is_positive = points.iter().all(|(_, amount)| *amount > 0.0);
        let count = if is_positive { 2 } else { 1 };
        let shapes = [Shape::Linear, Shape::Exponential].into_iter().take(count);
        let mut lines: Vec<Line> = shapes.map(|shape| Line::new(points, shape)).collect();
        lines.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        let least = lines[0].likelihood - RULED_OUT;
        lines.retain(|line| line.likelihood >= least);
        Part(lines)
    }

    /// The estimate of the likelier shape, or the end of an interval that spans all shapes.
    fn furthest(&self, side: Side, amount: impl Fn(&Line, Side) -> f64) -> f64 {
        if side == ESTIMATE {
            return amount(&self.0[0], side);
        }
        let amounts = self.0.iter().map(|line| side * amount(line, side));
        side * amounts.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The first time at which something holds, in months.
fn first_time(holds: impl Fn(f64) -> bool) -> Option<f64> {
    if holds(0.0) {
        return Some(0.0);
    }
    let (mut low, mut high) = (0.0, FIRST_STEP);
    while !holds(high) {
        (low, high) = (high, high * 1.05);
        if high > MOST_MONTHS {
            return None;
        }
    }
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            high = middle
        } else {
            low = middle
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(count: usize, amount: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let times = (0..count).map(|month| month as f64);
        times.map(|month| (month, amount(month))).collect()
    }

    fn wave(month: f64) -> f64 {
        1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin())
    }

    #[test]
    fn the_shape_is_the_one_that_the_points_have() {
        let doubling = Fit::new(&series(12, |month| 1000.0 * 1.06f64.powf(month))).unwrap();
        assert_eq!(doubling.shape(), Shape::Exponential);
        assert!((doubling.rate().a_month.unwrap().estimate - 0.06).abs() < 1e-9);
        let adding = Fit::new(&series(12, |month| 1000.0 + 500.0 * month)).unwrap();
        assert_eq!(adding.shape(), Shape::Linear);
        let a_month = adding.rate().a_month.unwrap();
        assert!((a_month.estimate - 500.0 / 6500.0).abs() < 1e-9);
        assert_eq!(adding.at(20.0).estimate, 11_000.0);
        let from_nothing = Fit::new(&series(4, |month| 500.0 * month)).unwrap();
        assert_eq!(from_nothing.shape(), Shape::Linear, "0 has no logarithm");
    }

    #[test]
    fn a_jump_long_ago_moves_the_level_and_not_the_outlook() {
        let jump = series(24, |month| if month < 12.0 { 1000.0 } else { 3000.0 });
        let Interval { estimate, low, .. } = Fit::new(&jump).unwrap().at(23.0);
        assert!((estimate - 3000.0).abs() < 1e-3 && low.unwrap() > 2900.0);
    }

    #[test]
    fn two_points_have_a_rate_and_no_interval_and_a_day_has_none() {
        let two = Fit::new(&[(0.0, 100.0), (2.0, 120.0)]).unwrap();
        let a_month = two.rate().a_month.unwrap();
        assert_eq!((a_month.low, a_month.high), (None, None));
        assert!((a_month.estimate - 10.0 / 120.0).abs() < 1e-9);
        let reached = two.reaches(150.0);
        assert!((reached.estimate.unwrap() - 3.0).abs() < 1e-6);
        assert_eq!((reached.low, reached.high), (None, None));
        assert_eq!(Fit::new(&[(0.0, 100.0), (0.01, 121.0)]), None);
        assert_eq!(Fit::new(&[(0.0, 100.0)]), None);
        assert_eq!(Fit::new(&[]), None);
    }

    #[test]
    fn what_shrinks_or_is_full_already_is_not_reached_later() {
        let shrinking = Fit::new(&series(4, |month| 1000.0 * 0.9f64.powf(month))).unwrap();
        assert_eq!(shrinking.reaches(2000.0).estimate, None);
        assert_eq!(shrinking.reaches(500.0).estimate, Some(0.0));
        let steady = Fit::new(&series(9, |_| 7.0)).unwrap();
        assert_eq!(steady.rate().a_day.estimate, 0.0);
        assert_eq!(steady.reaches(8.0).estimate, None);
    }

    #[test]
    fn a_point_that_the_others_contradict_moves_the_line_little() {
        let mut points = series(12, wave);
        let before = Fit::new(&points).unwrap();
        points[7].1 /= 2.0;
        let after = Fit::new(&points).unwrap();
        let moved = after.at(15.0).estimate / before.at(15.0).estimate;
        assert!((moved - 1.0).abs() < 0.07, "{moved}");
    }

    #[test]
    fn a_week_is_taken_out_from_two_of_them_on() {
        let daily = |days: usize, weekend: f64| -> Vec<(f64, f64)> {
            let amount = |day: usize| {
                let noise = [0.0, 3.0, -2.0, 1.0, -3.0][day * 7 % 5];
                let is_weekend = day % 7 >= 5;
                1000.0 + 10.0 * day as f64 + noise - if is_weekend { weekend } else { 0.0 }
            };
            (0..days)
                .map(|day| (day as f64 * DAY, amount(day)))
                .collect()
        };
        let width = |fit: &Fit| {
            let Interval { low, high, .. } = fit.at(87.0 * DAY);
            high.unwrap() - low.unwrap()
        };
        assert!(!Fit::new(&daily(14, 100.0)).unwrap().tells_seasons);
        let fit = Fit::new(&daily(27, 100.0)).unwrap();
        assert!(fit.tells_seasons);
        // The last day is a Saturday, 100 below the line.
        let level = 1000.0 + 260.0 - 100.0 * 2.0 / 7.0;
        assert!((fit.at(26.0 * DAY).estimate - level).abs() < 10.0);
        assert!((fit.rate().a_day.estimate - 10.0).abs() < 1.0);
        // A missing day leaves the week in the steps.
        let mut irregular = daily(27, 100.0);
        irregular.remove(9);
        let irregular = Fit::new(&irregular).unwrap();
        assert!(!irregular.tells_seasons);
        assert!(3.0 * width(&fit) < width(&irregular));
        // Without a season none is found.
        let plain = Fit::new(&daily(27, 0.0)).unwrap();
        assert_eq!(plain.parts[0].0[0].swing, 0.0);
    }

    #[test]
    fn absurd_growth_stays_a_number() {
        let fit = Fit::new(&[(0.0, 1.0), (0.04, 1e12), (0.08, u64::MAX as f64)]).unwrap();
        let found = [fit.at(100.0), fit.rate().a_day];
        let ends = found.map(|of| [Some(of.estimate), of.low, of.high]);
        assert!(
            ends.iter().flatten().all(|end| end.unwrap().abs() <= 1e30),
            "{found:?}"
        );
    }
}
