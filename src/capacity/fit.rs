//! Lines through amounts over time, with 95% prediction intervals.
//!
//! Growth is linear or exponential, and each report adds a deviation that stays: a random walk with a drift, of which the last
//! point is known. The drift is the mean of the steps between reports, with reduced weights for outliers (Huber 1964). The
//! likelier shape gives the estimate; the interval spans both where the points do not rule one out. Where deviations do not
//! stay, it is wider than it had to be. Steps that repeat by the week or the year are taken out first, from two periods on.

use serde::Serialize;

use slotscope_model::balance::tidy;

use crate::capacity::season::{DAY, Season, Step, period};

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
/// Relative precision limit of reported amounts, however straight a line few points make.
const EXACT: f64 = 0.001;
/// A step further off than this many typical deviations weighs less; needs at least five points to tell what is typical.
const FAR: f64 = 3.0;
const WEIGHED: usize = 5;
/// Steps of many reports are taken together, to this many or a few more: fewer would tell too little of how far off they are.
const BLOCKS: usize = 8;
/// Iterations for the weights to converge.
const ROUNDS: usize = 8;
/// Larger amounts are rejected.
const MOST: f64 = 1e30;

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

/// How something grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// By the same amount each month.
    Linear,
    /// By the same percentage each month.
    Exponential,
}

/// The shapes that the points do not rule out, likeliest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The time of the last point, in months.
    to: f64,
    /// Months from the first point to the last.
    pub span: f64,
    /// Whether there are enough regular points to tell a season.
    pub tells_seasons: bool,
    lines: Vec<Line>,
}

/// A line through the last amount or its logarithm.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    shape: Shape,
    /// The geometric mean of the amounts. Logarithms are scaled by it, so that deviations of both shapes have the same
    /// unit (Box and Cox 1964).
    unit: f64,
    /// The level at the last point.
    now: f64,
    slope: f64,
    /// Variance in units of that of a step: per month, and per month squared (from the slope).
    variance: [f64; 2],
    /// The standard deviation of a step times Student's t; absent for two points, which leave no residual.
    reach: Option<f64>,
    /// How far a season leads from the level.
    swing: f64,
    /// The log likelihood, up to a constant.
    likelihood: f64,
}

/// One side of an interval, as a factor of its half width.
type Side = f64;
const LOW: Side = -1.0;
const ESTIMATE: Side = 0.0;
const HIGH: Side = 1.0;

impl Fit {
    /// The fit for `points`, as month and amount by time; `None` for fewer than two points, or within a day.
    pub fn new(points: &[(f64, f64)]) -> Option<Fit> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        if last - first < LEAST_MONTHS {
            return None;
        }
        let is_positive = points.iter().all(|(_, amount)| *amount > 0.0);
        let count = if is_positive { 2 } else { 1 };
        let shapes = [Shape::Linear, Shape::Exponential].into_iter().take(count);
        let mut lines: Vec<Line> = shapes.map(|shape| Line::new(points, shape)).collect();
        lines.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
        let least = lines.first()?.likelihood - RULED_OUT;
        lines.retain(|line| line.likelihood >= least);
        Some(Fit {
            to: last,
            span: last - first,
            tells_seasons: period(points).is_some(),
            lines,
        })
    }

    /// The likelier shape.
    pub(crate) fn shape(&self) -> Shape {
        self.lines[0].shape
    }

    /// The expected amount at a time in months, not before the last point, with the prediction interval for a report.
    pub fn at(&self, time: f64) -> Interval {
        let ahead = time - self.to;
        self.spanning(|line, side| line.amount(line.level(ahead, side)))
    }

    /// Growth at the last point.
    pub(crate) fn rate(&self) -> Rate {
        let part = |line: &Line, side| line.added(1.0, side) / line.amount(line.now).max(1.0);
        Rate {
            a_day: self.spanning(|line, side| line.added(DAY, side)),
            a_month: (self.span >= LEAST_FOR_A_MONTH).then(|| self.spanning(part)),
        }
    }

    /// When the amount reaches `limit`, in months after the last point.
    pub fn reaches(&self, limit: f64) -> Reached {
        let at = |side| self.lines.iter().map(move |line| line.reaches(limit, side));
        let ends = self.lines[0].reach.is_some();
        // If a shape reaches the limit later, or never, that is part of the interval.
        let latest = at(LOW).try_fold(0.0, |latest: f64, months| Some(latest.max(months?)));
        let earliest = at(HIGH).flatten().reduce(f64::min);
        Reached {
            estimate: at(ESTIMATE).next().flatten().map(tidy),
            low: earliest.filter(|_| ends).map(tidy),
            high: latest.filter(|_| ends).map(tidy),
        }
    }

    /// The estimate of the likelier shape, and the interval spanning all shapes.
    fn spanning(&self, amount: impl Fn(&Line, Side) -> f64) -> Interval {
        let ends = self.lines[0].reach.is_some();
        let end = |side, further: fn(f64, f64) -> f64| {
            let amounts = self.lines.iter().map(|line| amount(line, side));
            amounts.reduce(further).filter(|_| ends).map(tidy)
        };
        Interval {
            estimate: tidy(amount(&self.lines[0], ESTIMATE)),
            low: end(LOW, f64::min),
            high: end(HIGH, f64::max),
        }
    }
}

impl Line {
    fn new(points: &[(f64, f64)], shape: Shape) -> Line {
        let count = points.len() as f64;
        let logarithms = points.iter().map(|(_, amount)| amount.max(1.0).ln());
        let unit = (logarithms.sum::<f64>() / count).exp();
        let level = |at: usize| shape.level(points[at].1, unit);
        let steps: Vec<Step> = (1..points.len())
            .map(|at| (points[at].0 - points[at - 1].0, level(at) - level(at - 1)))
            .collect();
        let (exact, last) = (EXACT * unit, points.len() - 1);
        let span = points[last].0 - points[0].0;
        let season = period(points).and_then(|period| Season::of(&steps, period));
        let season = season.unwrap_or_else(|| Season::none(&steps));
        // Over several reports, deviations that pass cancel out, and those that stay add up.
        let size = (season.steps.len() / BLOCKS).max(1);
        let whole = |steps: &[Step]| {
            let (months, changes): (Vec<f64>, Vec<f64>) = steps.iter().copied().unzip();
            (months.iter().sum(), changes.iter().sum())
        };
        let steps: Vec<Step> = season.steps.rchunks(size).map(whole).collect();
        let gap = span / steps.len() as f64;
        let (slope, weights) = drift(&steps, gap, exact);
        let weighed = steps.iter().zip(&weights);
        let squares = weighed.map(|(step, weight)| weight * off(step, slope, gap).powi(2));
        let months: f64 = steps
            .iter()
            .zip(&weights)
            .map(|(step, weight)| weight * step.0)
            .sum();
        let freedom = (steps.len() - 1).min(points.len() - 2 - season.parameters);
        let squares = squares.sum::<f64>() + freedom as f64 * exact * exact;
        let squares = squares.max(f64::MIN_POSITIVE);
        let spread = (squares / freedom as f64).sqrt();
        // The shape is chosen by the same few points.
        let chosen = 1.0 + 1.0 / freedom as f64;
        Line {
            shape,
            unit,
            now: level(last) - season.now,
            slope,
            variance: [1.0 / gap, 1.0 / (gap * months)],
            reach: (freedom > 0).then(|| spread * t95(freedom) * chosen),
            swing: season.swing,
            likelihood: -(freedom as f64) * squares.ln() / 2.0,
        }
    }

    /// The level some months after the last point, or an end of the prediction interval.
    fn level(&self, ahead: f64, side: Side) -> f64 {
        let [by_month, by_square] = self.variance;
        let variance = by_month * ahead + by_square * ahead * ahead;
        let reach = self.reach.unwrap_or(0.0) * variance.max(0.0).sqrt();
        self.now + self.slope * ahead + side * (reach + self.swing)
    }

    /// The amount added by some months.
    fn added(&self, months: f64, side: Side) -> f64 {
        let off = side * self.reach.unwrap_or(0.0) * self.variance[1].sqrt();
        self.amount(self.now + (self.slope + off) * months) - self.amount(self.now)
    }

    /// The first time after the last point at which a side of the interval reaches `limit`.
    fn reaches(&self, limit: f64, side: Side) -> Option<f64> {
        let limit = self.shape.level(limit, self.unit);
        let is_over = |months: f64| self.level(months, side) >= limit;
        if is_over(0.0) {
            return Some(0.0);
        }
        let (mut low, mut high) = (0.0, FIRST_STEP);
        while !is_over(high) {
            (low, high) = (high, high * 1.05);
            if high > MOST_MONTHS {
                return None;
            }
        }
        for _ in 0..50 {
            let middle = (low + high) / 2.0;
            if is_over(middle) {
                high = middle
            } else {
                low = middle
            }
        }
        Some(high)
    }

    fn amount(&self, level: f64) -> f64 {
        match self.shape {
            Shape::Linear => level.clamp(0.0, MOST),
            Shape::Exponential => (level / self.unit).exp().min(MOST),
        }
    }
}

impl Shape {
    /// The value to fit a line through.
    fn level(self, amount: f64, unit: f64) -> f64 {
        match self {
            Shape::Linear => amount,
            Shape::Exponential => unit * amount.ln(),
        }
    }
}

/// The deviation of a step from the drift, as that of a step of `gap` months.
fn off((months, change): &Step, slope: f64, gap: f64) -> f64 {
    (change - slope * months).abs() / (months / gap).sqrt()
}

/// The mean change a month, with reduced weights for outliers, and the weights.
fn drift(steps: &[Step], gap: f64, exact: f64) -> (f64, Vec<f64>) {
    let slope = |weights: &[f64]| {
        let sum = |part: fn(&Step) -> f64| -> f64 {
            let weighed = steps.iter().zip(weights);
            weighed.map(|(step, weight)| weight * part(step)).sum()
        };
        sum(|step| step.1) / sum(|step| step.0)
    };
    let count = steps.len();
    let mut weights = vec![1.0; count];
    for _ in 0..if count + 1 < WEIGHED { 0 } else { ROUNDS } {
        let slope = slope(&weights);
        let offs = steps.iter().map(|step| off(step, slope, gap));
        let mut sorted: Vec<f64> = offs.clone().collect();
        sorted.sort_by(f64::total_cmp);
        // 1.4826 times the median absolute deviation estimates the standard deviation; a degree of freedom is used up.
        let typical = 1.4826 * sorted[count / 2] * (count as f64 / (count - 1) as f64).sqrt();
        let far = FAR * typical.max(exact);
        weights = offs.map(|off| (far / off).min(1.0)).collect();
    }
    (slope(&weights), weights)
}

/// The two-sided 95% quantile of Student's t with `freedom` degrees of freedom, to 0.005 (Abramowitz and Stegun 1972,
/// 26.7.5).
fn t95(freedom: usize) -> f64 {
    const FEW: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    let (z, n): (f64, f64) = (1.959_964, freedom as f64);
    let square = z * z;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let many = z * (1.0 + first / n + second / n.powi(2) + third / n.powi(3));
    FEW.get(freedom - 1).copied().unwrap_or(many)
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
    fn lines_have_the_intervals_of_the_textbook() {
        // x 1..4, y 1, 3, 2, 5 (by hand), 3 after the last; t of 2 = 4.303. Steps 2, -1, 3, drift 4 / 3, s^2 = 26 / 3 / 2.
        let points = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 5.0)];
        let line = Line::new(&points, Shape::Linear);
        // Half as much again, as the shape is chosen by the same points.
        let off = 1.5 * 4.303 * f64::sqrt(26.0 / 6.0 * (3.0 + 9.0 / 3.0));
        for side in [LOW, ESTIMATE, HIGH] {
            let level = line.level(3.0, side);
            assert!((level - 9.0 - side * off).abs() < 1e-3, "{line:?}");
        }
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
        assert_eq!(plain.lines[0].swing, 0.0);
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

    #[test]
    fn t_is_that_of_the_printed_tables() {
        for (freedom, printed) in [
            (1, 12.706),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (10, 2.228),
            (29, 2.045),
            (1000, 1.962),
        ] {
            let t = t95(freedom);
            assert!((t - printed).abs() < 0.005, "{freedom}: {t}");
        }
    }
}
