//! An amount today, after growth, and in some months: the same for the whole cluster, a shard, a tag and a key.

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_model::balance::tidy;

use crate::capacity::fit::{Fit, Interval, Rate, Reached, Shape};
use crate::capacity::months::{after, months};
use crate::capacity::parts::{self, Part, Points};

/// An amount over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// The amount in the newest report.
    pub now: u64,
    /// The amount after the growth that is assumed by `--grow`; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<u64>,
    /// How it grew; absent where fewer than two reports have it, or these are within a day.
    #[serde(flatten)]
    pub trend: Option<Trend>,
    /// The amounts of the reports.
    #[serde(skip)]
    pub series: Option<Series>,
}

/// How an amount grew, and will.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Trend {
    /// How many reports have it.
    pub reports: u64,
    /// Whether by the same percentage or the same amount each month, the likelier; of the rest where names are apart.
    pub shape: Shape,
    /// Hash tags and keys in it that grow faster than the rest: each has a line of its own, and the lines are added up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Name>,
    /// How fast.
    #[serde(flatten)]
    pub rate: Rate,
    /// The amounts in some months.
    pub ahead: Vec<Ahead>,
}

/// The amount at a later time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Ahead {
    /// Months after the newest report.
    pub months: u32,
    /// When that is, in seconds since 1970 (UTC).
    pub at: u64,
    /// The amount then, and its interval in 95 of 100 cases.
    pub load: Interval,
}

/// Amounts over time with their fitted lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Times in seconds since 1970, and amounts.
    pub points: Vec<(u64, f64)>,
    /// The lines, in months since the first of these times.
    pub fit: Fit,
    /// The names that have lines of their own.
    apart: Vec<Name>,
}

impl Outlook {
    /// The outlook of `points`, of which `now` is the newest, for each of `months`; `parts` are in it.
    pub(crate) fn new<'a>(
        now: u64,
        points: Points,
        parts: impl IntoIterator<Item = &'a Part>,
        months: &[u32],
    ) -> Self {
        let series = parts::fit(&points, parts.into_iter());
        let series = series.map(|(fit, apart)| Series { points, fit, apart });
        Outlook {
            now,
            grown: None,
            trend: series.as_ref().map(|series| series.trend(months)),
            series,
        }
    }

    /// After the growth that is assumed.
    pub(crate) fn grown(self, grown: Option<f64>) -> Self {
        Outlook {
            grown: grown.map(|grown| grown.round() as u64),
            ..self
        }
    }

    /// The expected amount in some of the months that it was asked for.
    pub(crate) fn ahead(&self, months: u32) -> Option<f64> {
        let mut ahead = self.trend.as_ref()?.ahead.iter();
        let found = ahead.find(|ahead| ahead.months == months)?;
        Some(found.load.estimate)
    }

    /// When it reaches `limit`: now, or as the reports grow; `None` if it is below, and they do not tell.
    pub(crate) fn reaches(&self, limit: f64) -> Option<Reached> {
        if self.now as f64 >= limit {
            return Some(Reached::NOW);
        }
        self.series.as_ref().map(|series| series.fit.reaches(limit))
    }
}

impl Series {
    fn trend(&self, months: &[u32]) -> Trend {
        let ahead = months.iter().map(|months| {
            let at = after(self.newest(), f64::from(*months));
            Ahead {
                months: *months,
                at,
                load: self.at(at),
            }
        });
        Trend {
            reports: self.points.len() as u64,
            shape: self.fit.shape(),
            apart: self.apart.clone(),
            rate: self.fit.rate(),
            ahead: ahead.collect(),
        }
    }

    /// The newest time.
    fn newest(&self) -> u64 {
        self.points[self.points.len() - 1].0
    }

    /// The line at a time, with its interval.
    pub(crate) fn at(&self, at: u64) -> Interval {
        self.fit.at(months(self.points[0].0, at))
    }

    /// Months from the first point to the newest.
    pub(crate) fn span(&self) -> f64 {
        tidy(self.fit.span)
    }
}
