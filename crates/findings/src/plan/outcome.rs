//! The result of a plan for people and scripts: the fields of `slotscope plan --json`, in order.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_planner::move_request::MoveRequest;
use slotscope_planner::solve::MovePlan;

use crate::plan::block_time::{BlockingKey, MAX_BLOCK};
use crate::plan::duration::setslot_secs;
use crate::plan::goal_outcome::{self, FloorUnit, GoalOutcome};
use crate::plan::inputs::PlanInputs;
use crate::plan::moves::{self, Move, Room};
use crate::plan::node_outcome::{self, NodeOutcome};
use crate::summary::balance;
use slotscope_model::balance::{Balance, tidy};
use slotscope_model::step::Requested;

/// Schema name and version.
pub(crate) const SCHEMA: &str = "slotscope.plan/2";

/// A plan and its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlanOutcome {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The request, as a step of moves in a report has it.
    pub request: Requested,
    /// The loads that are judged, in the order in which they are evened out, and the limits of the nodes.
    pub goals: Vec<GoalOutcome>,
    /// The nodes that are to hold slots, as loaded today, by metric.
    pub before: BTreeMap<&'static str, Balance>,
    /// The same nodes then.
    pub after: BTreeMap<&'static str, Balance>,
    /// By metric: no plan brings the fullest node below this, in fair shares.
    pub floor: BTreeMap<&'static str, f64>,
    /// The unit that cannot be split and sets the first floor above 1; null if all are 1.
    pub floor_unit: Option<FloorUnit>,
    /// Whether more would move if the limits let it.
    pub limited: bool,
    /// How long the largest known key that moves blocks its node with MIGRATE, in milliseconds; null: no large key is known.
    pub longest_block_ms: Option<u64>,
    /// The nodes, those to be added last.
    pub nodes: Vec<NodeOutcome>,
    /// The moves, in this order.
    pub moves: Vec<MoveOutcome>,
    /// Slots that move.
    pub slots_moved: usize,
    /// Keys that move; null where the input does not say them.
    pub keys_moved: Option<u64>,
    /// Bytes that move; null where the input has no sizes.
    pub bytes_moved: Option<u64>,
    /// About the least bytes of any plan with these targets; null where the input has no sizes.
    pub least_bytes: Option<u64>,
    /// Seconds that the setslot script takes where nodes and network are quiet.
    pub estimated_secs: f64,
    /// Keys whose slots stay, since their move blocks a node for too long.
    pub pinned: Vec<BlockingKey>,
    /// Keys that move and block a node for too long.
    pub big_keys: Vec<BlockingKey>,
    /// Why it takes --force.
    #[serde(skip)]
    pub forced: Option<String>,
    /// Reasons to mistrust the plan.
    pub warnings: Vec<String>,
}

/// Slots that go from one node to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MoveOutcome {
    /// The node that gives them.
    pub from: Name,
    /// The node that gets them.
    pub to: Name,
    /// First and last slot of each range, both included.
    pub ranges: Vec<(u16, u16)>,
    /// How many.
    pub slots: usize,
    /// Their load; keys are null if the input does not say them.
    #[serde(flatten)]
    pub load: PerMetric<Option<u64>>,
}

impl PlanOutcome {
    pub(crate) fn new(request: &MoveRequest<'_>, plan: &MovePlan, inputs: &PlanInputs<'_>) -> Self {
        let unordered = moves::between(&request.owner, &plan.owner);
        let whole = match &request.caps {
            Some(caps) => moves::ordered(unordered, &Room::new(request, caps)),
            None => unordered,
        };
        let moves = match inputs.job_bytes.zip(inputs.loads.bytes()) {
            Some((most, bytes)) => moves::in_parts(whole, bytes, most),
            None => whole,
        };
        let moved = |loads: &Vec<u64>| moves.iter().map(|shift| shift.load(loads)).sum::<u64>();
        let rows = moves.iter().map(|shift| move_outcome(shift, inputs));
        let keys_moved = moved(&inputs.loads.keys);
        let bytes_moved = inputs.loads.bytes().map(moved);
        let estimated_secs = setslot_secs(plan.slots, keys_moved, bytes_moved);
        PlanOutcome {
            schema: SCHEMA,
            request: Requested::default(),
            goals: goal_outcome::goals(request, plan, inputs.headroom),
            before: balances(request, &request.owner, inputs),
            after: balances(request, &plan.owner, inputs),
            floor: goal_outcome::floors(request, plan),
            floor_unit: goal_outcome::floor_unit(request, plan, inputs),
            limited: plan.limited,
            longest_block_ms: None,
            nodes: node_outcome::nodes(request, plan, inputs),
            slots_moved: plan.slots,
            keys_moved: inputs.knows(Metric::Keys).then_some(keys_moved),
            bytes_moved,
            least_bytes: bytes_moved.map(|_| plan.least_price as u64),
            moves: rows.collect(),
            estimated_secs: tidy(estimated_secs),
            pinned: Vec::new(),
            big_keys: Vec::new(),
            forced: None,
            warnings: Vec::new(),
        }
    }

    /// Records keys that stay, and those of `known` that move and block a node.
    pub(super) fn set_keys(
        &mut self,
        pinned: Vec<BlockingKey>,
        known: &[BlockingKey],
        most: Option<Duration>,
    ) {
        let moved = known.iter().filter(|key| self.moves_slot(key.slot));
        let moving: Vec<BlockingKey> = moved.cloned().collect();
        self.longest_block_ms = moving.iter().map(|key| key.block_ms).max();
        // Keys below the user's limit are not mentioned.
        let limit = most.unwrap_or(MAX_BLOCK);
        self.big_keys = moving
            .into_iter()
            .filter(|key| key.block_time() > limit)
            .collect();
        self.pinned = pinned;
    }

    pub(crate) fn moves_slot(&self, slot: u16) -> bool {
        let mut ranges = self.moves.iter().flat_map(|shift| &shift.ranges);
        ranges.any(|(first, last)| (*first..=*last).contains(&slot))
    }
}

/// Balance of the staying nodes, by metric.
fn balances(
    request: &MoveRequest<'_>,
    owner: &[Option<usize>],
    inputs: &PlanInputs<'_>,
) -> BTreeMap<&'static str, Balance> {
    let known = inputs
        .loads
        .iter()
        .filter(|(metric, _)| inputs.knows(*metric));
    known
        .map(|(metric, loads)| {
            let sums = request.loads_under(loads, owner);
            let staying: Vec<u64> = request.staying().map(|node| sums[node]).collect();
            (metric.name(), balance::of(&staying))
        })
        .collect()
}

fn move_outcome(shift: &Move, inputs: &PlanInputs<'_>) -> MoveOutcome {
    let name = |node: usize| Name::from(inputs.nodes[node].id.as_str());
    MoveOutcome {
        from: name(shift.from),
        to: name(shift.to),
        slots: shift.slots().count(),
        load: inputs
            .loads
            .map(|metric, loads| inputs.knows(metric).then(|| shift.load(loads))),
        ranges: shift.ranges.clone(),
    }
}
