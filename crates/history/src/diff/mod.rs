//! Changes between two reports: totals, skew, nodes, and names that grew, appeared, vanished or got hot. Changes within
//! the error bounds are not reported.

pub(crate) mod basis;
pub mod doubt;
pub mod fate;
mod hot;
mod names;
mod old_new;
pub mod report;
pub(crate) mod view;
mod wording;

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::{Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;
use slotscope_base::text::counted;
use slotscope_model::balance::tidy;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::{NodeLoad, Nodes};
use slotscope_model::state::State;
use slotscope_topology::identity;

use crate::diff::basis::Basis;
use crate::diff::doubt::Doubt;
pub(crate) use crate::diff::hot::{Hot, HotKind};
pub(crate) use crate::diff::names::{Change, Names};
pub(crate) use crate::diff::old_new::OldNew;
use crate::diff::report::Report;

/// Schema name and version of the diff.
pub const SCHEMA: &str = "slotscope.diff/1";

/// The note on estimated sizes.
const ESTIMATED: &str = "sizes of large values are the servers' estimates from samples, which differ from run to run: a change of a \
                         few percent may be none";

/// The changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Diff {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The report before.
    pub old: Name,
    /// The report after.
    pub new: Name,
    /// All of it in a sentence.
    pub sentence: String,
    /// Whether the amounts are of bytes that servers estimated from samples: names changed by about, not by at least.
    pub estimated: bool,
    /// All load.
    pub totals: PerMetric<OldNew<u64>>,
    /// The verdict and its numbers.
    pub verdict: VerdictChange,
    /// The nodes of both, in their order in the new report, then those that are gone.
    pub nodes: Vec<NodeChange>,
    /// The tags; absent if a report has no tags, or no loads of names in the metric that is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Names>,
    /// The prefixes; absent as tags are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Names>,
    /// The patterns; absent as tags are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<Names>,
    /// Nodes, slots and tags with a much larger part of the load than before.
    pub hot: Vec<Hot>,
    /// Limits of the comparison.
    pub notes: Vec<String>,
}

/// The verdict and its numbers, in the metric that is compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct VerdictChange {
    /// That metric.
    pub by: Metric,
    /// The overall verdicts, whatever metric they are of.
    pub overall: States,
    /// The words of these, which the reports begin with.
    pub words: Words,
    /// The verdicts in the metric that is compared.
    pub state: States,
    /// The fullest node over the mean node.
    pub max_over_mean: OldNew<f64>,
    /// Slots: the fullest over the mean.
    pub slot_max_over_mean: OldNew<f64>,
    /// Slots: standard deviation over the mean.
    pub slot_cv: OldNew<f64>,
    /// Slots: the Gini coefficient.
    pub slot_gini: OldNew<f64>,
}

/// Two verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct States {
    /// Before.
    pub old: State,
    /// After.
    pub new: State,
}

/// The words of two verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Words {
    /// Before.
    pub old: &'static str,
    /// After.
    pub new: &'static str,
}

/// A node before and after; what a report does not have of it is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeChange {
    /// Its id.
    pub id: Name,
    /// Its display name, if it is not the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// How many slots it owns.
    pub slots: OldNew<u64>,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<OldNew<u64>>,
    /// How many times the mean node's load, in the metric that is compared.
    pub over_fair: OldNew<f64>,
}

impl Diff {
    /// Compares two reports in the metric `by`; by default the new report's, if both have it.
    ///
    /// # Errors
    /// A report lacks the metric, or one is of a sample of the slots that the other is not of.
    pub fn of(old: &Report, new: &Report, by: Option<Metric>) -> Result<Diff> {
        if let Some(difference) = new.basis.other_sample(basis(old)) {
            let reason = format!("{difference}; collect both with the same --sample");
            return Err(Error::bad(new.file.to_string(), reason));
        }
        let metric = match by {
            Some(metric) => required(metric, old, new)?,
            None => common_metric(old, new),
        };
        let nodes = nodes(old, new, metric);
        let names = |before, after| Names::of((before, old), (after, new), metric);
        let mut diff = Diff {
            schema: SCHEMA,
            old: old.file.clone(),
            new: new.file.clone(),
            sentence: String::new(),
            estimated: are_estimated(old, new, metric),
            totals: per_metric(|metric| OldNew::of(old.load(metric), new.load(metric))),
            verdict: VerdictChange::of(old, new, metric),
            hot: hot::find(&nodes, old, new, metric),
            nodes,
            tags: names(old.tags(metric), new.tags(metric)),
            prefixes: names(old.prefixes(metric), new.prefixes(metric)),
            patterns: names(old.patterns(metric), new.patterns(metric)),
            notes: notes(old, new, metric),
        };
        diff.sentence = wording::sentence(&diff);
        Ok(diff)
    }
}

fn has(report: &Report, metric: Metric) -> bool {
    report.load(metric).is_some()
}

/// Whether amounts in the metric are of estimated sizes.
fn are_estimated(old: &Report, new: &Report, metric: Metric) -> bool {
    metric.is_size() && (old.has_estimates() || new.has_estimates())
}

fn basis(report: &Report) -> (&Name, &Basis) {
    (&report.file, &report.basis)
}

/// The metric of the new report, else of the old one, provided that it is comparable in both; else keys.
fn common_metric(old: &Report, new: &Report) -> Metric {
    let own = [new, old].map(|report| report.summary.by);
    let is_measured_alike =
        |metric| metric != Metric::Bytes || new.basis.other_bytes(basis(old)).is_none();
    let common = own
        .into_iter()
        .find(|metric| has(old, *metric) && has(new, *metric) && is_measured_alike(*metric));
    common.unwrap_or(Metric::Keys)
}

/// `metric`, if both reports have it.
fn required(metric: Metric, old: &Report, new: &Report) -> Result<Metric> {
    match [old, new].into_iter().find(|report| !has(report, metric)) {
        None => Ok(metric),
        Some(report) => {
            let metrics = Metric::ALL
                .into_iter()
                .filter(|metric| has(report, *metric));
            let carried: Vec<_> = metrics.map(Metric::name).collect();
            let reason = format!("{} has: {}", report.file, carried.join(", "));
            Err(Error::option("by", metric.name(), reason))
        }
    }
}

impl VerdictChange {
    fn of(old: &Report, new: &Report, metric: Metric) -> Self {
        let [node, slot] = [
            |report: &Report, metric| report.summary.nodes.balance.get(metric).cloned(),
            |report: &Report, metric| report.summary.slots.stats.get(metric).cloned(),
        ]
        .map(|balance| move |report: &Report| balance(report, metric).unwrap_or_default());
        VerdictChange {
            by: metric,
            overall: States {
                old: old.summary.verdict.state,
                new: new.summary.verdict.state,
            },
            words: Words {
                old: old.word(),
                new: new.word(),
            },
            state: States {
                old: old.state(metric),
                new: new.state(metric),
            },
            max_over_mean: OldNew::of(node(old).max_over_mean, node(new).max_over_mean),
            slot_max_over_mean: OldNew::of(slot(old).max_over_mean, slot(new).max_over_mean),
            slot_cv: OldNew::of(slot(old).cv, slot(new).cv),
            slot_gini: OldNew::of(slot(old).gini, slot(new).gini),
        }
    }
}

/// The value of `pair` for each metric that at least one report has.
fn per_metric(pair: impl Fn(Metric) -> OldNew<u64>) -> PerMetric<OldNew<u64>> {
    let carried =
        |metric| Some(pair(metric)).filter(|pair| pair.old.is_some() || pair.new.is_some());
    PerMetric {
        keys: pair(Metric::Keys),
        weights: PerWeight::from_fn(carried),
    }
}

fn nodes(old: &Report, new: &Report, metric: Metric) -> Vec<NodeChange> {
    let change = |(before, after): (Option<&NodeLoad>, Option<&NodeLoad>)| {
        let sides = [(old, before), (new, after)];
        let node = after.or(before)?;
        let [old_slots, new_slots] = sides.map(|(_, node)| node.map(|node| node.slots.into()));
        let load = |metric| {
            let amount = |(_, node): (&Report, Option<&NodeLoad>)| node?.load.get(metric).copied();
            let [old, new] = sides.map(amount);
            OldNew::of(old, new)
        };
        let over_fair = |(report, node): (&Report, Option<&NodeLoad>)| {
            let mean = report.summary.nodes.balance.get(metric)?.mean;
            let load = node?.load.get(metric).copied()?;
            (mean > 0.0).then(|| tidy(load as f64 / mean))
        };
        let [old_over, new_over] = sides.map(over_fair);
        Some(NodeChange {
            id: node.id.clone(),
            name: Some(node.name()).filter(|name| *name != node.id),
            slots: OldNew::of(old_slots, new_slots),
            load: per_metric(load),
            over_fair: OldNew::of(old_over, new_over),
        })
    };
    let [before, after] = [old, new].map(|report| &report.summary.nodes);
    let known = identities(before, after);
    let pairs = after.list.iter().zip(&known);
    let kept = pairs.map(|(node, known)| (known.and_then(|at| before.list.get(at)), Some(node)));
    let listed = before.list.iter().enumerate();
    let gone = listed.filter(|(at, _)| !known.contains(&Some(*at)));
    let nodes = kept.chain(gone.map(|(_, node)| (Some(node), None)));
    nodes.filter_map(change).collect()
}

/// For each node of `after`, the matching node of `before`: by id, or if files are the nodes, whose names may contain a
/// date, by most common slots.
fn identities(before: &Nodes, after: &Nodes) -> Vec<Option<usize>> {
    if before.are_files() || after.are_files() {
        let [old, new] = [before, after].map(Nodes::owners);
        let nodes = [before.list.len(), after.list.len()];
        return identity::of_slots(nodes, |slot| {
            let slot = usize::from(slot);
            Some((old[slot]?, new[slot]?))
        });
    }
    let listed = before.list.iter().enumerate();
    let places: BTreeMap<&Name, usize> = listed.map(|(at, node)| (&node.id, at)).collect();
    let place = |node: &NodeLoad| places.get(&node.id).copied();
    after.list.iter().map(place).collect()
}

/// Limitations of the comparison.
fn notes(old: &Report, new: &Report, metric: Metric) -> Vec<String> {
    let differences = new.basis.differences(basis(old)).into_iter();
    let sentences = differences.chain(new.basis.other_sized(basis(old)));
    let mut notes: Vec<String> = sentences
        .map(|sentence| format!("{}: {sentence}: the amounts are not the same", new.file))
        .collect();
    notes.extend(new.basis.sample().map(|slots| {
        format!("both reports are of a sample, {slots}: amounts are of the slots that were read")
    }));
    for Report { file, summary, .. } in [old, new] {
        notes.extend(Doubt::of(summary).map(|doubt| format!("{file}: {doubt}")));
        if summary.by != metric {
            notes.push(format!(
                "{file}: its tables are by {}, its numbers here are by {}",
                summary.by.name(),
                metric.name()
            ));
        }
    }
    let count = |report: &Report| report.summary.nodes.owning().count() as u64;
    if count(old) != count(new) {
        notes.push(format!(
            "the reports are of {} and of {}: fair shares of different numbers of nodes are not the same amount",
            counted(count(old), "node"),
            counted(count(new), "node")
        ));
    }
    let (before, after) = (&old.summary, &new.summary);
    let parts = [
        ("tags", before.tags.is_some(), after.tags.is_some()),
        (
            "prefixes",
            before.prefixes.is_some(),
            after.prefixes.is_some(),
        ),
        (
            "patterns",
            before.patterns.is_some(),
            after.patterns.is_some(),
        ),
    ];
    for (part, in_old, in_new) in parts {
        if !(in_old && in_new) {
            notes.push(format!(
                "{part} are not compared: not both reports have them"
            ));
        }
    }
    notes.extend(are_estimated(old, new, metric).then(|| ESTIMATED.to_owned()));
    notes.extend(unknown_names(old, new, metric));
    notes
}

/// Why names are not compared in a metric, although both reports list them.
fn unknown_names(old: &Report, new: &Report, metric: Metric) -> Option<String> {
    let lacks = |report: &Report| report.summary.tags.is_some() && !report.has_of_names(metric);
    let who = match [old, new].map(lacks) {
        [false, false] => return None,
        [true, true] => String::from("both reports have"),
        [true, false] => format!("{} has", old.file),
        [false, true] => format!("{} has", new.file),
    };
    let is_common = |metric: &Metric| {
        [old, new].map(|report| has(report, *metric) && report.has_of_names(*metric)) == [true; 2]
    };
    let other = [Metric::Bytes, Metric::Keys].into_iter().find(is_common)?;
    Some(format!(
        "names are not compared: {who} {} by slot, not by name; --by {} compares them",
        Measure::from(metric).noun(),
        other.name()
    ))
}
