//! What evens the nodes out: every remedy is carried out on the loads of the report, and its result is shown.

mod commands;
mod equal_slots;
mod split;

pub use commands::Commands;

use crate::metric::{Metric, PerMetric};
use crate::plan::problem::{MoveLimits, Problem};
use crate::plan::solve::plan;
use crate::plan::{load, moves};
use crate::summary::Summary;
use crate::summary::balance::tidy;
use crate::summary::cause::limit;
use crate::summary::remedy::{Remedy, RemedyKind};
use crate::summary::scaling::most_nodes;
use crate::topology::Topology;

/// How far above its fair share a node may stay, as `slotscope plan` has it.
const TOLERANCE: f64 = 0.01;

/// Adds the remedies to the verdict of every metric in which the nodes are uneven, the recommended one first.
pub fn add(summary: &mut Summary, topology: &Topology, commands: &Commands) {
    let uneven = summary.verdict.by_metric.iter();
    let uneven = uneven.filter(|found| found.state.is_uneven());
    let metrics: Vec<Metric> = uneven.map(|found| found.metric).collect();
    for metric in metrics {
        let remedies = remedies(summary, topology, metric, commands);
        let found = summary.verdict.by_metric.iter_mut();
        for found in found.filter(|found| found.metric == metric) {
            found.remedies.clone_from(&remedies);
        }
    }
}

fn remedies(
    summary: &Summary,
    topology: &Topology,
    metric: Metric,
    commands: &Commands,
) -> Vec<Remedy> {
    let Some(cluster) = Cluster::of(summary, topology, metric) else {
        return Vec::new();
    };
    let today = cluster.today.max_over_mean;
    let mut found = Vec::new();
    let moved = [
        equal_slots::owners(topology).map(|owner| {
            (
                cluster.under(&owner),
                RemedyKind::EqualSlots,
                commands.rebalance(topology),
            )
        }),
        Some((
            cluster.planned(0),
            RemedyKind::Plan,
            Some(commands.plan(metric, topology)),
        )),
    ];
    for (outcome, kind, command) in moved.into_iter().flatten() {
        // What makes it worse, or no better, is no remedy.
        if outcome.max_over_mean < today - 0.005 {
            found.push(outcome.remedy(kind, command));
        }
    }
    let by_moves = found.iter().map(|remedy| remedy.max_over_mean_after);
    let by_moves = by_moves.fold(today, f64::min);
    found.extend(split::remedy(summary, &cluster, by_moves, commands));
    found.extend(one_more_node(summary, &cluster, commands));
    // First what evens them out without touching the application, and of that what moves least.
    let today = &cluster.today.after;
    found.sort_by(|a, b| {
        let order = rank(a, today).partial_cmp(&rank(b, today));
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    found
}

/// In the order of recommendation: reaches the goal, in no other metric at the cost of evenness, is no change of the
/// application, moves little.
fn rank(remedy: &Remedy, today: &PerMetric<f64>) -> (bool, bool, bool, bool, f64) {
    let misses = remedy.max_over_mean_after > limit::BALANCED;
    let worsens = remedy.after.iter().any(|(metric, after)| {
        let today = today.get(metric).copied().unwrap_or(0.0);
        *after > limit::BALANCED.max(today)
    });
    let cost = match misses {
        true => remedy.max_over_mean_after,
        false => remedy.keys_moved as f64,
    };
    (
        remedy.kind == RemedyKind::AddNodes,
        misses,
        worsens,
        remedy.kind == RemedyKind::Split,
        cost,
    )
}

/// One more primary, where the heaviest unit leaves room for it.
fn one_more_node(summary: &Summary, cluster: &Cluster<'_>, commands: &Commands) -> Option<Remedy> {
    let units = summary.units.per.get(cluster.metric)?;
    let most = most_nodes(cluster.total(), units);
    let nodes = cluster.owning as u64 + 1;
    if most.is_some_and(|most| most < nodes) {
        return None;
    }
    let outcome = cluster.planned(1);
    let command = commands.plan_with_one_more(cluster.metric);
    Some(Remedy {
        nodes: most.filter(|most| *most < 1000),
        ..outcome.remedy(RemedyKind::AddNodes, Some(command))
    })
}

/// Loads and owners by slot, and what they come to.
struct Cluster<'a> {
    loads: &'a PerMetric<Vec<u64>>,
    of_metric: &'a [u64],
    metric: Metric,
    owner: Vec<Option<usize>>,
    nodes: usize,
    /// Nodes that own slots.
    owning: usize,
    /// What a failed node owns stays its own.
    failed: Vec<bool>,
    fixed: Vec<bool>,
    today: Outcome,
}

/// What other owners come to.
#[derive(Debug, Clone, Default)]
struct Outcome {
    max_over_mean: f64,
    /// The same by every metric.
    after: PerMetric<f64>,
    slots: u64,
    keys: u64,
    bytes: Option<u64>,
}

impl Outcome {
    fn remedy(self, kind: RemedyKind, command: Option<String>) -> Remedy {
        Remedy {
            kind,
            unit: None,
            names: Vec::new(),
            name: None,
            parts: None,
            nodes: None,
            max_over_mean_after: tidy(self.max_over_mean),
            after: self.after,
            slots_moved: self.slots,
            keys_moved: self.keys,
            bytes_moved: self.bytes,
            estimated: false,
            command: command.map(|command| command.as_str().into()),
        }
    }
}

impl<'a> Cluster<'a> {
    fn of(summary: &'a Summary, topology: &Topology, metric: Metric) -> Option<Self> {
        let loads = &summary.slots.loads;
        let owner: Vec<_> = (0..loads.keys.len())
            .map(|slot| topology.owner(slot as u16))
            .collect();
        let mut fixed = vec![false; owner.len()];
        let in_flight = topology.in_flight.iter();
        in_flight.for_each(|moving| fixed[usize::from(moving.slot)] = true);
        let mut cluster = Cluster {
            of_metric: loads.get(metric)?,
            loads,
            metric,
            nodes: topology.nodes.len(),
            failed: topology.nodes.iter().map(|node| node.failed).collect(),
            owning: summary.nodes.owning().count(),
            owner,
            fixed,
            today: Outcome::default(),
        };
        // Sums beyond what the planner can hold are left alone.
        let is_small = cluster.total() < (1u64 << 62) as f64;
        cluster.today = cluster.under(&cluster.owner);
        (is_small && cluster.today.max_over_mean > 0.0).then_some(cluster)
    }

    /// The same owners and other loads of the metric.
    fn with<'b>(&'b self, loads: &'b PerMetric<Vec<u64>>) -> Option<Cluster<'b>> {
        Some(Cluster {
            loads,
            of_metric: loads.get(self.metric)?,
            owner: self.owner.clone(),
            fixed: self.fixed.clone(),
            failed: self.failed.clone(),
            today: self.today.clone(),
            ..*self
        })
    }

    /// The load of all slots that a node owns.
    fn total(&self) -> f64 {
        let owned = self
            .owner
            .iter()
            .zip(self.of_metric)
            .filter(|(owner, _)| owner.is_some());
        owned.map(|(_, load)| *load as f64).sum()
    }

    /// What `owner` comes to.
    fn under(&self, owner: &[Option<usize>]) -> Outcome {
        let moved = moves::between(&self.owner, owner);
        let moved: Vec<u16> = moved.iter().flat_map(moves::Move::slots).collect();
        let sum = |loads: &Vec<u64>| moved.iter().map(|slot| loads[usize::from(*slot)]).sum();
        Outcome {
            max_over_mean: self.fullest(self.of_metric, owner),
            after: self.loads.map(|_, loads| tidy(self.fullest(loads, owner))),
            slots: moved.len() as u64,
            keys: sum(&self.loads.keys),
            bytes: self.loads.get(Metric::Bytes).map(sum),
        }
    }

    /// The fullest node in fair shares of `of_slots`; 0 where nothing is owned.
    fn fullest(&self, of_slots: &[u64], owner: &[Option<usize>]) -> f64 {
        let nodes = owner.iter().flatten().max().map_or(0, |last| last + 1);
        let (mut loads, mut slots) = (vec![0.0; nodes], vec![0u32; nodes]);
        for (owner, load) in owner.iter().zip(of_slots) {
            if let Some(node) = owner {
                loads[*node] += *load as f64;
                slots[*node] += 1;
            }
        }
        let owning = slots.iter().filter(|slots| **slots > 0).count() as f64;
        let total: f64 = loads.iter().sum();
        match total > 0.0 {
            true => loads.into_iter().fold(0.0, f64::max) * owning / total,
            false => 0.0,
        }
    }

    /// What a plan with so many more nodes comes to.
    fn planned(&self, more: usize) -> Outcome {
        let has_failed = |node: &usize| self.failed.get(*node).copied().unwrap_or(false);
        let nodes = 0..self.nodes + more;
        let is_movable = |slot: usize| self.owner[slot].is_some_and(|node| !has_failed(&node));
        let others = load::others(self.loads, &[(self.metric, 1.0)], is_movable);
        let problem = Problem {
            loads: self.of_metric,
            others: others.iter().map(|(_, loads)| loads.as_slice()).collect(),
            bytes: None,
            owner: self
                .owner
                .iter()
                .map(|owner| owner.filter(|node| !has_failed(node)))
                .collect(),
            capacity: nodes
                .map(|node| f64::from(u8::from(!has_failed(&node))))
                .collect(),
            fixed: self.fixed.clone(),
            limits: MoveLimits::default(),
            tolerance: TOLERANCE,
        };
        if problem.total() == 0 {
            return self.today.clone();
        }
        let planned = plan(&problem).owner.into_iter().zip(&self.owner);
        self.under(
            &planned
                .map(|(then, today)| then.or(*today))
                .collect::<Vec<_>>(),
        )
    }
}
