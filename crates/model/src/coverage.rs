//! The part of the cluster that was seen, as the readers say it: in each role of each node, and of the input as a whole. Nodes are called
//! even only where all of them were seen whole.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

use crate::measure::Measure;
use crate::state::Role;

/// The part of the cluster that was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Coverage {
    /// The roles that are judged, in their order.
    pub roles: Vec<RoleCoverage>,
    /// The lacks of the input as a whole.
    pub lacks: Vec<Lack>,
}

/// The coverage of one role.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RoleCoverage {
    /// The role; null for further measures.
    pub role: Option<Role>,
    /// Its measure.
    pub metric: Measure,
    /// The primaries that own slots and answer.
    pub nodes: Vec<NodeCoverage>,
}

/// A node and how much of it was seen in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeCoverage {
    /// Its id.
    pub node: Name,
    /// How much of it.
    pub seen: Extent,
    /// How many of its slots were read, where these are not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots_read: Option<u32>,
}

/// How much was seen of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All of it. It may be empty or idle: zero was seen.
    Whole,
    /// Some of its slots, or some of the time.
    Part,
    /// Nothing.
    Nothing,
}

/// How much was seen of a node, with what is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Seen {
    /// All of it.
    #[default]
    Whole,
    /// How many of its slots.
    Slots {
        /// Those that were read.
        read: u32,
        /// Those that it owns.
        owned: u32,
    },
    /// Not all of the time: its counters started anew, or much of its slots came or went.
    Time,
    /// Nothing.
    Nothing,
}

impl Seen {
    /// Whether all of it was seen.
    pub fn is_whole(self) -> bool {
        self == Seen::Whole
    }
}

impl NodeCoverage {
    /// How much of this node was seen.
    pub fn new(node: &Name, seen: Seen) -> Self {
        NodeCoverage {
            node: node.clone(),
            seen: match seen {
                Seen::Whole => Extent::Whole,
                Seen::Slots { .. } | Seen::Time => Extent::Part,
                Seen::Nothing => Extent::Nothing,
            },
            slots_read: match seen {
                Seen::Slots { read, .. } => Some(read),
                _ => None,
            },
        }
    }
}

/// A lack of the input as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Lack {
    /// Its kind.
    pub of: Lacking,
    /// The role that is not judged for it; both if null.
    pub role: Option<Role>,
    /// The missing part, in a sentence.
    pub sentence: String,
}

/// The kind of what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lacking {
    /// Slots that nobody was asked for.
    Slots,
    /// A column that was not read.
    Columns,
    /// Commands that are in no slot.
    Commands,
}

impl RoleCoverage {
    /// Whether all of each node was seen.
    pub fn is_whole(&self) -> bool {
        self.nodes.iter().all(|node| node.seen == Extent::Whole)
    }

    /// How much of a node was seen.
    pub fn of(&self, node: &Name) -> Option<Extent> {
        let mut nodes = self.nodes.iter();
        nodes.find(|seen| seen.node == *node).map(|node| node.seen)
    }
}
