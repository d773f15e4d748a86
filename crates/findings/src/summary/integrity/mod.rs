//! Signs of a damaged dump: keys that are missing, truncated, duplicated, foreign, or from another time.
//!
//! `of_loads` finds those in slot and node loads, `of_files` those in the files read.

pub mod of_files;
pub(crate) mod of_loads;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::name::Name;

use crate::summary::nodes::NodeLoad;
use crate::summary::worded::Worded;

/// (e) Tolerated fraction of repeated keys.
pub const TWICE: f64 = 0.2;
/// The part of them above which rows are requests: no cluster has as many copies of a key.
pub(crate) const REQUESTS: f64 = 0.75;

/// A sign that the dump is damaged.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// Reading stopped before the end of the input.
    Incomplete,
    /// Lines are server or redis-cli errors: a scan was interrupted.
    ErrorLines {
        /// How many.
        lines: u64,
    },
    /// Many keys occur repeatedly.
    Duplicates {
        /// The fraction of keys seen before.
        share: f64,
    },
    /// The keys of one node occur repeatedly.
    NodeTwice {
        /// The node.
        node: NodeName,
        /// The fraction of its keys seen before.
        share: f64,
    },
    /// Keys are in slots that no node owns.
    UnownedKeys {
        /// How many.
        keys: u64,
    },
    /// Keys are in slots of a node other than the one they were taken from.
    StrayKeys {
        /// How many.
        keys: u64,
    },
    /// The slots of a node are empty.
    EmptyNode {
        /// The node.
        node: NodeName,
    },
    /// The slots of a node are empty, and its server has no keys.
    EmptyServer {
        /// The node.
        node: NodeName,
    },
    /// The input is the RDB file of one cluster node, and all its keys are between two slots.
    OneNode {
        /// The first slot with keys.
        first: usize,
        /// The last one.
        last: usize,
    },
    /// Consecutive slots are empty.
    EmptySlots {
        /// The first slot.
        first: usize,
        /// The last slot.
        last: usize,
    },
    /// A slot holds far more keys than any tag accounts for.
    OverfullSlot {
        /// The slot.
        slot: usize,
        /// Its keys not accounted for by tags.
        keys: u64,
        /// The number of keys that would already be unusual.
        unusual: u64,
    },
    /// One node holds all or nearly all keys of a cluster of several.
    OnlyNode {
        /// The node.
        node: NodeName,
        /// How many others there are.
        others: usize,
    },
    /// Dumps of two nodes cover the same slots.
    SharedSlots {
        /// The two files.
        files: [Name; 2],
        /// The slots, as inclusive first and last.
        ranges: Vec<(u16, u16)>,
        /// How many other pairs of nodes share slots.
        others: usize,
        /// Whether both are RDB files.
        are_snapshots: bool,
    },
    /// All other files cover one node each, and this one covers slots of theirs.
    Stranger {
        /// The file.
        file: Name,
        /// How many slots of others it holds.
        slots: usize,
    },
    /// RDB files were written more than a day apart.
    FilesApart(FilesApart),
    /// A node's load deviates from its share more than hashing explains.
    UnlikelyNode {
        /// The node.
        node: NodeName,
        /// The deviation, as a fraction of the share.
        over: f64,
        /// The likely damage: `MissingNode`, `Duplicates` or `Foreign`.
        damage: Damage,
        /// Whether there are only two nodes, so that either may be the wrong one.
        of_two: bool,
        /// The deviation in standard deviations of random hashing.
        sigmas: f64,
        /// Whether the nodes are an even split that may not match the cluster; it is then only a warning.
        assumed: bool,
    },
}

/// Files written at different times.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesApart {
    /// The oldest, and when it was written, in seconds since 1970.
    pub oldest: (Name, u64),
    /// The newest.
    pub newest: (Name, u64),
}

/// A node by id and display name.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeName {
    /// Its id.
    pub id: Name,
    /// Its address, or its id if the address is unknown.
    pub name: Name,
}

impl From<&NodeLoad> for NodeName {
    fn from(node: &NodeLoad) -> Self {
        NodeName {
            id: node.id.clone(),
            name: node.name(),
        }
    }
}

/// The damage of a dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// The input could not be read to its end.
    Incomplete,
    /// Keys of a node, or a part of them, are missing.
    MissingNode,
    /// A server has no keys: it may have lost its data.
    EmptyServer,
    /// Names were truncated.
    Truncated,
    /// Keys occur twice.
    Duplicates,
    /// Keys are from elsewhere.
    Foreign,
    /// The files are of different times: slots moved between them.
    Mixed,
}

/// Evidence that the dump is incomplete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// The damage.
    pub kind: Damage,
    /// The node that is concerned.
    pub node: Option<Name>,
    /// The evidence in a sentence.
    #[serde(default)]
    pub sentence: Worded<Sign>,
}

impl From<&Sign> for Integrity {
    fn from(sign: &Sign) -> Self {
        Integrity {
            kind: sign.kind(),
            node: match sign {
                Sign::EmptyNode { node }
                | Sign::EmptyServer { node }
                | Sign::OnlyNode { node, .. }
                | Sign::UnlikelyNode { node, .. }
                | Sign::NodeTwice { node, .. } => Some(node.id.clone()),
                _ => None,
            },
            sentence: sign.clone().into(),
        }
    }
}

impl Sign {
    /// The kind of damage.
    pub(crate) fn kind(&self) -> Damage {
        match self {
            Sign::Incomplete | Sign::ErrorLines { .. } => Damage::Incomplete,
            Sign::Duplicates { .. } | Sign::NodeTwice { .. } => Damage::Duplicates,
            Sign::UnownedKeys { .. } | Sign::StrayKeys { .. } | Sign::Stranger { .. } => {
                Damage::Foreign
            }
            Sign::OneNode { .. }
            | Sign::EmptyNode { .. }
            | Sign::EmptySlots { .. }
            | Sign::OnlyNode { .. } => Damage::MissingNode,
            Sign::EmptyServer { .. } => Damage::EmptyServer,
            Sign::SharedSlots { .. } | Sign::FilesApart(_) => Damage::Mixed,
            Sign::OverfullSlot { .. } => Damage::Truncated,
            Sign::UnlikelyNode { damage, .. } => *damage,
        }
    }

    /// Whether slot and node loads alone show it.
    pub(crate) fn is_of_loads(&self) -> bool {
        matches!(
            self,
            Sign::EmptyNode { .. }
                | Sign::EmptyServer { .. }
                | Sign::OneNode { .. }
                | Sign::OnlyNode { .. }
                | Sign::EmptySlots { .. }
                | Sign::OverfullSlot { .. }
                | Sign::UnlikelyNode { .. }
        )
    }

    /// Whether it adds anything to the counts shown for the input.
    pub(crate) fn is_news(&self) -> bool {
        let is_of_kind = matches!(
            self.kind(),
            Damage::MissingNode | Damage::EmptyServer | Damage::Truncated | Damage::Mixed
        );
        is_of_kind || matches!(self, Sign::Stranger { .. })
    }

    /// The same of a collection that lacks nothing that servers have.
    pub(crate) fn of_servers(self) -> Sign {
        match self {
            Sign::EmptyNode { node } => Sign::EmptyServer { node },
            sign => sign,
        }
    }

    /// Whether it is only a warning: the dump is not suspicious, but should not be used for a plan.
    pub(crate) fn is_doubt(&self) -> bool {
        matches!(self, Sign::UnlikelyNode { assumed: true, .. })
    }
}
