//! Why nodes are not compared and judged in a role.

use serde::{Deserialize, Serialize};

/// Why nodes are not judged in a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The nodes do next to nothing.
    Idle,
    /// There is too little to judge.
    TooFew,
    /// Nodes were not seen, or only a part of them.
    NotSeen,
    /// All nodes are at their limit and evict: their loads do not show the demand.
    Capped,
    /// Counters of different spans cannot be compared.
    Counters,
    /// Values could not be read.
    Unreadable,
    /// Too many keys have no size.
    Missing,
    /// Much of a node's CPU time is in no slot.
    OutsideSlots,
    /// A node is being filled or drained.
    Moving,
}
