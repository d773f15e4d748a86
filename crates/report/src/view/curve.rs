//! Amounts over time with a trend line and its band: the content of the page's picture and of a chart.

use slotscope_engine::metric::Metric;

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
    /// The first and the last time.
    pub(crate) fn times(&self) -> (u64, u64) {
        let measured = self.points.iter().map(|point| point.at);
        let moments = measured.chain(self.line.iter().map(|point| point.at));
        let (from, to) = moments.fold((u64::MAX, 0), |(from, to), at| (from.min(at), to.max(at)));
        (from.min(to), to)
    }

    /// The line up to the last measured amount, and beyond.
    pub(crate) fn fitted_and_ahead(&self) -> (Vec<Expected>, Vec<Expected>) {
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
    pub(crate) fn shown_limit(&self) -> Option<u64> {
        self.limit.filter(|limit| *limit as f64 <= self.top())
    }

    /// The legend of a picture.
    pub(crate) fn key(&self) -> Vec<&'static str> {
        let (fitted, ahead) = self.fitted_and_ahead();
        let is_left_out = self.points.iter().any(|point| point.is_left_out);
        let has_band = self.line.iter().any(|point| point.band.is_some());
        let key = [
            Some("dots: reports"),
            is_left_out.then_some("grey dots: left out"),
            (!fitted.is_empty()).then_some("line: growth so far"),
            (!ahead.is_empty()).then_some("dashes: forecast"),
            has_band.then_some("band: 95 of 100 reports are in it"),
            (self.bottom() > 0.0).then_some("the axis does not begin at 0"),
        ];
        key.into_iter().flatten().collect()
    }

    /// The lowest amount shown: 0, unless amounts are so close together that this would hide their growth.
    pub(crate) fn bottom(&self) -> f64 {
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
    pub(crate) fn top(&self) -> f64 {
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
