//! The kept parts of a report: its numbers, and its nodes' identity.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_engine::error::Result;
use slotscope_engine::hash::hash;
use slotscope_engine::metric::{Metric, PerMetric, PerWeight};
use slotscope_engine::name::Name;
use slotscope_model::Summary;
use slotscope_model::balance::Balance;
use slotscope_model::capacity::NodeRoom;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::state::State;

use crate::diff::basis::Basis;
use crate::diff::doubt::Doubt;
use crate::diff::report::Report;

/// A report as a point in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Point {
    /// Its file.
    pub file: Name,
    /// Its time, in seconds since 1970 (UTC).
    pub at: u64,
    /// Its verdict.
    pub state: State,
    /// Why growth is not computed from it; absent where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Doubt>,
    /// All load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// The nodes.
    pub nodes: NodesAt,
    /// The slots.
    pub slots: SlotsAt,
}

/// The primaries that own slots, at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodesAt {
    /// How many.
    pub count: u64,
    /// The fullest over the mean.
    pub max_over_mean: PerMetric<Option<f64>>,
    /// The fullest.
    pub fullest: PerMetric<Option<FullestAt>>,
}

/// The fullest node, at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FullestAt {
    /// Its id.
    pub id: Name,
    /// Its display name.
    pub name: Name,
    /// Its load.
    pub load: u64,
}

/// The slots, at a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SlotsAt {
    /// The fullest over the mean.
    pub max_over_mean: PerMetric<Option<f64>>,
}

/// A node's measured memory and limit.
#[derive(Debug, Clone)]
pub(crate) struct Used {
    pub id: Name,
    pub name: Name,
    pub used: u64,
    pub maxmemory: u64,
}

/// The kept parts of a report.
pub(crate) struct Condensed {
    /// Its numbers.
    pub point: Point,
    /// The metric of its tables.
    pub by: Metric,
    /// The coverage of its counts.
    pub basis: Basis,
    /// Its node ids in order; empty if made up, for an even split or one node per file.
    pub nodes: Vec<Name>,
    /// A hash of each node's slots, in order: nodes with different ids may have the same slots.
    pub layout: Vec<u64>,
    /// The memory limit of the node expected to fill up first.
    pub maxmemory: Option<u64>,
    /// The memory of its nodes, if measured by servers.
    pub used: Vec<Used>,
}

impl Condensed {
    /// Condenses the report in `file`, of the time `at`.
    ///
    /// # Errors
    /// It lacks a part.
    pub(crate) fn of(file: Name, summary: Summary, at: u64) -> Result<Condensed> {
        let report = Report::new(file.clone(), summary)?;
        let summary = &report.summary;
        let point = Point {
            at,
            state: summary.verdict.state,
            left_out: Doubt::of(summary),
            load: PerMetric {
                keys: report.load(Metric::Keys).unwrap_or(0),
                weights: PerWeight::from_fn(|metric| report.load(metric)),
            },
            nodes: NodesAt {
                count: summary.nodes.owning().count() as u64,
                max_over_mean: ratios(&summary.nodes.balance),
                fullest: summary
                    .slots
                    .loads
                    .map(|metric, _| fullest(summary, metric)),
            },
            slots: SlotsAt {
                max_over_mean: ratios(&summary.slots.stats),
            },
            file,
        };
        let are_listed = !summary.nodes.is_even() && !summary.nodes.are_files();
        let listed = summary.nodes.owning().filter(|_| are_listed);
        let mut nodes: Vec<Name> = listed.map(|node| node.id.clone()).collect();
        nodes.sort_unstable();
        let mut layout: Vec<u64> = summary.nodes.owning().map(slots_of).collect();
        layout.sort_unstable();
        Ok(Condensed {
            by: summary.by,
            basis: Basis::new(&summary.input),
            nodes,
            layout,
            maxmemory: summary.capacity.as_ref().map(|capacity| capacity.maxmemory),
            used: used(summary),
            point,
        })
    }
}

fn ratios(balance: &PerMetric<Balance>) -> PerMetric<Option<f64>> {
    balance.map(|_, balance| balance.max_over_mean)
}

/// The fullest node by a metric; the first of equals.
fn fullest(summary: &Summary, metric: Metric) -> Option<FullestAt> {
    let nodes: Vec<_> = summary.nodes.owning().collect();
    let node = nodes.iter().rev().max_by_key(|node| node.load_by(metric))?;
    Some(FullestAt {
        id: node.id.clone(),
        name: node.name(),
        load: node.load.get(metric).copied()?,
    })
}

/// A hash that changes with a node's slots.
fn slots_of(node: &NodeLoad) -> u64 {
    let ends = node.ranges.iter().flat_map(|(first, last)| [*first, *last]);
    hash(&ends.flat_map(u16::to_le_bytes).collect::<Vec<u8>>())
}

fn used(summary: &Summary) -> Vec<Used> {
    let capacity = summary.capacity.as_ref();
    let Some(capacity) = capacity.filter(|capacity| capacity.measured) else {
        return Vec::new();
    };
    let list = summary.nodes.list.iter();
    let names: BTreeMap<&Name, Name> = list.map(|node| (&node.id, node.name())).collect();
    let used = |room: &NodeRoom| Used {
        id: room.id.clone(),
        name: names.get(&room.id).unwrap_or(&room.id).clone(),
        used: room.used,
        // Older reports have one limit for all nodes.
        maxmemory: match room.maxmemory {
            0 => capacity.maxmemory,
            limit => limit,
        },
    };
    capacity.nodes.iter().map(used).collect()
}
