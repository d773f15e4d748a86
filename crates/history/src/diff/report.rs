//! The reports to compare, and their lists of names with bounds on counts.

use std::collections::BTreeMap;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_model::Summary;
use slotscope_model::balance::{sum, tidy};
use slotscope_model::finding::Finding;
use slotscope_model::patterns::KeyGroups;
use slotscope_model::state::State;
use slotscope_model::tags::Tag;

use crate::diff::basis::Basis;
use crate::diff::fate::Known;

/// A report with its file name.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The file, for display.
    pub file: Name,
    /// Its content.
    pub summary: Summary,
    /// The coverage of its counts.
    pub(crate) basis: Basis,
    totals: PerMetric<u64>,
}

impl Report {
    /// The report in `file`.
    ///
    /// # Errors
    /// The report lacks the loads of its own metric.
    pub fn new(file: Name, summary: Summary) -> Result<Report> {
        let total = |loads: &[u64]| u64::try_from(sum(loads)).unwrap_or(u64::MAX);
        let report = Report {
            totals: summary.slots.loads.map(|_, loads| total(loads)),
            basis: Basis::new(&summary.input),
            file,
            summary,
        };
        let metric = report.summary.by;
        match report.load(metric) {
            Some(_) => Ok(report),
            None => {
                let reason = format!(
                    "by is {0}, and slots.{0} or nodes.{0} is missing",
                    metric.name()
                );
                Err(Error::bad(report.file.to_string(), reason))
            }
        }
    }

    /// The word that it begins with: that of the first finding which sets the state.
    pub(crate) fn word(&self) -> &'static str {
        let verdict = &self.summary.verdict;
        let first = verdict.problems().next();
        first.map_or(verdict.state.word(None), Finding::word)
    }

    /// How uneven its nodes are by a metric.
    pub(crate) fn state(&self, metric: Metric) -> State {
        let verdict = &self.summary.verdict;
        verdict.by(metric).map_or(verdict.state, |role| role.state)
    }

    /// The total load in a metric, if the report has it.
    pub(crate) fn load(&self, metric: Metric) -> Option<u64> {
        self.summary.nodes.balance.get(metric)?;
        self.totals.get(metric).copied()
    }

    /// Whether the loads of names are known in a metric: servers count CPU time by slot alone.
    pub(crate) fn has_of_names(&self, metric: Metric) -> bool {
        metric == Metric::Keys || self.summary.input.weights.get(metric).is_some()
    }

    /// Whether servers estimated the sizes of large values, from samples that differ from run to run.
    pub(crate) fn has_estimates(&self) -> bool {
        let largest = self.summary.largest.as_ref();
        let has_more = |most| largest.is_none_or(|keys| keys.iter().any(|key| key.elements > most));
        self.summary.input.estimated_above.is_some_and(has_more)
    }

    /// `load` as a fraction of the total load.
    pub(crate) fn share(&self, load: u64, metric: Metric) -> f64 {
        match self.load(metric).unwrap_or(0) {
            0 => 0.0,
            total => tidy(load as f64 / total as f64),
        }
    }

    /// The heaviest tags, with bounds on their load in the metric `metric`.
    pub(crate) fn tags<'a>(&'a self, metric: Metric) -> Option<NameList<'a>> {
        let tags = self
            .summary
            .tags
            .as_ref()
            .filter(|_| self.has_of_names(metric))?;
        let bounds = |tag: &'a Tag| Bounds::of(&tag.load, metric, tag.error(metric));
        let rows = tags.top.iter().map(|tag| (&tag.tag, bounds(tag)));
        let rows: BTreeMap<_, _> = rows.collect();
        // A list by another metric lacks the tags without load in that.
        let has_all = metric == self.summary.by || rows.len() as u64 >= tags.distinct;
        Some(self.list(tags.exact && has_all, tags.max_error, rows, metric))
    }

    /// The heaviest prefixes.
    pub(crate) fn prefixes(&self, metric: Metric) -> Option<NameList<'_>> {
        let prefixes = self
            .summary
            .prefixes
            .as_ref()
            .filter(|_| self.has_of_names(metric))?;
        Some(self.groups(prefixes, metric, |row| (&row.prefix, &row.kind.load)))
    }

    /// The heaviest patterns.
    pub(crate) fn patterns(&self, metric: Metric) -> Option<NameList<'_>> {
        let patterns = self
            .summary
            .patterns
            .as_ref()
            .filter(|_| self.has_of_names(metric))?;
        Some(self.groups(patterns, metric, |row| (&row.pattern, &row.kind.load)))
    }

    /// Rows of prefixes and patterns share the error bound of their list.
    fn groups<'a, R>(
        &self,
        groups: &'a KeyGroups<R>,
        metric: Metric,
        parts: fn(&R) -> (&Name, &PerMetric<u64>),
    ) -> NameList<'a> {
        let error = if groups.exact {
            0
        } else {
            self.bound(groups.max_error, metric)
        };
        let row = |row: &'a R| {
            let (name, load) = parts(row);
            (name, Bounds::of(load, metric, error))
        };
        let rows = groups.top.iter().map(row).collect();
        self.list(groups.exact, groups.max_error, rows, metric)
    }

    fn list<'a>(
        &self,
        exact: bool,
        max_error: u64,
        rows: BTreeMap<&'a Name, Bounds<'a>>,
        metric: Metric,
    ) -> NameList<'a> {
        // A complete list with exact counts omits nothing.
        let is_whole = exact && max_error == 0;
        let smallest = rows.values().map(|row| row.at_least).min().unwrap_or(0);
        let below = if is_whole {
            0
        } else {
            self.bound(smallest.saturating_add(max_error), metric)
        };
        NameList { rows, below }
    }

    /// `bound` applies to the metric that lists are sorted by. In any other metric a name may have any load.
    fn bound(&self, bound: u64, metric: Metric) -> u64 {
        if metric == self.summary.by {
            bound
        } else {
            self.load(metric).unwrap_or(0)
        }
    }
}

/// The heaviest names of one kind, with bounds on their load in one metric.
pub(crate) struct NameList<'a> {
    /// The listed names.
    pub rows: BTreeMap<&'a Name, Bounds<'a>>,
    /// An upper bound for unlisted names; 0 if the list is complete.
    pub below: u64,
}

impl NameList<'_> {
    pub(crate) fn known(&self, name: &Name) -> Known {
        let row = self.rows.get(name);
        Known {
            is_listed: row.is_some(),
            at_least: row.map_or(0, |row| row.at_least),
            at_most: row.map_or(self.below, |row| row.at_most),
        }
    }
}

/// Bounds on the load of a name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds<'a> {
    /// The counts in every metric.
    pub load: &'a PerMetric<u64>,
    /// The counted load.
    pub at_least: u64,
    /// The counted load plus what may have been missed.
    pub at_most: u64,
}

impl<'a> Bounds<'a> {
    fn of(load: &'a PerMetric<u64>, metric: Metric, error: u64) -> Self {
        let at_least = load.get(metric).copied().unwrap_or(0);
        Bounds {
            load,
            at_least,
            at_most: at_least.saturating_add(error),
        }
    }
}
