//! A series of reports of one cluster by date: how fast it grows, and which node fills up first.

#[doc(hidden)]
pub mod fit;
#[doc(hidden)]
pub mod forecast;
mod notes;
#[doc(hidden)]
pub mod point;
#[cfg(feature = "cli")]
pub(crate) mod view;
mod wording;

use serde::Serialize;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text;
use slotscope_model::Summary;

use crate::diff::doubt::Doubt;
use crate::trend::forecast::Forecast;
use crate::trend::point::{Condensed, Point};

/// Schema name and version.
pub const SCHEMA: &str = "slotscope.trend/3";
/// Maximum reports: daily for over five years.
const MOST_REPORTS: usize = 2000;

/// The reports over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Trend {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// All of it in a sentence.
    pub sentence: String,
    /// The metric of the sentence.
    pub by: Metric,
    /// The reports in the order of their dates.
    pub points: Vec<Point>,
    /// The forecast; absent if fewer than two reports can be used, or if these are within a day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// Limits of the comparison.
    pub notes: Vec<String>,
}

/// How reports are combined.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The metric of the sentence; by default the newest report's.
    pub by: Option<Metric>,
    /// Bytes that a node may use; by default from the newest report with a limit.
    pub maxmemory: Option<u64>,
    /// Whether suspicious and incomplete inputs count for growth.
    pub with_doubtful: bool,
    /// Whether to compare incomparable reports anyway, with a note.
    pub force: bool,
}

/// The reports collected so far.
#[derive(Default)]
pub struct History {
    reports: Vec<Condensed>,
}

impl History {
    /// Adds the report in `file`, of the time `at` in seconds since 1970.
    ///
    /// # Errors
    /// It lacks a part, or there are too many reports.
    pub fn add(&mut self, file: Name, summary: Summary, at: u64) -> Result<()> {
        if self.reports.len() == MOST_REPORTS {
            let reason = format!("more than {MOST_REPORTS} reports; name fewer of them");
            return Err(Error::bad(file.to_string(), reason));
        }
        if at > text::LAST {
            let reason = "its date is after the year 9999; is the clock of its host right?";
            return Err(Error::bad(file.to_string(), reason));
        }
        self.reports.push(Condensed::of(file, summary, at)?);
        Ok(())
    }

    /// The trend over the reports.
    ///
    /// # Errors
    /// There are fewer than two, two have the same time, or they are incomparable or lack the metric.
    pub fn trend(mut self, options: &Options) -> Result<Trend> {
        if self.reports.len() < 2 {
            let reason = "a trend needs two reports or more; name those of other dates too";
            let only = self
                .reports
                .first()
                .map(|report| report.point.file.to_string());
            let place = only.unwrap_or_else(|| "no report".into());
            return Err(Error::bad(place, reason));
        }
        self.reports.sort_by_key(|report| report.point.at);
        self.check_dates()?;
        let differences = notes::differences(&self.reports);
        if let (Some((file, difference)), false) = (differences.first(), options.force) {
            let way_out = "leave one of them out, or compare them all the same with --force";
            let reason = format!("{difference}; {way_out}");
            return Err(Error::bad(file.to_string(), reason));
        }
        for report in &mut self.reports {
            let doubt = &mut report.point.left_out;
            *doubt = doubt.filter(|doubt| *doubt == Doubt::Empty || !options.with_doubtful);
        }
        let used: Vec<&Condensed> = self.used().collect();
        let metric = self.metric(options.by, &used)?;
        let forecast = Forecast::new(&used, options.maxmemory, &self.reports);
        let mut notes: Vec<String> = differences
            .into_iter()
            .map(|(file, difference)| format!("{file}: {difference}"))
            .collect();
        notes.extend(notes::doubts(&self.reports));
        notes.extend(notes::fits(&used, forecast.as_ref(), options));
        notes.extend(notes::other_sized(&used, metric));
        let newest = used.last().copied().or(self.reports.last());
        let load = newest.and_then(|newest| newest.point.load.get(metric).copied());
        Ok(Trend {
            schema: SCHEMA,
            sentence: wording::sentence(
                &self.reports,
                metric,
                load.unwrap_or(0),
                forecast.as_ref(),
            ),
            by: metric,
            forecast,
            notes,
            points: self
                .reports
                .into_iter()
                .map(|report| report.point)
                .collect(),
        })
    }

    /// The reports used for growth.
    fn used(&self) -> impl Iterator<Item = &Condensed> {
        self.reports
            .iter()
            .filter(|report| report.point.left_out.is_none())
    }

    fn check_dates(&self) -> Result<()> {
        let mut pairs = self.reports.windows(2);
        let Some([a, b]) = pairs.find(|pair| pair[0].point.at == pair[1].point.at) else {
            return Ok(());
        };
        let reason = format!(
            "of the same time as {}, {}; leave one of them out, or take another date with --date: dump or run",
            a.point.file,
            text::time(a.point.at)
        );
        Err(Error::bad(b.point.file.to_string(), reason))
    }

    /// The requested metric, else the newest report's if all have it, else keys.
    fn metric(&self, asked: Option<Metric>, used: &[&Condensed]) -> Result<Metric> {
        let newest = used.last().copied().or(self.reports.last());
        let has = |report: &Condensed, metric| report.point.load.get(metric).is_some();
        match (asked, newest) {
            (Some(asked), Some(newest)) if !has(newest, asked) => {
                let file = newest.point.file.to_string();
                let flag = format!("--by {}: {file}", asked.name());
                newest.point.load.required(asked, &flag).map(|_| asked)
            }
            (Some(asked), _) => Ok(asked),
            (None, Some(newest)) if used.iter().all(|report| has(report, newest.by)) => {
                Ok(newest.by)
            }
            _ => Ok(Metric::Keys),
        }
    }
}
