//! How fast the data grows, the forecast, and which node fills up first.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_engine::metric::{Metric, PerMetric, PerWeight};
use slotscope_engine::name::Name;
use slotscope_model::Sizes;
use slotscope_model::balance::tidy;

use crate::trend::fit::{Fit, Interval, Rate, Reached, Shape};
use crate::trend::point::{Condensed, FullestAt, Used};

/// Seconds per month: a twelfth of a calendar year.
pub const MONTH_SECS: f64 = 365.25 * 86_400.0 / 12.0;
/// Forecast horizons in months, no longer than the time between the reports.
const AHEAD: [u32; 5] = [1, 3, 6, 12, 24];

/// The forecast, if growth continues as before.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Forecast {
    /// The time of the newest report that growth is computed from, in seconds since 1970 (UTC).
    pub from: u64,
    /// Months from the first such report to that one.
    pub span_months: f64,
    /// Growth by metric.
    pub growth: PerMetric<Growth>,
    /// The node that is full first; absent where no report has bytes, or no memory limit is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<Full>,
}

/// The growth of all data in one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Growth {
    /// How many reports it is computed from.
    pub reports: u64,
    /// Whether by the same percentage or the same amount each month, the likelier.
    pub shape: Shape,
    /// How fast.
    #[serde(flatten)]
    pub rate: Rate,
    /// The result.
    pub ahead: Vec<Ahead>,
    /// The amounts.
    #[serde(skip)]
    pub series: Series,
}

/// The numbers of a later report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ahead {
    /// Months after the newest report.
    pub months: u32,
    /// When that is, in seconds since 1970 (UTC).
    pub at: u64,
    /// All load then, and its interval in 95 of 100 cases.
    pub load: Interval,
}

/// The node that is full first, and when.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Full {
    /// Its id.
    pub id: Name,
    /// Its display name.
    pub node: Name,
    /// The source of its growth.
    pub basis: Basis,
    /// The number of reports that have that.
    pub reports: u64,
    /// Bytes that it may use.
    pub maxmemory: u64,
    /// Bytes that it uses.
    pub used: u64,
    /// Whether `used` is the memory that its server uses, not the bytes of its keys alone.
    pub measured: bool,
    /// When, in months after the newest of these reports; 0 where it is full.
    pub months: Reached,
    /// When by the estimate, in seconds since 1970 (UTC).
    pub at: Option<u64>,
}

/// The source of the growth of the node that is full first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The memory that its server used in each report; the other nodes are full later.
    UsedMemory,
    /// The bytes of keys of the fullest node of each report: all have the same nodes and slots.
    FullestNodes,
    /// The bytes of all keys, of which the fullest node keeps its part of today: nodes or slots changed.
    AllData,
}

/// Amounts over time with their fitted lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Times in seconds since 1970, and amounts.
    pub points: Vec<(u64, f64)>,
    /// The lines, in months since the first of these times.
    pub fit: Fit,
}

impl Series {
    /// `None` if the points are too few or too close together.
    fn new(points: Vec<(u64, f64)>) -> Option<Series> {
        let start = points.first()?.0;
        let months = points
            .iter()
            .map(|(at, amount)| (months(start, *at), *amount));
        let fit = Fit::new(&months.collect::<Vec<_>>())?;
        Some(Series { points, fit })
    }

    /// The newest time and amount.
    pub(crate) fn newest(&self) -> (u64, f64) {
        self.points[self.points.len() - 1]
    }

    /// The line at a time, with its interval.
    pub(crate) fn at(&self, at: u64) -> Interval {
        self.fit.at(months(self.points[0].0, at))
    }
}

/// Months from one time to a later one.
pub fn months(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / MONTH_SECS
}

/// The time this many months after another.
pub(crate) fn after(at: u64, months: f64) -> u64 {
    at.saturating_add((months * MONTH_SECS) as u64)
}

impl Forecast {
    /// From the reports used for growth; `None` for fewer than two, or within a day.
    pub(crate) fn new(
        reports: &[&Condensed],
        maxmemory: Option<u64>,
        history: &[Condensed],
    ) -> Option<Self> {
        let growth = PerMetric {
            keys: Growth::new(reports, Metric::Keys)?,
            weights: PerWeight::from_fn(|metric| Growth::new(reports, metric)),
        };
        let from = reports.last()?.point.at;
        let measured = Full::from_used_memory(reports, maxmemory);
        let last_limit = || history.iter().rev().find_map(|report| report.maxmemory);
        let full = measured.or_else(|| Full::from_keys(reports, maxmemory.or_else(last_limit)?));
        Some(Forecast {
            from,
            span_months: tidy(growth.keys.series.fit.span),
            growth,
            full,
        })
    }
}

impl Growth {
    fn new(reports: &[&Condensed], metric: Metric) -> Option<Self> {
        let point = |report: &&Condensed| {
            let load = report.point.load.get(metric)?;
            Some((report.point.at, *load as f64))
        };
        let series = Series::new(reports.iter().filter_map(point).collect())?;
        let from = series.newest().0;
        let is_near = |months: &u32| f64::from(*months) <= series.fit.span + 0.5;
        let ahead = AHEAD.into_iter().filter(is_near).map(|months| {
            let at = after(from, months.into());
            let load = series.at(at);
            Ahead { months, at, load }
        });
        Some(Growth {
            reports: series.points.len() as u64,
            shape: series.fit.shape(),
            rate: series.fit.rate(),
            ahead: ahead.collect(),
            series,
        })
    }
}

impl Full {
    /// The node that fills up first by memory measured on servers; `None` if no node has two reports.
    fn from_used_memory(reports: &[&Condensed], maxmemory: Option<u64>) -> Option<Self> {
        let newest = reports
            .iter()
            .rev()
            .find(|report| !report.used.is_empty())?;
        let mut over_time: BTreeMap<&Name, Vec<(u64, f64)>> = BTreeMap::new();
        for report in reports {
            for node in &report.used {
                let points = over_time.entry(&node.id).or_default();
                // If a report lists a node twice, keep one of them.
                if points.last().is_none_or(|(at, _)| *at < report.point.at) {
                    points.push((report.point.at, node.used as f64));
                }
            }
        }
        let node = |node: &Used| {
            let series = Series::new(over_time.remove(&node.id)?)?;
            let names = [&node.id, &node.name].map(Name::clone);
            let limit = maxmemory.unwrap_or(node.maxmemory);
            Some(Full::new(
                names,
                Basis::UsedMemory,
                (node.used, limit, true),
                &series,
            ))
        };
        newest.used.iter().filter_map(node).min_by(|a, b| {
            let months = |full: &Full| full.months.estimate.unwrap_or(f64::INFINITY);
            let part = |full: &Full| full.used as f64 / full.maxmemory as f64;
            let by_months = months(a).total_cmp(&months(b));
            by_months.then(part(b).total_cmp(&part(a)))
        })
    }

    /// The node with the most key bytes, extrapolated from these. If its memory was measured once, non-key memory is
    /// assumed constant.
    fn from_keys(reports: &[&Condensed], maxmemory: u64) -> Option<Self> {
        let fullest = |report: &Condensed| report.point.nodes.fullest.bytes().cloned().flatten();
        let newest = reports
            .iter()
            .rev()
            .find(|report| fullest(report).is_some())?;
        let FullestAt { id, name, load } = fullest(newest)?;
        let total = |report: &Condensed| report.point.load.bytes().map(|bytes| *bytes as f64);
        let is_same = reports.iter().all(|report| report.layout == newest.layout);
        let part = load as f64 / total(newest)?.max(1.0);
        let keys = |report: &Condensed| {
            if is_same {
                fullest(report).map(|node| node.load as f64)
            } else {
                total(report).map(|total| total * part)
            }
        };
        let measured = newest.used.iter().find(|used| used.id == id);
        let used = measured.map_or(load, |measured| measured.used);
        // A byte of an RDB file takes more in memory; an estimate of memory is right or too large.
        let ratio = used as f64 / load.max(1) as f64;
        let per_byte = match newest.basis.sizes {
            Some(Sizes::Serialized) => ratio,
            _ => ratio.min(1.0),
        };
        let rest = used as f64 - load as f64 * per_byte;
        let points = reports
            .iter()
            .filter_map(|report| Some((report.point.at, keys(report)? * per_byte + rest)));
        let series = Series::new(points.collect())?;
        let basis = if is_same {
            Basis::FullestNodes
        } else {
            Basis::AllData
        };
        Some(Full::new(
            [id, name],
            basis,
            (used, maxmemory, measured.is_some()),
            &series,
        ))
    }

    fn new(
        [id, node]: [Name; 2],
        basis: Basis,
        (used, maxmemory, measured): (u64, u64, bool),
        series: &Series,
    ) -> Self {
        let months = series.fit.reaches(maxmemory as f64);
        let from = series.newest().0;
        Full {
            id,
            node,
            basis,
            reports: series.points.len() as u64,
            maxmemory,
            used,
            measured,
            months,
            at: months.estimate.map(|months| after(from, months)),
        }
    }
}
