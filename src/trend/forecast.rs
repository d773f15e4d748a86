//! How fast the data grows, the forecast, and when the fullest node is full.

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::metric::{Metric, PerMetric, PerWeight};
use slotscope_engine::name::Name;
use slotscope_findings::summary::balance::tidy;

use crate::trend::fit::{Deviations, Fit, Shape};
use crate::trend::interval::{Interval, Reached};
use crate::trend::point::{Condensed, FullestAt};

/// Seconds of a month: a twelfth of a year of the calendar.
pub const MONTH_SECS: f64 = 365.25 * 86_400.0 / 12.0;
/// Months ahead, as far as the reports reach back.
const AHEAD: [u32; 5] = [1, 3, 6, 12, 24];

/// The forecast, if growth continues as before.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// The time of the newest report that growth is computed from, in seconds since 1970 (UTC).
    pub from: u64,
    /// Months from the first such report to that one.
    pub span_months: f64,
    /// Growth by metric.
    pub growth: PerMetric<Growth>,
    /// When the fullest node is full; absent where no report has bytes, or no memory limit is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<Full>,
}

/// The growth of all data in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Growth {
    /// How many reports it is computed from.
    pub reports: u64,
    /// Whether by the same percentage or the same amount each month.
    pub shape: Shape,
    /// As a part of all data, a month; 0.05 for 5%.
    pub a_month: Interval,
    /// The result.
    pub ahead: Vec<Ahead>,
    /// How reports deviate from it.
    pub deviations: Deviations,
    /// How alike the deviations of neighbouring reports are, from -1 to 1; absent below 8 reports.
    pub autocorrelation: Option<f64>,
    /// The line itself, for the charts.
    #[serde(skip)]
    pub line: Line,
}

/// The numbers of a later report.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ahead {
    /// Months after the newest report.
    pub months: u32,
    /// When that is, in seconds since 1970 (UTC).
    pub at: u64,
    /// All load then, and its interval in 95 of 100 cases.
    pub load: Interval,
}

/// When the fullest node is full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Full {
    /// The fullest node of the newest report.
    pub node: FullestAt,
    /// The basis of its growth.
    pub basis: Basis,
    /// Bytes that a node may use.
    pub maxmemory: u64,
    /// Bytes that the node uses.
    pub used: u64,
    /// Whether `used` is the memory that servers use, not the bytes of the dump alone.
    pub measured: bool,
    /// When, in months after the newest report; 0 where it is full.
    pub months: Reached,
    /// When by the estimate, in seconds since 1970 (UTC).
    pub at: Option<u64>,
    /// The forecast of an earlier report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_forecast: Option<LastForecast>,
    /// The line itself, for the charts.
    #[serde(skip)]
    pub line: Line,
}

/// The basis of the fullest node's growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The fullest node of each report: all have the same nodes and slots.
    FullestNodes,
    /// All data, of which the node keeps the part that it has in the newest report: nodes or slots changed.
    AllData,
}

/// The newest forecast that a report carries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LastForecast {
    /// The report.
    pub file: Name,
    /// Its time, in seconds since 1970 (UTC).
    pub at: u64,
    /// The node that was to be full first.
    pub node: Name,
    /// Bytes that a node was to use at most.
    pub maxmemory: u64,
    /// In this many months.
    pub months: f64,
    /// The time of that, in seconds since 1970 (UTC).
    pub full_at: u64,
}

/// Amounts over time and the line through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Times in seconds since 1970, and amounts.
    pub points: Vec<(u64, f64)>,
    /// The first of these times, which the fit counts months from.
    pub start: u64,
    /// The line through them.
    pub fit: Fit,
    /// The factor of its amounts.
    pub scale: f64,
}

impl Line {
    /// Through amounts over time; `None` where they are too few, or too near to each other.
    fn of(points: Vec<(u64, f64)>) -> Option<Line> {
        let start = points.first()?.0;
        let fit = Fit::of(&by_month(&points))?;
        Some(Line {
            points,
            start,
            fit,
            scale: 1.0,
        })
    }

    /// The same, whose points deviate as those of `other` where these persist: chance may hide it in one of two lines.
    fn like(self, other: &Line) -> Line {
        let fit = match other.fit.deviations {
            Deviations::Persistent => self.fit.persistent(&by_month(&self.points)),
            Deviations::Independent => self.fit,
        };
        Line { fit, ..self }
    }

    /// The line at a time, and the interval around it.
    pub(crate) fn at(&self, at: u64) -> Interval {
        let scaled = |amount: f64| tidy(amount * self.scale);
        let Interval {
            estimate,
            low,
            high,
        } = self.fit.at(months(self.start, at));
        Interval {
            estimate: scaled(estimate),
            low: low.map(scaled),
            high: high.map(scaled),
        }
    }
}

/// The same points by months since the first.
fn by_month(points: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let start = points.first().map_or(0, |(at, _)| *at);
    let month = |(at, amount): &(u64, f64)| (months(start, *at), *amount);
    points.iter().map(month).collect()
}

/// Months from one time to a later one.
pub fn months(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / MONTH_SECS
}

/// The time this many months after another.
fn after(at: u64, months: f64) -> u64 {
    at.saturating_add((months * MONTH_SECS) as u64)
}

impl Forecast {
    /// From the reports that growth is computed from; `None` where they are fewer than two or within a day.
    pub(crate) fn of(
        reports: &[&Condensed],
        maxmemory: Option<u64>,
        earlier: &[Condensed],
    ) -> Option<Self> {
        let growth = PerMetric {
            keys: Growth::of(reports, Metric::Keys)?,
            weights: PerWeight::from_fn(|metric| Growth::of(reports, metric)),
        };
        let from = reports.last()?.point.at;
        let mut full = growth
            .bytes()
            .and_then(|growth| Full::of(reports, growth, maxmemory.or(last_limit(earlier))?));
        if let Some(full) = &mut full {
            full.last_forecast = LastForecast::of(earlier, from);
        }
        Some(Forecast {
            from,
            span_months: tidy(growth.keys.line.fit.span),
            growth,
            full,
        })
    }
}

impl Growth {
    fn of(reports: &[&Condensed], metric: Metric) -> Option<Self> {
        let point = |report: &&Condensed| {
            let load = report.point.load.get(metric)?;
            Some((report.point.at, *load as f64))
        };
        let line = Line::of(reports.iter().filter_map(point).collect())?;
        let from = line.points.last()?.0;
        let ahead = AHEAD
            .into_iter()
            .filter(|ahead| f64::from(*ahead) <= line.fit.span + 0.5);
        let ahead = ahead.map(|months| {
            let at = after(from, months.into());
            let load = line.at(at);
            Ahead { months, at, load }
        });
        Some(Growth {
            reports: line.fit.count as u64,
            shape: line.fit.shape,
            a_month: line.fit.growth(),
            ahead: ahead.collect(),
            deviations: line.fit.deviations,
            autocorrelation: line.fit.autocorrelation,
            line,
        })
    }
}

impl Full {
    fn of(reports: &[&Condensed], all: &Growth, maxmemory: u64) -> Option<Self> {
        let fullest = |report: &Condensed| report.point.nodes.fullest.bytes().cloned().flatten();
        let newest = reports
            .iter()
            .rev()
            .find(|report| fullest(report).is_some())?;
        let node = fullest(newest)?;
        let points = reports.iter();
        let points: Vec<_> = points
            .filter_map(|report| Some((report.point.at, fullest(report)?.load as f64)))
            .collect();
        let is_same = reports.iter().all(|report| report.layout == newest.layout);
        let (basis, line) = if is_same {
            (Basis::FullestNodes, Line::of(points)?.like(&all.line))
        } else {
            let total = newest.point.load.bytes().copied().unwrap_or(0).max(1);
            let line = Line {
                points,
                scale: node.load as f64 / total as f64,
                ..all.line.clone()
            };
            (Basis::AllData, line)
        };
        let measured = newest.said.as_ref().and_then(|said| said.used_per_byte);
        let per_byte = measured.unwrap_or(1.0);
        let used = (node.load as f64 * per_byte) as u64;
        let months = if used >= maxmemory {
            Reached {
                estimate: Some(0.0),
                low: Some(0.0),
                high: Some(0.0),
            }
        } else {
            line.fit.reaches(maxmemory as f64 / per_byte / line.scale)
        };
        let from = newest.point.at;
        Some(Full {
            node,
            basis,
            maxmemory,
            used,
            measured: measured.is_some(),
            at: months.estimate.map(|months| after(from, months)),
            months,
            last_forecast: None,
            line: Line {
                scale: line.scale * per_byte,
                points: line
                    .points
                    .iter()
                    .map(|(at, load)| (*at, load * per_byte))
                    .collect(),
                ..line
            },
        })
    }
}

/// The memory limit of the newest report that has one.
fn last_limit(reports: &[Condensed]) -> Option<u64> {
    let said = reports
        .iter()
        .rev()
        .find_map(|report| report.said.as_ref())?;
    Some(said.maxmemory)
}

impl LastForecast {
    /// That of the newest report before the time `from` that has one; else that of the report of then.
    fn of(reports: &[Condensed], from: u64) -> Option<Self> {
        let of = |report: &Condensed| {
            let said = report.said.as_ref()?;
            let months = said.months?;
            Some(LastForecast {
                file: report.point.file.clone(),
                at: report.point.at,
                node: said.node.clone(),
                maxmemory: said.maxmemory,
                months,
                full_at: after(report.point.at, months),
            })
        };
        let earlier = reports.iter().rev().filter(|report| report.point.at < from);
        let same = reports.iter().filter(|report| report.point.at == from);
        earlier.chain(same).find_map(of)
    }
}
