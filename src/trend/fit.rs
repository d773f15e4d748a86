//! A line through amounts over time, by least squares, and how far off it may be: on the logarithms of the amounts, which
//! is growth by a percentage a month, or on the amounts themselves, which is growth by an amount a month.

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_findings::summary::balance::tidy;

use crate::trend::interval::{Interval, Reached};
use crate::trend::student::t95;

/// A forecast does not go further.
pub(crate) const MOST_MONTHS: f64 = 1200.0;
/// Over less time than this, in months, no growth is computed: one day.
pub(crate) const LEAST_MONTHS: f64 = 12.0 / 365.25;
/// Fewer points than this do not choose between the shapes.
const CHOOSING: usize = 5;
/// A line on the amounts is chosen where it is 20 times as likely, e^3: chance rarely makes it so.
const LIKELIER: f64 = 3.0;
/// From this many points on, the best fit alone gives the interval. Fewer do not show which shape growth has and whether
/// deviations persist: the interval is then wide enough for all of them. (With the best fit alone, intervals held in 72 of
/// 100 random walks of 5 points, in 74 of 100 linear growths of 8, in 46 of 100 series with a step.)
pub(crate) const SETTLED: usize = 24;
/// Points that are needed to see that deviations persist, and how alike neighbours are where they do: of independent
/// ones fewer than a tenth are, and for these the wider interval is right too.
const PERSISTING: usize = 8;
const ALIKE: f64 = 0.2;
/// A point is far off where it is this many times as far from the others' line as their interval reaches.
const FAR: f64 = 3.0;
/// Steps in which a crossing is searched, in months.
const STEP: f64 = 0.25;
/// Larger amounts are refused.
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

/// How reports deviate from steady growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Deviations {
    /// Each by itself: the line is the best fit through all, and the interval is around it.
    Independent,
    /// Each continues from the one before, as what is added or removed stays so (a random walk with drift): the forecast
    /// continues from the newest, and the interval widens with time.
    Persistent,
}

/// A line through points.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The scale on which it is a line.
    pub shape: Shape,
    /// How the points deviate from it.
    pub deviations: Deviations,
    /// How many points it goes through.
    pub count: usize,
    /// The time of the last point, in months.
    pub to: f64,
    /// Months from the first point to the last.
    pub span: f64,
    /// How alike neighbouring deviations are, from -1 to 1: near 0 where they are independent; absent below 8 points.
    pub autocorrelation: Option<f64>,
    /// A time and the level of the line then: the mean of all points, or the last point.
    origin: (f64, f64),
    slope: f64,
    /// The spread of the slope is that of a point, divided by the root of this.
    leverage: f64,
    /// Standard deviation of the points around the line, or of a month's step, times Student's t; absent where two points
    /// leave none.
    spread: Option<f64>,
    squared_deviations: f64,
    /// The other fits that so few points do not rule out; the interval spans theirs.
    rivals: Vec<Fit>,
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
        let fit = Fit::independent(points)?;
        let persists = fit.autocorrelation.is_some_and(|alike| alike > ALIKE);
        let fit = Fit {
            rivals: Fit::rivals(points),
            ..fit
        };
        Some(if persists {
            fit.persistent(points)
        } else {
            fit
        })
    }

    /// A fit of each shape, with deviations of each kind, where the points are too few to choose between them.
    fn rivals(points: &[(f64, f64)]) -> Vec<Fit> {
        if points.len() >= SETTLED {
            return Vec::new();
        }
        let positive = points.iter().all(|(_, amount)| *amount > 0.0);
        let shapes = [Shape::Linear, Shape::Exponential].into_iter();
        let shapes = shapes.filter(|shape| *shape == Shape::Linear || positive);
        let fits = shapes.filter_map(|shape| Fit::shaped(points, shape));
        fits.flat_map(|fit| [fit.clone(), fit.persistent(points)])
            .collect()
    }

    /// The same, where the points deviate each by itself.
    fn independent(points: &[(f64, f64)]) -> Option<Fit> {
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

    /// Least squares.
    fn shaped(points: &[(f64, f64)], shape: Shape) -> Option<Fit> {
        let (first, last) = (points.first()?.0, points.last()?.0);
        if last - first < LEAST_MONTHS {
            return None;
        }
        let count = points.len();
        let levels: Vec<(f64, f64)> = shape.levels(points);
        let mean =
            |value: fn(&(f64, f64)) -> f64| levels.iter().map(value).sum::<f64>() / count as f64;
        let (mean_time, mean_level) = (mean(|point| point.0), mean(|point| point.1));
        let away = |(time, level): &(f64, f64)| (time - mean_time, level - mean_level);
        let away: Vec<(f64, f64)> = levels.iter().map(away).collect();
        let squares: f64 = away.iter().map(|(time, _)| time * time).sum();
        let products: f64 = away.iter().map(|(time, level)| time * level).sum();
        let slope = products / squares;
        let deviations = away.iter().map(|(time, level)| level - slope * time);
        let deviations: Vec<f64> = deviations.collect();
        let squared_deviations: f64 = deviations.iter().map(|off| off * off).sum();
        let neighbours = deviations.windows(2).map(|pair| pair[0] * pair[1]);
        let alike = tidy(neighbours.sum::<f64>() / squared_deviations);
        let freedom = count - 2;
        Some(Fit {
            shape,
            deviations: Deviations::Independent,
            count,
            to: last,
            span: last - first,
            autocorrelation: (count >= PERSISTING).then_some(alike),
            origin: (mean_time, mean_level),
            slope,
            leverage: squares,
            spread: (freedom > 0)
                .then(|| (squared_deviations / freedom as f64).sqrt() * t95(freedom)),
            squared_deviations,
            rivals: Vec::new(),
        })
    }

    /// The same points as a random walk: its drift is the difference of the first and the last. Two leave no interval.
    pub(crate) fn persistent(self, points: &[(f64, f64)]) -> Fit {
        let levels = self.shape.levels(points);
        let (Some(first), Some(last)) = (levels.first(), levels.last()) else {
            return self;
        };
        let slope = (last.1 - first.1) / self.span;
        let step = |pair: &[(f64, f64)]| pair[1].1 - pair[0].1 - slope * (pair[1].0 - pair[0].0);
        let squares: f64 = levels.windows(2).map(|pair| step(pair).powi(2)).sum();
        // A step varies with its length. Sums, not quotients: two reports of one hour do not outweigh the others.
        let freedom = self.count.saturating_sub(2);
        let variance = squares / self.span * (freedom + 1) as f64 / freedom.max(1) as f64;
        Fit {
            deviations: Deviations::Persistent,
            origin: *last,
            slope,
            leverage: self.span,
            spread: (freedom > 0).then(|| variance.sqrt() * t95(freedom)),
            ..self
        }
    }

    /// The logarithm of the likelihood of the amounts, up to a constant: that of logarithms has their derivative too.
    fn likelihood(&self, points: &[(f64, f64)]) -> f64 {
        let count = points.len() as f64;
        let logarithms = match self.shape {
            Shape::Exponential => points.iter().map(|(_, amount)| amount.ln()).sum(),
            Shape::Linear => 0.0,
        };
        // Amounts are integers: a line is never closer to them than rounding.
        let scale = match self.shape {
            Shape::Exponential => 1e-12,
            Shape::Linear => 1e-12 * self.origin.1.abs().max(1.0),
        };
        let variance = self.squared_deviations / count + scale * scale;
        -count / 2.0 * variance.ln() - logarithms
    }

    /// The amount to expect at a time in months, and the interval that a report of then is within; what persists has none
    /// before the last point.
    pub fn at(&self, time: f64) -> Interval {
        let rivals = self.rivals.iter().map(|rival| rival.own_at(time));
        Interval::spanning(self.own_at(time), rivals)
    }

    fn own_at(&self, time: f64) -> Interval {
        let side = |side| tidy(self.amount(self.level(time, side)));
        let is_known = self.deviations == Deviations::Independent || time >= self.to;
        let spread = self.spread.filter(|_| is_known);
        Interval {
            estimate: side(Side::Estimate),
            low: spread.map(|_| side(Side::Low)),
            high: spread.map(|_| side(Side::High)),
        }
    }

    /// The growth a month at the time of the last point, as a part of the amount.
    pub(crate) fn growth(&self) -> Interval {
        Interval::spanning(self.own_growth(), self.rivals.iter().map(Fit::own_growth))
    }

    fn own_growth(&self) -> Interval {
        let share = |slope: f64| match self.shape {
            Shape::Exponential => tidy(slope.exp_m1().min(MOST)),
            Shape::Linear => {
                let last = self.level(self.to, Side::Estimate);
                tidy(if last > 0.0 { slope / last } else { 0.0 })
            }
        };
        let off = self.spread.map(|spread| spread / self.leverage.sqrt());
        Interval {
            estimate: share(self.slope),
            low: off.map(|off| share(self.slope - off)),
            high: off.map(|off| share(self.slope + off)),
        }
    }

    /// When, in months after the last point, the amount is `limit`.
    pub fn reaches(&self, limit: f64) -> Reached {
        let rivals = self.rivals.iter().map(|rival| rival.own_reaches(limit));
        Reached::spanning(self.own_reaches(limit), rivals)
    }

    fn own_reaches(&self, limit: f64) -> Reached {
        let at = |side| self.crossing(limit, side).map(tidy);
        let ends = self.spread.is_some();
        Reached {
            estimate: at(Side::Estimate),
            low: at(Side::High).filter(|_| ends),
            high: at(Side::Low).filter(|_| ends),
        }
    }

    /// The place of the point that is furthest off the line of all others, and the amount on that line; `None` if no point
    /// is further off than chance explains.
    pub fn outlier(points: &[(f64, f64)]) -> Option<(usize, f64)> {
        if points.len() < PERSISTING {
            return None;
        }
        let off = |place: usize| {
            let mut others = points.to_vec();
            let (time, amount) = others.remove(place);
            let fit = Fit::independent(&others)?;
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
            if is_over(middle) {
                high = middle
            } else {
                low = middle
            }
        }
        Some(high)
    }

    /// The line, or an end of the interval of one more point.
    fn level(&self, time: f64, side: Side) -> f64 {
        let away = time - self.origin.0;
        let line = self.origin.1 + self.slope * away;
        let of_slope = away * away / self.leverage;
        let variance = match self.deviations {
            Deviations::Independent => 1.0 + 1.0 / self.count as f64 + of_slope,
            Deviations::Persistent => away.max(0.0) + of_slope,
        };
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
    fn levels(self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let level = |(time, amount): &(f64, f64)| (*time, self.level(*amount));
        points.iter().map(level).collect()
    }

    /// The value that a line is drawn through.
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
        assert_eq!(steady.growth().estimate, 0.0);
        assert_eq!(steady.deviations, Deviations::Independent);
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
            low < estimate && estimate < high && high < 75.0,
            "{low} {estimate} {high}"
        );
    }

    #[test]
    fn a_forecast_goes_on_from_the_last_point_where_deviations_persist() {
        let wave = |month: f64| 1000.0 * 1.05f64.powf(month) * (1.0 + 0.02 * (2.0 * month).sin());
        let fit = Fit::of(&series(24, wave)).unwrap();
        assert_eq!(fit.deviations, Deviations::Independent);
        let jump = series(24, |month| if month < 12.0 { 1000.0 } else { 3000.0 });
        let fit = Fit::of(&jump).unwrap();
        assert_eq!(fit.deviations, Deviations::Persistent);
        let width = |month: f64| {
            let Interval { low, high, .. } = fit.at(month);
            high.unwrap().ln() - low.unwrap().ln()
        };
        assert!((fit.at(23.0).estimate - 3000.0).abs() < 1e-3 && width(23.0) < 1e-6);
        assert!(width(24.0) < width(26.0) && width(26.0) < width(35.0));
        assert_eq!(fit.at(22.0).low, None);
        // One step of ln 3 in 23 months: s^2 = (ln 3 - d)^2 + 22 d^2 over 22, where d = ln 3 / 23; t of 22 = 2.0739.
        let (all, drift) = (3f64.ln(), 3f64.ln() / 23.0);
        let spread = (((all - drift).powi(2) + 22.0 * drift * drift) / 22.0).sqrt();
        let off = 2.073_873 * spread * (4.0f64 + 16.0 / 23.0).sqrt();
        assert!(
            (width(27.0) / 2.0 - off).abs() < 1e-4,
            "{} {off}",
            width(27.0) / 2.0
        );
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
