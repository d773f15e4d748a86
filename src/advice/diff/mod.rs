//! Advice: what changed between two reports. Two `Report`s come in, a `Diff` goes out: totals, skew, nodes, and which
//! names grew, appeared, vanished or got hot. What the bounds of the counts do not settle is not claimed.

mod hot;
mod names;
mod old_new;
pub mod report;
mod sentence;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
pub use hot::{Hot, HotKind};
pub use names::{Change, Names};
pub use old_new::{Number, OldNew};
use report::{Node, Report};

/// The name and version of the form of the diff.
pub const SCHEMA: &str = "slotscope.diff/1";

/// What changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// `SCHEMA`.
    pub schema: &'static str,
    /// The report before.
    pub old: Name,
    /// The report after.
    pub new: Name,
    /// All of it in a line for people.
    pub sentence: String,
    /// All load.
    pub totals: PerMetric<OldNew<u64>>,
    /// The verdict and its numbers.
    pub skew: Skew,
    /// The nodes of both, in their order in the new report, then those that are gone.
    pub nodes: Vec<NodeChange>,
    /// The tags; absent where a report has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Names>,
    /// The prefixes; absent where a report has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Names>,
    /// The patterns; absent where a report has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Names>,
    /// What holds a much larger part of the load than before.
    pub hot: Vec<Hot>,
    /// What stands in the way of comparing.
    pub notes: Vec<String>,
}

/// The verdict and its numbers, in the metric of both reports.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skew {
    /// That metric.
    pub by: Metric,
    /// The verdicts.
    pub verdict: Verdicts,
    /// The fullest node over the mean node.
    pub max_over_mean: OldNew<f64>,
    /// Of the slots: the fullest over the mean.
    pub slot_max_over_mean: OldNew<f64>,
    /// Of the slots: standard deviation over the mean.
    pub slot_cv: OldNew<f64>,
    /// Of the slots: the Gini coefficient.
    pub slot_gini: OldNew<f64>,
}

/// Two verdicts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdicts {
    /// Before.
    pub old: Name,
    /// After.
    pub new: Name,
}

/// A node before and after; what a report does not have of it is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeChange {
    /// Its id.
    pub id: Name,
    /// How many slots it owns.
    pub slots: OldNew<u64>,
    /// What it holds.
    #[serde(flatten)]
    pub load: PerMetric<OldNew<u64>>,
    /// How many times the mean node's load, in the metric of both reports.
    pub over_fair: OldNew<f64>,
}

impl Diff {
    /// Compares two reports.
    ///
    /// # Errors
    /// They are judged by different metrics.
    pub fn of(old: &Report, new: &Report) -> Result<Diff> {
        let by = new.skew.by;
        if old.skew.by != by {
            let place = format!("{} and {}", old.file, new.file);
            let [old, new] = [old.skew.by.name(), by.name()];
            let what = format!("one is by {old}, the other by {new}; make both with analyze --by {new}");
            return Err(Error::bad(place, what));
        }
        let mut diff = Diff {
            schema: SCHEMA,
            old: old.file.clone(),
            new: new.file.clone(),
            sentence: String::new(),
            totals: totals(old, new),
            skew: Skew::of(old, new, by),
            nodes: nodes(old, new, by),
            tags: Names::of((&old.tags, old), (&new.tags, new), by),
            prefixes: Names::of((&old.prefixes, old), (&new.prefixes, new), by),
            patterns: Names::of((&old.patterns, old), (&new.patterns, new), by),
            hot: hot::find(old, new, by),
            notes: notes(old, new),
        };
        diff.sentence = sentence::of(&diff);
        Ok(diff)
    }
}

impl Skew {
    fn of(old: &Report, new: &Report, by: Metric) -> Self {
        let node = |report: &Report| report.nodes.balance.get(by).copied().unwrap_or_default();
        let slot = |report: &Report| report.slots.stats.get(by).copied().unwrap_or_default();
        Skew {
            by,
            verdict: Verdicts { old: old.skew.verdict.clone(), new: new.skew.verdict.clone() },
            max_over_mean: OldNew::of(node(old).max_over_mean, node(new).max_over_mean),
            slot_max_over_mean: OldNew::of(slot(old).max_over_mean, slot(new).max_over_mean),
            slot_cv: OldNew::of(slot(old).cv, slot(new).cv),
            slot_gini: OldNew::of(slot(old).gini, slot(new).gini),
        }
    }
}

/// `of` for each metric that one of both has.
fn per_metric(of: impl Fn(Metric) -> OldNew<u64>) -> PerMetric<OldNew<u64>> {
    let told = |metric| Some(of(metric)).filter(|pair| pair.old.is_some() || pair.new.is_some());
    PerMetric { keys: of(Metric::Keys), bytes: told(Metric::Bytes), ops: told(Metric::Ops) }
}

fn totals(old: &Report, new: &Report) -> PerMetric<OldNew<u64>> {
    per_metric(|metric| OldNew::of(old.load(metric), new.load(metric)))
}

fn nodes(old: &Report, new: &Report, by: Metric) -> Vec<NodeChange> {
    let by_id = |report: &Report| -> BTreeMap<Name, Node> {
        report.nodes.list.iter().map(|node| (node.id.clone(), node.clone())).collect()
    };
    let (before, after) = (by_id(old), by_id(new));
    let gone = old.nodes.list.iter().filter(|node| !after.contains_key(&node.id));
    let change = |node: &Node| {
        let (old_node, new_node) = (before.get(&node.id), after.get(&node.id));
        let load = |metric| {
            let of = |node: Option<&Node>| node.and_then(|node| node.load.get(metric).copied());
            OldNew::of(of(old_node), of(new_node))
        };
        let over_fair = |report: &Report, node: Option<&Node>| {
            let mean = report.nodes.balance.get(by).map_or(0.0, |balance| balance.mean);
            let load = node?.load.get(by).copied()?;
            (mean > 0.0).then(|| crate::summary::balance::tidy(load as f64 / mean))
        };
        NodeChange {
            id: node.id.clone(),
            slots: OldNew::of(old_node.map(|node| node.slots), new_node.map(|node| node.slots)),
            load: per_metric(load),
            over_fair: OldNew::of(over_fair(old, old_node), over_fair(new, new_node)),
        }
    };
    new.nodes.list.iter().chain(gone).map(change).collect()
}

/// What a reader should know before believing the comparison.
fn notes(old: &Report, new: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    for report in [old, new].into_iter().filter(|report| !report.input.incomplete.is_empty()) {
        notes.push(format!("{}: its input could not be read to the end, so counts are too small", report.file));
    }
    if old.nodes.source != new.nodes.source {
        let (old, new) = (&old.nodes.source, &new.nodes.source);
        notes.push(format!("the nodes were from \"{old}\" and are from \"{new}\": they are matched by their ids"));
    }
    let parts = [
        ("tags", &old.tags, &new.tags),
        ("prefixes", &old.prefixes, &new.prefixes),
        ("patterns", &old.patterns, &new.patterns),
    ];
    for (part, in_old, in_new) in parts {
        let lacking = match (in_old, in_new) {
            (Some(_), Some(_)) => continue,
            (None, Some(_)) => old.file.to_string(),
            (Some(_), None) => new.file.to_string(),
            (None, None) => String::from("both reports"),
        };
        notes.push(format!(
            "{part} are not compared: {lacking} lack{} them",
            if in_old.is_none() && in_new.is_none() { "" } else { "s" }
        ));
    }
    notes
}
