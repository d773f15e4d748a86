//! A step: the action, its actor, its command, and the resulting state of every role.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::name::Name;
use slotscope_planner::why_not::WhyNot;

use crate::summary::state::State;
use crate::summary::worded::Worded;

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its kind.
    pub kind: StepKind,
    /// The actor.
    pub by: Actor,
    /// The step in a sentence.
    #[serde(default)]
    pub sentence: Worded<StepText>,
    /// The command to type; absent where there is none.
    pub command: Option<Name>,
    /// The ids of the findings that it is for.
    #[serde(default)]
    pub findings: Vec<String>,
    /// The place of the step until which this one is for relief.
    pub until: Option<usize>,
    /// Every role that is known after it.
    #[serde(default)]
    pub after: After,
    /// Every role after it without the steps before it, as its command has it; absent where that is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<After>,
    /// Slots that move.
    #[serde(default)]
    pub slots_moved: u64,
    /// Keys in them; null where the input has no keys.
    pub keys_moved: Option<u64>,
    /// Bytes in them, where sizes are known.
    pub bytes_moved: Option<u64>,
    /// For how many milliseconds the largest key that moves blocks its node; null where that is not known.
    pub longest_block_ms: Option<f64>,
    /// The request of moves; absent of other steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Requested>,
    /// Whether the figures after it are estimates.
    #[serde(default)]
    pub estimated: bool,
    /// Other steps in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Step>,
}

/// The request of moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Requested {
    /// The nodes that are to hold slots; fair shares after the step are those over them.
    pub nodes: usize,
    /// Whether other nodes hold slots today.
    pub changes_nodes: bool,
    /// Every role before the step, over the same nodes.
    pub before: After,
    /// The loads, in the order in which they are evened out.
    pub roles: Vec<RequestedRole>,
    /// The bytes that keys and their hash tables may take where a node is filled, null without a limit; absent where no node
    /// has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caps: Vec<Option<u64>>,
    /// The loads whose ceilings were lifted to keep a limit of memory.
    pub lifted: Vec<String>,
    /// Whether it only brings nodes below their limits of memory, by few slots: the rest is evened out by the plan after it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relief: bool,
    /// A fingerprint of the owners of all slots after it: two plans are the same where it is.
    pub placement: String,
}

/// A load that moves are asked for, or that they may not make worse. Ratios are fair shares.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestedRole {
    /// Its metric.
    pub metric: String,
    /// Whether slots move for it.
    pub is_goal: bool,
    /// The most that a node is to hold, unless it has a slot that is heavier than a share.
    pub aim: f64,
    /// No move brings a node above this, unless it has such a slot.
    pub ceiling: f64,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Brings failed primaries or open slots back.
    Repair,
    /// Takes the dump again.
    TakeAgain,
    /// Measures which key is hot.
    Measure,
    /// Frees memory of a node at its limit.
    Free,
    /// Moves slots.
    Move,
    /// Splits a tag or key.
    Split,
    /// Takes braces out of key names.
    Untag,
    /// Puts other parts of key names in braces.
    ChooseTags,
    /// Gives tags other names.
    RenameTags,
    /// Answers reads elsewhere.
    Cache,
    /// Adds primaries.
    AddNodes,
}

/// The actor of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// Whoever runs the cluster.
    Operator,
    /// Whoever writes the application.
    Application,
}

/// Roles after a step; absent where that is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct After {
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<RoleAfter>,
    /// The load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<RoleAfter>,
    /// Keys, where they are judged for themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<RoleAfter>,
}

/// A role after a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleAfter {
    /// The fullest node in fair shares.
    pub max_over_mean: f64,
    /// The same, if no node were filled by a single slot.
    pub rest: f64,
    /// The state.
    pub state: State,
}

/// A problem that no step cures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// The name of the role.
    pub role: String,
    /// The fullest node in fair shares after all steps.
    pub max_over_mean: f64,
    /// Why.
    #[serde(default)]
    pub reason: Worded<LeftText>,
    /// The tags and keys that hold it.
    #[serde(default)]
    pub units: Vec<Name>,
}

/// The content of a step's sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum StepText {
    /// Bring failed primaries back.
    BringBack(Vec<Name>),
    /// Promote a replica if the primary cannot be brought back.
    FailOver(Vec<Name>),
    /// Find out why primaries report the cluster as down although the listing does not.
    FindFailure,
    /// Assign slots that have no owner.
    AssignSlots(u32),
    /// Complete an interrupted migration.
    EndMove(Vec<u16>),
    /// Take the dump again.
    TakeAgain,
    /// MONITOR shows which key of a slot is hot; without a slot, which keys of a node.
    FindKey {
        /// The slot.
        slot: Option<u16>,
        /// Its largest keys and their bytes, where they are known.
        likely: Vec<(Name, Option<u64>)>,
        /// How many keys it has.
        keys: u64,
    },
    /// Keys of a pattern without a TTL get one, or are deleted: the pattern, the part of its keys without one, and the bytes
    /// of all its keys.
    Expire(Name, f64, u64),
    /// Check buffers of this many bytes.
    Buffers(u64),
    /// Raise the limit: on the host, or with larger nodes of a service.
    RaiseLimit(Option<&'static str>),
    /// The limit of memory is raised.
    RaiseTo {
        /// Of this node, or of all.
        node: Option<Name>,
        /// To this many bytes.
        to: u64,
        /// A slot for which no node has room, and the limit that it needs.
        slot: Option<(u16, u64)>,
    },
    /// Slots move.
    Move {
        /// The number of slots.
        slots: u64,
        /// The number of keys, if known.
        keys: Option<u64>,
        /// The bytes, if known.
        bytes: Option<u64>,
    },
    /// Few slots move that bring nodes below their limit of memory.
    Relieve {
        /// The slots.
        slots: Vec<u16>,
        /// Their bytes.
        bytes: u64,
        /// The part of its limit that the fullest node uses today, and then.
        fullest: [f64; 2],
    },
    /// Slots move after those.
    EvenOut {
        /// Slots.
        slots: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// The nodes are meant to own their slots as they are.
    Meant,
    /// Restore a backup into shards with other slot ranges.
    SlotRanges {
        /// Shards.
        shards: u64,
    },
    /// Split tags and keys.
    Split {
        /// Name, whether it is a tag, and number of parts; heaviest first.
        units: Vec<(Name, bool, u32)>,
        /// Slots moved along with it; absent if moving is a separate step.
        then_move: Option<u64>,
        /// Whether the heaviest is mostly written, so that no cache helps.
        is_written: bool,
    },
    /// Remove the braces from names.
    Untag(Name),
    /// Put other parts of key names in braces.
    ChooseTags {
        /// The new tags; empty if names only lose their braces.
        tags: Vec<Name>,
        /// The number of patterns of names that change.
        patterns: u64,
        /// The number of names that change.
        keys: u64,
    },
    /// Put a finer part of the names in braces.
    FinerTags,
    /// Rename tags.
    RenameTags(u64),
    /// Cache a tag or key that is mostly read.
    Cache {
        /// Its name.
        name: Name,
        /// Whether it is a tag.
        is_tag: bool,
        /// The fraction of reads among its operations.
        reads: Option<f64>,
        /// Whether a primary has replicas, or it is not known that none has.
        has_replicas: bool,
    },
    /// Add primaries.
    AddNodes {
        /// The number of primaries.
        count: u64,
        /// With more nodes than this, the heaviest slot alone exceeds a fair share.
        most: Option<u64>,
    },
    /// Drain a node with few slots instead of filling it.
    Empty(Name),
    /// Remove a node without slots.
    Forget(Name),
}

/// Why no step fixes a role.
#[derive(Debug, Clone, PartialEq)]
pub enum LeftText {
    /// The planner's reason.
    WhyNot(WhyNot),
    /// A single slot is more than a fair share of the load, and which of its keys is not known.
    HotSlot(u16),
    /// A key that would block its node for too long stays in place.
    Pinned {
        /// Its name.
        key: Name,
        /// The milliseconds it would block its node.
        block_ms: f64,
    },
    /// Its load is known by node, not by slot.
    UnknownBySlot,
}
