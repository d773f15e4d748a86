//! The result of a plan for people and scripts: the fields of `slotscope plan --json`, in order.

use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;

use crate::plan::block_time::{BlockingKey, MAX_BLOCK, blocking_keys};
use crate::plan::doubts;
use crate::plan::duration::setslot_secs;
use crate::plan::goal_outcome::{FloorUnit, GoalOutcome};
use crate::plan::moves::{self, Move, Room};
use crate::plan::node_outcome::NodeOutcome;
use crate::plan::planned::Planned;
use slotscope_findings::summary::balance;
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

impl Planned<'_> {
    /// The plan with all that is known of it.
    pub(super) fn outcome(&self) -> PlanOutcome {
        let (summary, flags) = (self.summary, &self.cluster.flags);
        let moves = self.moves();
        let moved = |loads: &Vec<u64>| moves.iter().map(|shift| shift.load(loads)).sum::<u64>();
        let keys_moved = moved(&summary.slots.loads.keys);
        let bytes_moved = summary.slots.loads.bytes().map(moved);
        let secs = setslot_secs(self.plan.slots, keys_moved, bytes_moved);
        let mut big_keys = blocking_keys(summary);
        big_keys.retain(|key| {
            moves
                .iter()
                .any(|shift| shift.slots().any(|slot| slot == key.slot))
        });
        let longest_block_ms = big_keys.iter().map(|key| key.block_ms).max();
        // Keys below the user's limit are not mentioned.
        big_keys.retain(|key| key.block_time() > flags.max_block.unwrap_or(MAX_BLOCK));
        PlanOutcome {
            schema: SCHEMA,
            request: self.requested(),
            goals: self.goals(),
            before: self.balances(&self.request.owner),
            after: self.balances(&self.plan.owner),
            floor: self.floors(),
            floor_unit: self.floor_unit(),
            limited: self.plan.limited,
            longest_block_ms,
            nodes: self.nodes(),
            moves: moves.iter().map(|shift| self.move_outcome(shift)).collect(),
            slots_moved: self.plan.slots,
            keys_moved: self.knows(Metric::Keys).then_some(keys_moved),
            bytes_moved,
            least_bytes: bytes_moved.map(|_| self.plan.least_price as u64),
            estimated_secs: tidy(secs),
            pinned: self.cluster.pinned.clone(),
            big_keys,
            forced: doubts::incomplete(summary),
            warnings: self
                .cluster
                .failed_nodes()
                .chain(doubts::warnings(summary))
                .collect(),
        }
    }

    /// The moves in their order, in parts if slots move as a whole.
    fn moves(&self) -> Vec<Move> {
        let moves = moves::between(&self.request.owner, &self.plan.owner);
        let moves = match &self.request.caps {
            Some(caps) => moves::ordered(moves, Room::new(&self.request, caps)),
            None => moves,
        };
        let bytes = self.summary.slots.loads.bytes();
        match self.cluster.flags.job_bytes.zip(bytes) {
            Some((most, bytes)) => moves::in_parts(moves, bytes, most),
            None => moves,
        }
    }

    fn move_outcome(&self, shift: &Move) -> MoveOutcome {
        let name = |node: usize| Name::from(self.cluster.nodes[node].id.as_str());
        let loads = &self.summary.slots.loads;
        MoveOutcome {
            from: name(shift.from),
            to: name(shift.to),
            slots: shift.slots().count(),
            load: loads.map(|metric, loads| self.knows(metric).then(|| shift.load(loads))),
            ranges: shift.ranges.clone(),
        }
    }

    /// Balance of the staying nodes, by metric.
    fn balances(&self, owner: &[Option<usize>]) -> BTreeMap<&'static str, Balance> {
        let loads = self.summary.slots.loads.iter();
        let known = loads.filter(|(metric, _)| self.knows(*metric));
        known
            .map(|(metric, loads)| {
                let sums = self.request.loads_under(loads, owner);
                let staying: Vec<u64> = self.request.staying().map(|node| sums[node]).collect();
                (metric.name(), balance::of(&staying))
            })
            .collect()
    }
}
