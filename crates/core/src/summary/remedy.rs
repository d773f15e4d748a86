//! What evens the nodes out: each remedy with the result that was computed for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::PerMetric;
use crate::name::Name;
use crate::summary::cause::CauseKind;

/// A way to even the nodes out, computed on the loads of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// What is done.
    pub kind: RemedyKind,
    /// What is split: `tag` or `key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<CauseKind>,
    /// The tag or key that is split; the heaviest of several.
    pub name: Option<Name>,
    /// All tags or keys that are split, heaviest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Name>,
    /// Into how many parts, each a tag or key with a number behind it.
    pub parts: Option<u32>,
    /// Of `add_nodes`: with more nodes than this the heaviest tag or key alone is more than a fair share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// The fullest node in fair shares afterwards.
    pub max_over_mean_after: f64,
    /// The same by every metric of the input.
    #[serde(default)]
    pub after: PerMetric<f64>,
    /// Slots that move; of a split those that a plan moves afterwards.
    pub slots_moved: u64,
    /// Keys in them.
    pub keys_moved: u64,
    /// Bytes in them, where sizes are known.
    pub bytes_moved: Option<u64>,
    /// Whether the result assumes that the parts are equal, but for the keys that are listed.
    #[serde(default)]
    pub estimated: bool,
    /// The command to type; absent where only the application can do it.
    pub command: Option<Name>,
}

/// What a remedy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemedyKind {
    /// Gives every primary the same number of slots, as `redis-cli --cluster rebalance` does.
    EqualSlots,
    /// Moves chosen slots, as `slotscope plan` does.
    Plan,
    /// Splits heavy tags or keys, then moves slots.
    Split,
    /// Adds a primary, then moves slots.
    AddNodes,
}
