//! What a plan comes to, for people and scripts: the fields of `slotscope plan --json`, in its order.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::plan::doubts::BigKey;
use crate::plan::duration::setslot_secs;
use crate::plan::lower_bound::SetBy;
use crate::plan::moves;
use crate::plan::moves::Move;
use crate::plan::problem::Problem;
use crate::plan::solve::Assignment;
use crate::slot::SLOTS;
use crate::summary::balance::{Balance, tidy};
use crate::summary::independent_units::{UnitKind, Units};
use crate::topology::find::Called;

/// The name and version of the form.
pub const SCHEMA: &str = "slotscope.plan/1";

/// A node, as it is planned for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedNode {
    /// What the cluster calls it, or is to call it; to be escaped when shown.
    pub id: String,
    /// Where it listens, if that is known; to be escaped when shown.
    pub address: Option<String>,
    /// The hostname that it announces, without a port; to be escaped when shown.
    pub hostname: Option<String>,
    /// Its relative capacity; 0: it is to be emptied, or has failed.
    pub capacity: f64,
    /// Whether it has failed: it neither gives nor takes slots.
    pub failed: bool,
}

impl PlannedNode {
    /// What it may be called.
    pub fn called(&self) -> Called<'_> {
        Called {
            id: &self.id,
            address: self.address.as_deref(),
            hostname: self.hostname.as_deref(),
        }
    }
}

/// A plan and what it comes to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlanOutcome {
    /// The name and version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The metrics that load is measured in, with their weights.
    pub by: BTreeMap<&'static str, f64>,
    /// The nodes that are to hold slots, as loaded today, in the metric of `by`; of a mix each has parts in 10^12.
    pub before: Balance,
    /// The same nodes then.
    pub after: Balance,
    /// The fullest node that stays, in fair shares by capacity, once all has moved.
    pub over_fair: f64,
    /// The fullest of the nodes that stay, in fair shares, by each metric that is not in `by`.
    pub others: BTreeMap<&'static str, Change<f64>>,
    /// No plan gets `over_fair` below this.
    pub floor: f64,
    /// What cannot be split and sets the floor; absent where it is 1.
    pub floor_unit: Option<FloorUnit>,
    /// Whether more would move if the limits let it.
    pub limited: bool,
    /// The nodes, those to be added last.
    pub nodes: Vec<NodeOutcome>,
    /// What moves.
    pub moves: Vec<MoveOutcome>,
    /// Slots that move.
    pub slots_moved: usize,
    /// Keys that move.
    pub keys_moved: u64,
    /// Bytes that move; `None` where the input has no sizes.
    pub bytes_moved: Option<u64>,
    /// Seconds that the setslot script takes where nodes and network are quiet.
    pub estimated_secs: f64,
    /// Keys of 100 MiB or more that move: MIGRATE blocks both nodes while one is copied.
    pub big_keys: Vec<BigKey>,
    /// Reasons to mistrust the plan.
    pub warnings: Vec<String>,
}

/// What sets the floor.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FloorUnit {
    /// `slot`, `tag` or `key`; `slots` where several have to share a node.
    pub kind: &'static str,
    /// Its number or name; of several slots how many of which.
    pub name: Name,
    /// The slot that it is in.
    pub slot: Option<u16>,
    /// Its part of the load of that slot.
    pub share: Option<f64>,
}

/// Something today and once all has moved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Change_of_{T}")]
pub struct Change<T> {
    /// Today.
    pub before: T,
    /// Once all has moved.
    pub after: T,
}

/// A node today and then.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NodeOutcome {
    /// Its id.
    pub id: Name,
    /// Where it listens, if that is known.
    pub address: Option<Name>,
    /// The hostname that it announces, without a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Name>,
    /// Whether the topology has it as failed: it neither gives nor takes slots.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Its relative capacity; 0: it is to be emptied, or has failed.
    pub weight: f64,
    /// Its load in fair shares by capacity; absent where that is 0.
    pub over_fair: Option<Change<f64>>,
    /// How many slots it owns.
    pub slots: Change<usize>,
    /// What it holds.
    #[serde(flatten)]
    pub load: PerMetric<Change<u64>>,
}

/// Slots that go from one node to another.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MoveOutcome {
    /// The node that gives them.
    pub from: Name,
    /// The node that gets them.
    pub to: Name,
    /// First and last slot of each range, both included.
    pub ranges: Vec<(u16, u16)>,
    /// How many.
    pub slots: usize,
    /// What they hold.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// What is known of the cluster in addition to the problem.
pub struct PlanInputs<'a> {
    /// The nodes of the problem.
    pub nodes: &'a [PlannedNode],
    /// The node that owns each slot today. In the problem slots of failed nodes have no owner.
    pub owner: &'a [Option<usize>],
    /// The load of each slot.
    pub loads: &'a PerMetric<Vec<u64>>,
    /// The metrics of the problem and their weights.
    pub by: &'a [(Metric, f64)],
    /// The loads of the other metrics, as the problem has them.
    pub others: &'a [(Metric, Vec<u64>)],
    /// Tags and keys that are known by name.
    pub units: &'a Units,
}

impl PlanOutcome {
    /// What `plan` comes to.
    pub fn of(problem: &Problem<'_>, plan: &Assignment, inputs: &PlanInputs<'_>) -> Self {
        let moves = moves::between(&problem.owner, &plan.owner);
        let moved = |loads: &Vec<u64>| {
            moves.iter().flat_map(Move::slots).fold(0u64, |sum, slot| {
                sum.saturating_add(loads[usize::from(slot)])
            })
        };
        let slots_moved = moves.iter().flat_map(Move::slots).count();
        let keys_moved = moved(&inputs.loads.keys);
        let bytes_moved = inputs.loads.bytes().map(moved);
        PlanOutcome {
            schema: SCHEMA,
            by: inputs
                .by
                .iter()
                .map(|(metric, weight)| (metric.name(), *weight))
                .collect(),
            before: balance(problem, &problem.owner),
            after: balance(problem, &plan.owner),
            over_fair: tidy(plan.over_fair),
            others: inputs
                .others
                .iter()
                .map(|(metric, loads)| (metric.name(), fullest(&problem.by(loads), plan)))
                .collect(),
            floor: tidy(plan.floor.over_fair),
            floor_unit: plan
                .floor
                .set_by
                .map(|set_by| floor_unit(set_by, problem, inputs)),
            limited: plan.limited,
            nodes: nodes(problem, plan, inputs),
            slots_moved,
            keys_moved,
            bytes_moved,
            moves: moves.iter().map(|of| move_outcome(of, inputs)).collect(),
            estimated_secs: tidy(setslot_secs(slots_moved, keys_moved, bytes_moved)),
            big_keys: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether a slot moves.
    pub fn moves_slot(&self, slot: u16) -> bool {
        let mut ranges = self.moves.iter().flat_map(|of| &of.ranges);
        ranges.any(|(first, last)| (*first..=*last).contains(&slot))
    }
}

/// The fullest of the nodes that stay, today and then.
fn fullest(problem: &Problem<'_>, plan: &Assignment) -> Change<f64> {
    let under = |owner: &[Option<usize>]| {
        let shares = problem.loads_under(owner).into_iter().zip(problem.fair());
        let staying = shares.filter(|(_, fair)| *fair > 0.0);
        let fullest = staying
            .map(|(load, fair)| load as f64 / fair)
            .fold(0.0, f64::max);
        tidy(fullest)
    };
    Change {
        before: under(&problem.owner),
        after: under(&plan.owner),
    }
}

/// Statistics of the nodes that are to hold slots.
fn balance(problem: &Problem<'_>, owner: &[Option<usize>]) -> Balance {
    let loads = problem.loads_under(owner).into_iter();
    let staying = loads.zip(&problem.capacity).filter(|(_, of)| **of > 0.0);
    Balance::of(&staying.map(|(load, _)| load).collect::<Vec<_>>())
}

fn nodes(problem: &Problem<'_>, plan: &Assignment, inputs: &PlanInputs<'_>) -> Vec<NodeOutcome> {
    let fair = problem.fair();
    // What a failed node owns stays its own.
    let owner_then: Vec<_> = plan
        .owner
        .iter()
        .zip(inputs.owner)
        .map(|(then, today)| then.or(*today))
        .collect();
    let both = |of: &dyn Fn(&[Option<usize>]) -> Vec<u64>| {
        let (before, after) = (of(inputs.owner), of(&owner_then));
        before
            .into_iter()
            .zip(after)
            .map(|(before, after)| Change { before, after })
            .collect::<Vec<_>>()
    };
    let blended = both(&|owner| problem.loads_under(owner));
    let sums = |loads: &[u64]| both(&|owner| sums(owner, loads, inputs.nodes.len()));
    let slots = sums(&[1; SLOTS]);
    let loads = inputs.loads.map(|_, loads| sums(loads));
    let node = |(at, node): (usize, &PlannedNode)| {
        let over = |load: u64| tidy(load as f64 / fair[at]);
        let Change { before, after } = blended[at];
        NodeOutcome {
            id: Name::from(node.id.as_str()),
            address: node.address.as_deref().map(Name::from),
            hostname: node.hostname.as_deref().map(Name::from),
            failed: node.failed,
            weight: node.capacity,
            over_fair: (fair[at] > 0.0).then(|| Change {
                before: over(before),
                after: over(after),
            }),
            slots: Change {
                before: slots[at].before as usize,
                after: slots[at].after as usize,
            },
            load: loads.map(|_, changes| changes[at]),
        }
    };
    inputs.nodes.iter().enumerate().map(node).collect()
}

/// The load of each of `nodes` nodes.
fn sums(owner: &[Option<usize>], loads: &[u64], nodes: usize) -> Vec<u64> {
    let mut sums = vec![0u64; nodes];
    for (owner, load) in owner.iter().zip(loads) {
        owner
            .iter()
            .for_each(|node| sums[*node] = sums[*node].saturating_add(*load));
    }
    sums
}

fn move_outcome(of: &Move, inputs: &PlanInputs<'_>) -> MoveOutcome {
    let name = |node: usize| Name::from(inputs.nodes[node].id.as_str());
    let load = |loads: &Vec<u64>| {
        of.slots().fold(0u64, |sum, slot| {
            sum.saturating_add(loads[usize::from(slot)])
        })
    };
    MoveOutcome {
        from: name(of.from),
        to: name(of.to),
        slots: of.slots().count(),
        load: inputs.loads.map(|_, loads| load(loads)),
        ranges: of.ranges.clone(),
    }
}

/// The slot, or the tag or key that is most of it.
fn floor_unit(set_by: SetBy, problem: &Problem<'_>, inputs: &PlanInputs<'_>) -> FloorUnit {
    let slot = match set_by {
        SetBy::Slot(slot) => slot,
        SetBy::Slots { together, heaviest } => {
            let name = Name::from(format!("{together} of the {heaviest} heaviest").as_str());
            return FloorUnit {
                kind: "slots",
                name,
                slot: None,
                share: None,
            };
        }
    };
    let (kind, name, share) =
        match heaviest_unit(slot, problem, inputs).filter(|(.., share)| *share > 0.5) {
            Some((UnitKind::Key, name, share)) => ("key", name, Some(tidy(share))),
            Some((_, name, share)) => ("tag", name, Some(tidy(share))),
            None => ("slot", Name::from(slot.to_string().as_str()), None),
        };
    FloorUnit {
        kind,
        name,
        slot: Some(slot),
        share,
    }
}

/// The named unit that is the largest part of a slot's load, and which part of it.
fn heaviest_unit(
    slot: u16,
    problem: &Problem<'_>,
    inputs: &PlanInputs<'_>,
) -> Option<(UnitKind, Name, f64)> {
    let mut parts: BTreeMap<(Name, bool), (UnitKind, f64)> = BTreeMap::new();
    for (metric, weight) in inputs.by {
        let (Some(units), Some(loads)) = (inputs.units.per.get(*metric), inputs.loads.get(*metric))
        else {
            continue;
        };
        let all = loads[usize::from(slot)] as f64;
        for unit in units
            .named
            .iter()
            .filter(|unit| unit.slot == slot && all > 0.0)
        {
            let part = parts
                .entry((unit.name.clone(), unit.kind == UnitKind::Key))
                .or_insert((unit.kind, 0.0));
            part.1 += weight * unit.load / units.total.max(1.0);
        }
    }
    let weights: f64 = inputs.by.iter().map(|(_, weight)| weight).sum();
    let whole = problem.loads[usize::from(slot)] as f64 / problem.total() as f64 * weights;
    let heaviest = parts.into_iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
    heaviest.map(|((name, _), (kind, part))| (kind, name, (part / whole).min(1.0)))
}
