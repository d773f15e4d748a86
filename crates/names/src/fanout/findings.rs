//! Findings about all batches: the fields of `slotscope fanout --json`, in order.

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_model::quantiles::Quantiles;
use slotscope_model::{Incomplete, Rejected};

use crate::fanout::latency::Latency;
use crate::fanout::outcome::BatchOutcome;
use crate::fanout::shapes::WorstShape;
use crate::fanout::unknown::CommandCount;

/// Schema name and version.
pub const SCHEMA: &str = "slotscope.fanout/3";

/// All findings; the fields are those of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FanoutFindings {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// Where the nodes are from.
    pub nodes: Name,
    /// Batches that have keys.
    pub batches: u64,
    /// Their keys.
    pub keys: u64,
    /// Batches that are refused because of their slots.
    pub crossslot: u64,
    /// Whether all are of MONITOR and none crosses slots: a cluster that refuses some does not show them there.
    pub refusals_unseen: bool,
    /// Batches by how they end.
    pub answers: Vec<OutcomeCount>,
    /// Distinct slots of a batch.
    pub slots_per_batch: Quantiles,
    /// Distinct nodes of a batch.
    pub nodes_per_batch: Quantiles,
    /// Effect of these nodes on the latency of a batch; absent if no batch reaches a node.
    pub latency: Option<Latency>,
    /// Kinds of batches over several slots, those first that touch the most.
    pub worst: Vec<WorstShape>,
    /// Batches over several slots of kinds that are not listed.
    pub other_shapes: u64,
    /// Commands without keys, which any node runs.
    pub without_keys: u64,
    /// Commands that are not known, so that their keys are not; the most frequent first.
    pub unknown_commands: Vec<CommandCount>,
    /// How often any of them came.
    pub unknown: u64,
    /// Transactions that end with DISCARD.
    pub discarded: u64,
    /// Transactions whose begin or end is not in the input.
    pub torn_transactions: u64,
    /// Commands of scripts, whose keys are among those of the EVAL, EVALSHA or FCALL before them.
    pub of_scripts: u64,
    /// Commands that the end of an append-only file cuts off, as after a crash.
    pub torn_commands: u64,
    /// Inputs that hold no commands.
    pub passed_over: Vec<PassedOver>,
    /// Lines of nothing.
    pub blank_lines: u64,
    /// Lines that are not a batch.
    pub rejected: Rejected,
    /// Places after which an input could not be read.
    pub incomplete: Vec<Incomplete>,
}

/// An input that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PassedOver {
    /// The file.
    pub file: Name,
    /// Why, for people.
    pub reason: String,
}

/// Batches that end one way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OutcomeCount {
    /// The way.
    pub answer: BatchOutcome,
    /// How many.
    pub batches: u64,
    /// Their share.
    pub share: f64,
}
