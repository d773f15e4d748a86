//! The kept parts of a report: its numbers, and its nodes' identity.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::error::Result;
use slotscope_base::hash::hash;
use slotscope_base::metric::{Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;
use slotscope_model::Summary;
use slotscope_model::balance::Balance;
use slotscope_model::capacity::NodeRoom;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::state::{Role, State};

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
    pub bytes: u64,
    pub maxmemory: u64,
    /// A hash of its slots: memory that it used with other slots is not compared.
    pub layout: u64,
}

/// Names with what they hold.
pub(crate) type Weights = BTreeMap<Name, PerMetric<u64>>;

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
    /// The memory limit of the node expected to fill up first.
    pub maxmemory: Option<u64>,
    /// The memory of its nodes by id, if measured by servers.
    pub used: BTreeMap<Name, Used>,
    /// The load of each slot, in half the memory of exact counts: years of daily reports are many.
    pub slots: PerMetric<Vec<f32>>,
    /// Its heaviest tags.
    pub tags: Weights,
    /// Its heaviest keys.
    pub keys: Weights,
}

impl Condensed {
    /// Condenses the report in `file`, of the time `at`.
    ///
    /// # Errors
    /// It lacks a part.
    pub(crate) fn of(file: Name, summary: &Summary, at: u64) -> Result<Condensed> {
        let report = Report::new(file.clone(), summary.clone())?;
        let unseen = unseen_load(summary);
        let load = |metric: Metric| report.load(metric).filter(|_| !unseen.contains(&metric));
        let point = Point {
            at,
            state: summary.verdict.state,
            left_out: Doubt::of(summary).or_else(|| Doubt::of_coverage(summary)),
            load: PerMetric {
                keys: load(Metric::Keys).unwrap_or(0),
                weights: PerWeight::from_fn(load),
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
        let slots = |metric: Metric| {
            point.load.get(metric)?;
            let loads = summary.slots.loads.get(metric)?.iter();
            Some(loads.map(|load| *load as f32).collect())
        };
        let tags = summary.tags.iter().flat_map(|tags| &tags.top);
        let keys = summary.keys.iter().flat_map(|keys| &keys.top);
        Ok(Condensed {
            by: summary.by,
            basis: Basis::new(&summary.input),
            nodes,
            maxmemory: summary.capacity.as_ref().map(|capacity| capacity.maxmemory),
            used: used(summary),
            slots: PerMetric {
                keys: slots(Metric::Keys).unwrap_or_default(),
                weights: PerWeight::from_fn(slots),
            },
            tags: tags
                .take(FOLLOWED)
                .map(|tag| (tag.tag.clone(), tag.load))
                .collect(),
            keys: keys
                .take(FOLLOWED)
                .map(|key| {
                    let weights = key.weights;
                    (key.key.clone(), PerMetric { keys: 1, weights })
                })
                .collect(),
            point,
        })
    }

    /// All load in a metric, if the report has it.
    pub(crate) fn total(&self, metric: Metric) -> Option<f64> {
        self.point.load.get(metric).map(|load| *load as f64)
    }
}

/// Names of each kind that are kept of a report: what is heaviest today was not far from that before.
const FOLLOWED: usize = 200;

/// The metrics of roles that were not seen of all nodes, unless the report is left out for it.
fn unseen_load(summary: &Summary) -> Vec<Metric> {
    let roles = summary.coverage.roles.iter();
    let of_load = roles.filter(|role| role.role == Some(Role::Load));
    let partly = of_load.filter(|role| !role.is_whole());
    partly.map(|role| role.metric.metric()).collect()
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

fn used(summary: &Summary) -> BTreeMap<Name, Used> {
    let capacity = summary.capacity.as_ref();
    let Some(capacity) = capacity.filter(|capacity| capacity.measured) else {
        return BTreeMap::new();
    };
    let owning = summary.nodes.owning();
    let layouts: BTreeMap<&Name, u64> = owning.map(|node| (&node.id, slots_of(node))).collect();
    let used = |room: &NodeRoom| {
        let used = Used {
            bytes: room.used,
            layout: *layouts.get(&room.id)?,
            // Older reports have one limit for all nodes.
            maxmemory: match room.maxmemory {
                0 => capacity.maxmemory,
                limit => limit,
            },
        };
        Some((room.id.clone(), used))
    };
    // If a report lists a node twice, the last is kept.
    capacity.nodes.iter().filter_map(used).collect()
}
