//! A line through the last of some amounts or of their logarithms: a random walk with a drift.

use serde::Serialize;

use crate::capacity::season::{Season, Step, period};

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
pub(super) const MOST: f64 = 1e30;

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

impl Shape {
    /// The value to fit a line through.
    pub(super) fn level(self, amount: f64, unit: f64) -> f64 {
        match self {
            Shape::Linear => amount,
            Shape::Exponential => unit * amount.ln(),
        }
    }
}

/// A line through the last amount or its logarithm.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub shape: Shape,
    /// The geometric mean of the amounts. Logarithms are scaled by it, so that deviations of both shapes have the same
    /// unit (Box and Cox 1964).
    unit: f64,
    /// The level at the last point.
    now: f64,
    slope: f64,
    /// Variance in units of that of a step: per month, and per month squared (from the slope).
    variance: [f64; 2],
    /// The standard deviation of a step times Student's t; absent for two points, which leave no residual.
    pub reach: Option<f64>,
    /// How far a season leads from the level.
    pub swing: f64,
    /// The log likelihood, up to a constant.
    pub likelihood: f64,
}

/// One side of an interval, as a factor of its half width.
pub(super) type Side = f64;
pub(super) const LOW: Side = -1.0;
pub(super) const ESTIMATE: Side = 0.0;
pub(super) const HIGH: Side = 1.0;

impl Line {
    pub(super) fn new(points: &[(f64, f64)], shape: Shape) -> Line {
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
    pub(super) fn level(&self, ahead: f64, side: Side) -> f64 {
        let [by_month, by_square] = self.variance;
        let variance = by_month * ahead + by_square * ahead * ahead;
        let reach = self.reach.unwrap_or(0.0) * variance.max(0.0).sqrt();
        self.now + self.slope * ahead + side * (reach + self.swing)
    }

    /// The amount added by some months.
    pub(super) fn added(&self, months: f64, side: Side) -> f64 {
        let off = side * self.reach.unwrap_or(0.0) * self.variance[1].sqrt();
        self.amount(self.now + (self.slope + off) * months) - self.amount(self.now)
    }

    pub(super) fn amount(&self, level: f64) -> f64 {
        match self.shape {
            Shape::Linear => level.clamp(0.0, MOST),
            Shape::Exponential => (level / self.unit).exp().min(MOST),
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
