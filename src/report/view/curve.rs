//! Amounts over time, the line through them and the band around it: what the picture of a page and a chart draw.

use crate::metric::Metric;

/// Amounts over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The metric of the amounts.
    pub metric: Metric,
    /// The measured amounts in the order of their times.
    pub points: Vec<Measured>,
    /// The line, from the first point on into the future.
    pub line: Vec<Expected>,
    /// An amount that must not be reached.
    pub limit: Option<u64>,
}

/// A measured amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Its time, in seconds since 1970.
    pub at: u64,
    /// The amount.
    pub amount: f64,
    /// Whether the line leaves it out.
    pub is_left_out: bool,
}

/// A point of the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Its time, in seconds since 1970.
    pub at: u64,
    /// The amount.
    pub amount: f64,
    /// The lower and the upper end of the band.
    pub band: Option<(f64, f64)>,
}

impl Curve {
    /// The first and the last time.
    pub fn times(&self) -> (u64, u64) {
        let measured = self.points.iter().map(|point| point.at);
        let all = measured.chain(self.line.iter().map(|point| point.at));
        let (from, to) = all.fold((u64::MAX, 0), |(from, to), at| (from.min(at), to.max(at)));
        (from.min(to), to)
    }

    /// The largest amount that is drawn: the band may go on above it.
    pub fn top(&self) -> f64 {
        let measured = self.points.iter().map(|point| point.amount);
        let most = measured.fold(1.0, f64::max);
        let ends = self.line.iter().map(|point| point.amount);
        // A line that shoots up, or a limit far away, would press the rest to the ground.
        let line = ends.fold(most, f64::max).min(4.0 * most);
        let limit = self.limit.map_or(0.0, |limit| limit as f64);
        let limit = if limit <= 2.0 * line { limit } else { 0.0 };
        line.max(limit) * 1.1
    }
}
