//! The reports that are compared, and their lists of names as bounds on counts.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::summary::Summary;
use crate::summary::balance::sum;
use crate::summary::patterns::KeyGroups;
use crate::summary::tags::Tags;

/// A report and the name of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The file, for people.
    pub file: Name,
    /// Its content.
    pub summary: Summary,
    totals: PerMetric<u64>,
}

impl Report {
    /// The report in `file`.
    ///
    /// # Errors
    /// It lacks the loads of the metric that it is by.
    pub fn new(file: Name, summary: Summary) -> Result<Report> {
        let total = |loads: &[u64]| u64::try_from(sum(loads)).unwrap_or(u64::MAX);
        let report = Report {
            totals: summary.slots.loads.map(|_, loads| total(loads)),
            file,
            summary,
        };
        let by = report.summary.skew.by;
        match report.load(by) {
            Some(_) => Ok(report),
            None => {
                let what = format!(
                    "skew.by is {0}, and slots.{0} or nodes.{0} is missing",
                    by.name()
                );
                Err(Error::bad(report.file.to_string(), what))
            }
        }
    }

    /// All load of a metric that the report has.
    pub fn load(&self, metric: Metric) -> Option<u64> {
        self.summary.nodes.balance.get(metric)?;
        self.totals.get(metric).copied()
    }

    /// The heaviest tags.
    pub fn tags(&self) -> Option<NameList<'_>> {
        self.summary.tags.as_ref().map(|tags| self.tag_list(tags))
    }

    /// The heaviest prefixes.
    pub fn prefixes(&self) -> Option<NameList<'_>> {
        let prefixes = self.summary.prefixes.as_ref()?;
        Some(self.list(prefixes, |row| (&row.prefix, &row.kind.load)))
    }

    /// The heaviest patterns.
    pub fn patterns(&self) -> Option<NameList<'_>> {
        let patterns = self.summary.patterns.as_ref()?;
        Some(self.list(patterns, |row| (&row.pattern, &row.kind.load)))
    }

    fn tag_list<'a>(&self, tags: &'a Tags) -> NameList<'a> {
        let by = self.summary.skew.by;
        let bounds = |tag: &'a crate::summary::tags::Tag| {
            let row = Bounds::of(&tag.load, by, tag.error(by));
            (&tag.tag, row)
        };
        NameList::of(tags.exact, tags.max_error, tags.top.iter().map(bounds))
    }

    /// Rows of prefixes and patterns have no error of their own.
    fn list<'a, R>(
        &self,
        kinds: &'a KeyGroups<R>,
        parts: fn(&R) -> (&Name, &PerMetric<u64>),
    ) -> NameList<'a> {
        let error = if kinds.exact { 0 } else { kinds.max_error };
        let bounds = |row: &'a R| {
            let (name, load) = parts(row);
            (name, Bounds::of(load, self.summary.skew.by, error))
        };
        NameList::of(kinds.exact, kinds.max_error, kinds.top.iter().map(bounds))
    }
}

/// The heaviest names of one kind, with bounds on their load in the metric of the report.
pub struct NameList<'a> {
    /// The listed names.
    pub rows: BTreeMap<&'a Name, Bounds<'a>>,
    /// The most that a name may hold that is not listed.
    pub below: u64,
}

/// Bounds on the load of a name.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'a> {
    /// What was counted in every metric.
    pub load: &'a PerMetric<u64>,
    /// What was counted.
    pub at_least: u64,
    /// What was counted, and what may have been missed.
    pub at_most: u64,
}

impl<'a> Bounds<'a> {
    fn of(load: &'a PerMetric<u64>, by: Metric, error: u64) -> Self {
        let at_least = load.get(by).copied().unwrap_or(0);
        Bounds {
            load,
            at_least,
            at_most: at_least.saturating_add(error),
        }
    }
}

impl<'a> NameList<'a> {
    fn of(exact: bool, max_error: u64, rows: impl Iterator<Item = (&'a Name, Bounds<'a>)>) -> Self {
        let rows: BTreeMap<_, _> = rows.collect();
        // A list of all names, exactly counted, leaves none out.
        let is_whole = exact && max_error == 0;
        let smallest = rows.values().map(|row| row.at_least).min().unwrap_or(0);
        NameList {
            rows,
            below: if is_whole {
                0
            } else {
                smallest.saturating_add(max_error)
            },
        }
    }
}
