//! The room that nodes have up to the limit set by the servers or the user.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

/// Memory limits given by the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Room {
    /// Bytes a node may use; absent: the server's own limit.
    pub maxmemory: Option<u64>,
    /// Monthly growth, 0.05 for 5%.
    pub growth: Option<f64>,
    /// The memory that nodes actually use, by node index.
    pub used: Vec<(usize, u64)>,
}

/// The room there is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// Bytes that a node may use.
    pub maxmemory: u64,
    /// All nodes' limits, minus the part that is out of reach because the fullest node is full first.
    pub usable_bytes: Option<f64>,
    /// With more nodes than this the heaviest tag or key is more than a node's fair share; absent where tags were not
    /// counted.
    pub max_nodes: Option<u64>,
    /// Whether `used` is the memory that servers use, not the bytes of the dump alone.
    #[serde(default)]
    pub measured: bool,
    /// The nodes in the order of the report.
    #[serde(default)]
    pub nodes: Vec<NodeRoom>,
    /// The node that is full first.
    pub first: Option<FirstFull>,
    /// The room of the node that is full first, in a sentence.
    #[serde(default)]
    pub sentence: String,
}

/// The room of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeRoom {
    /// The node.
    pub id: Name,
    /// Bytes that it may use.
    #[serde(default)]
    pub maxmemory: u64,
    /// Bytes that it uses.
    pub used: u64,
    /// Bytes that are left; less than 0 where it is over the limit.
    pub headroom: i128,
    /// Until it is full; 0 where it is, absent where it does not grow.
    pub months: Option<f64>,
}

/// The node that is full first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FirstFull {
    /// The node.
    pub id: Name,
    /// When, in months; absent without growth.
    pub months: Option<f64>,
}

impl Capacity {
    /// The headroom of a node.
    pub fn of_node(&self, id: &Name) -> Option<&NodeRoom> {
        self.nodes.iter().find(|room| room.id == *id)
    }
}
