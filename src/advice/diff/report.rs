//! Advice, diff: what of a report.json is compared. Its names are in C escapes there; they are read as the bytes that
//! they stand for and written in the same spelling again, so that a file edited by hand cannot smuggle in others.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::metric::{Load, Metric, PerMetric};
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::SCHEMA;

/// A report, as far as it is compared. Parts that `analyze` leaves out under some flags may be absent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Report {
    /// Where it is from, in words for people.
    #[serde(skip)]
    pub file: Name,
    /// All load, on nodes or not.
    #[serde(skip)]
    totals: Load,
    /// What was read.
    pub input: Input,
    /// The slots.
    pub slots: Slots,
    /// The nodes.
    pub nodes: Nodes,
    /// The heaviest tags.
    pub tags: Option<List>,
    /// What names begin with.
    pub prefixes: Option<List>,
    /// Names without ids.
    pub patterns: Option<List>,
    /// The verdict.
    pub skew: Skew,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Input {
    /// Keys.
    pub keys: u64,
    /// Where it could not be read further.
    #[serde(default)]
    pub incomplete: Vec<serde::de::IgnoredAny>,
}

/// The slots.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Slots {
    /// The load of each, 16384 of them.
    #[serde(flatten)]
    pub loads: PerMetric<Vec<u64>>,
    /// Their balance.
    pub stats: PerMetric<Balance>,
}

/// The nodes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Nodes {
    /// Where they are from.
    pub source: Name,
    /// Each.
    pub list: Vec<Node>,
    /// Their balance.
    #[serde(flatten)]
    pub balance: PerMetric<Balance>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: Name,
    /// How many slots it owns.
    pub slots: u64,
    /// What it holds.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// How even loads are; numbers are absent where there is no load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub struct Balance {
    /// The mean.
    pub mean: f64,
    /// The largest over the mean.
    pub max_over_mean: Option<f64>,
    /// Standard deviation over the mean.
    pub cv: Option<f64>,
    /// Gini coefficient.
    pub gini: Option<f64>,
}

/// The heaviest names of one kind.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct List {
    /// Counts are exact.
    pub exact: bool,
    /// No name that is not listed holds more than this.
    pub max_error: u64,
    /// The heaviest.
    pub top: Vec<Row>,
}

/// A name and what it holds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Row {
    /// The name.
    #[serde(alias = "tag", alias = "prefix", alias = "pattern")]
    pub name: Name,
    /// What it holds at least.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    keys_error: Option<u64>,
    bytes_error: Option<u64>,
    ops_error: Option<u64>,
}

/// The verdict.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Skew {
    /// The metric that lists are ordered by.
    pub by: Metric,
    /// One word.
    pub verdict: Name,
}

/// The part of any report that tells whether it is one of ours.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

impl Report {
    /// Reads the report that `file` holds.
    ///
    /// # Errors
    /// No JSON, not whole, of another schema, or without a part that every report has; with line and column.
    pub fn parse(file: Name, bytes: &[u8]) -> Result<Report> {
        let unreadable = |error: serde_json::Error| {
            let reason = error.to_string();
            let reason = Name::from(reason.split(" at line ").next().unwrap_or_default()).to_string();
            let place = format!("{file}: line {}, column {}", error.line(), error.column());
            Error::bad(place, format!("{reason}; make it again with: slotscope analyze --json > FILE"))
        };
        let head: Head = serde_json::from_slice(bytes).map_err(unreadable)?;
        match head.schema {
            Some(serde_json::Value::String(schema)) if schema == SCHEMA => {}
            Some(serde_json::Value::String(other)) => {
                let other = Name::from(other.as_str());
                let what = format!("its schema is \"{other}\"; only {SCHEMA} can be compared, as analyze writes it");
                return Err(Error::bad(file.to_string(), what));
            }
            _ => return Err(Error::bad(file.to_string(), "no report.json of analyze: it names no schema")),
        }
        let report: Report = serde_json::from_slice(bytes).map_err(unreadable)?;
        if let Some((metric, loads)) = report.slots.loads.iter().find(|(_, loads)| loads.len() != SLOTS) {
            let what =
                format!("slots.{} has {} numbers, not one for each of the 16384 slots", metric.name(), loads.len());
            return Err(Error::bad(file.to_string(), what));
        }
        let sum = |loads: &Vec<u64>| loads.iter().fold(0, |sum: u64, load| sum.saturating_add(*load));
        let totals = Load::from_fn(|metric| report.slots.loads.get(metric).map_or(0, sum));
        let report = Report { file, totals, ..report };
        match report.load(report.skew.by) {
            Some(_) => Ok(report),
            None => {
                let what = format!("skew.by is {0}, and slots.{0} or nodes.{0} is missing", report.skew.by.name());
                Err(Error::bad(report.file.to_string(), what))
            }
        }
    }

    /// All load of a metric that the report has.
    pub fn load(&self, metric: Metric) -> Option<u64> {
        self.slots.loads.get(metric)?;
        self.nodes.balance.get(metric)?;
        Some(self.totals[metric])
    }
}

impl List {
    /// The most that a name may hold that is not listed. A list of all names, exactly counted, leaves none out.
    pub fn below(&self, by: Metric) -> u64 {
        let smallest = self.top.iter().map(|row| row.at_least(by)).min().unwrap_or(0);
        if self.exact && self.max_error == 0 { 0 } else { smallest.saturating_add(self.max_error) }
    }

    /// The most that a listed name holds: what was counted, and what may have been missed of it.
    pub fn at_most(&self, row: &Row, by: Metric) -> u64 {
        let missed = match by {
            Metric::Keys => row.keys_error,
            Metric::Bytes => row.bytes_error,
            Metric::Ops => row.ops_error,
        };
        // Rows of prefixes and patterns tell no error of their own.
        row.at_least(by).saturating_add(missed.unwrap_or(if self.exact { 0 } else { self.max_error }))
    }
}

impl Row {
    /// What was counted.
    pub fn at_least(&self, by: Metric) -> u64 {
        self.load.get(by).copied().unwrap_or(0)
    }
}

impl Node {
    /// What it holds of every metric; 0 where it does not tell.
    pub fn loads(&self) -> Load {
        Load::from_fn(|metric| self.load.get(metric).copied().unwrap_or(0))
    }
}
