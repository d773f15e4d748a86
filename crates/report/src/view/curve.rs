//! Amounts over time: dots, the trend line extended into the future with its band, and the limit.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{amount, amount_cell, day};

use crate::palette::{ALARM, FRAME, INK, LIGHT_LOAD, LOAD};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Figure, Mark, Plot, Shape};

/// A picture does not start at 0 if all amounts are above this fraction of the largest.
const NEAR: f64 = 0.6;

/// Amounts over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The metric of the amounts.
    pub metric: Metric,
    /// The measured amounts in the order of their times.
    pub points: Vec<Measured>,
    /// The line, from the first point into the future.
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
    /// Whether the fit excludes it as an outlier.
    pub is_left_out: bool,
}

/// A point of the line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Its time, in seconds since 1970.
    pub at: u64,
    /// The amount.
    pub amount: f64,
    /// Lower and upper end of the band.
    pub band: Option<(f64, f64)>,
}

impl Curve {
    /// The picture.
    pub fn figure(&self, title: String) -> Figure {
        let measured = self.points.iter().map(|point| point.at);
        let times = measured.chain(self.line.iter().map(|point| point.at));
        let (from, to) = times.fold((f64::INFINITY, 0.0f64), |(from, to), at| {
            (from.min(at as f64), to.max(at as f64))
        });
        let (bottom, top) = (self.bottom(), self.top());
        let x = Axis::new((from.min(to), to)).in_numbers(Numbers::Moments);
        let y = Axis::new((bottom, top)).whole();
        let from_above = if bottom > 0.0 {
            "; the axis does not begin at 0"
        } else {
            ""
        };
        let (marks, key) = self.marks((from, to));
        Figure {
            title,
            along: String::new(),
            up: format!("{}{from_above}", self.metric.title()),
            key,
            plot: Plot::new(x, y.in_numbers(Numbers::of(self.metric))).with(marks),
        }
    }

    /// The marks, back to front, and the key.
    fn marks(&self, (from, to): (f64, f64)) -> (Vec<Mark>, Vec<(Mark, String)>) {
        let top = self.top();
        let shown = |line: Vec<Expected>| -> Vec<(f64, f64)> {
            let kept = line.into_iter().filter(|point| point.amount <= top);
            kept.map(|point| (point.at as f64, point.amount)).collect()
        };
        let band = |point: &Expected| point.band.map(|(low, high)| [point.at as f64, low, high]);
        let band: Vec<_> = self.line.iter().filter_map(band).collect();
        let (fitted, ahead) = self.fitted_and_ahead();
        let limit = self.shown_limit();
        let (mut marks, mut key) = (Vec::new(), Vec::new());
        let mut add = |shape: Shape, sample: Shape, colour, words: &str| {
            marks.push(shape.of(colour));
            key.push((sample.of(colour), String::from(words)));
        };
        if !band.is_empty() {
            let words = "95 of 100 reports are in it";
            add(
                Shape::Band(band),
                Shape::Band(vec![[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]),
                LIGHT_LOAD,
                words,
            );
        }
        if !fitted.is_empty() {
            add(
                Shape::Line(shown(fitted)),
                Shape::unit_line(),
                LOAD,
                "growth so far",
            );
        }
        if !ahead.is_empty() {
            add(
                Shape::Dashes(shown(ahead)),
                Shape::unit_dashes(),
                LOAD,
                "forecast",
            );
        }
        if let Some(limit) = limit {
            let line = Shape::Line(vec![(from, limit as f64), (to, limit as f64)]);
            let words = format!("limit {}", amount_cell(self.metric, limit));
            add(line, Shape::unit_line(), ALARM, &words);
        }
        key.push((Shape::unit_dot().of(INK), String::from("a report")));
        if self.points.iter().any(|point| point.is_left_out) {
            key.push((Shape::unit_dot().of(FRAME), String::from("left out")));
        }
        marks.extend(self.points.iter().map(|point| {
            let colour = if point.is_left_out { FRAME } else { INK };
            let held = amount(self.metric, point.amount as u64);
            let dot = Shape::Dot((point.at as f64, point.amount)).of(colour);
            dot.saying(format!("{}: {held}", day(point.at)))
        }));
        (marks, key)
    }

    /// The line up to the last measured amount, and beyond.
    fn fitted_and_ahead(&self) -> (Vec<Expected>, Vec<Expected>) {
        let now = self.points.iter().map(|point| point.at).max().unwrap_or(0);
        let (mut fitted, mut ahead): (Vec<Expected>, Vec<Expected>) =
            self.line.iter().partition(|point| point.at <= now);
        if let (Some(last), Some(next)) = (fitted.last(), ahead.first()) {
            let part = (now - last.at) as f64 / (next.at - last.at) as f64;
            let joint = Expected {
                at: now,
                amount: last.amount + part * (next.amount - last.amount),
                band: None,
            };
            fitted.push(joint);
            ahead.insert(0, joint);
        }
        (fitted, ahead)
    }

    /// The limit, unless it is above everything drawn.
    fn shown_limit(&self) -> Option<u64> {
        self.limit.filter(|limit| *limit as f64 <= self.top())
    }

    /// The lowest amount shown: 0, unless amounts are so close together that this would hide their growth.
    fn bottom(&self) -> f64 {
        let measured = self.points.iter().map(|point| point.amount);
        let amounts = measured.chain(self.line.iter().map(|point| point.amount));
        let least = amounts.fold(f64::INFINITY, f64::min);
        let top = self.top();
        if least.is_finite() && least > NEAR * top {
            (least - (top - least)).max(0.0)
        } else {
            0.0
        }
    }

    /// The highest amount drawn; the band may extend beyond.
    fn top(&self) -> f64 {
        let measured = self.points.iter().map(|point| point.amount);
        let most = measured.fold(1.0, f64::max);
        let ends = self.line.iter().map(|point| point.amount);
        // A steep line or a distant limit would flatten the rest.
        let end = ends.fold(most, f64::max);
        let line = end.min(4.0 * most);
        let limit = self.limit.map_or(0.0, |limit| limit as f64);
        let is_shown = limit <= end.max(2.0 * line);
        let limit = if is_shown { limit } else { 0.0 };
        line.max(limit) * 1.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_cut_where_the_forecast_begins() {
        let measured = |at| Measured {
            at,
            amount: 1.0,
            is_left_out: false,
        };
        let expected = |at, amount| Expected {
            at,
            amount,
            band: None,
        };
        let curve = Curve {
            metric: Metric::Keys,
            points: vec![measured(0), measured(30)],
            line: vec![expected(0, 1.0), expected(20, 3.0), expected(40, 5.0)],
            limit: None,
        };
        let (fitted, ahead) = curve.fitted_and_ahead();
        assert_eq!(
            fitted,
            [expected(0, 1.0), expected(20, 3.0), expected(30, 4.0)]
        );
        assert_eq!(ahead, [expected(30, 4.0), expected(40, 5.0)]);
    }

    #[test]
    fn a_limit_that_the_line_reaches_is_shown_however_far_it_is() {
        let expected = |at, amount| Expected {
            at,
            amount,
            band: None,
        };
        let curve = |end| Curve {
            metric: Metric::Bytes,
            points: vec![Measured {
                at: 0,
                amount: 1.0,
                is_left_out: false,
            }],
            line: vec![expected(0, 1.0), expected(20, end)],
            limit: Some(100),
        };
        assert_eq!(curve(101.0).shown_limit(), Some(100));
        assert_eq!(curve(10.0).shown_limit(), None);
    }
}
