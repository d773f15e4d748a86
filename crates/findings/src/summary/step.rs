//! A step: the action, its actor, its command, and the state of every role after it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::name::Name;

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
    /// Slots that move.
    #[serde(default)]
    pub slots_moved: u64,
    /// Keys in them; null where the input has no keys.
    pub keys_moved: Option<u64>,
    /// Bytes in them, where sizes are known.
    pub bytes_moved: Option<u64>,
    /// For how many milliseconds the largest key that moves blocks its node; null where that is not known.
    pub longest_block_ms: Option<f64>,
    /// Whether the figures after it are estimates.
    #[serde(default)]
    pub estimated: bool,
    /// Other steps in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Step>,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Brings failed primaries or open slots back.
    Repair,
    /// Takes the dump again.
    TakeAgain,
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
    /// A failed primary is brought back.
    BringBack(Vec<Name>),
    /// A replica takes over where it cannot be.
    FailOver(Vec<Name>),
    /// Why primaries say that the cluster is down is found out: its listing does not show it.
    FindFailure,
    /// Slots without an owner get one.
    AssignSlots(u32),
    /// A move that was left open is ended.
    EndMove(Vec<u16>),
    /// The dump is taken again.
    TakeAgain,
    /// Keys of a pattern without a TTL get one, or are deleted: the pattern, the part of its keys without one, and the bytes
    /// of all its keys.
    Expire(Name, f64, u64),
    /// Buffers are looked at: their bytes.
    Buffers(u64),
    /// The limit is raised: on the host, or by larger nodes of a service.
    RaiseLimit(Option<&'static str>),
    /// Slots move: how many, from how many nodes to how many.
    Move {
        /// Slots.
        slots: u64,
        /// Keys, where they are known.
        keys: Option<u64>,
        /// Bytes, where they are known.
        bytes: Option<u64>,
        /// Whether it is for relief until an application has changed.
        is_relief: bool,
    },
    /// The change of the application comes first, and then fewer slots have to move.
    ChangeFirst {
        /// Slots that move then.
        slots: u64,
    },
    /// The nodes are meant to own their slots as they are.
    Meant,
    /// Every primary gets the same number of slots.
    EqualSlots {
        /// Slots that move.
        slots: u64,
    },
    /// A backup is restored into shards with other ranges of slots.
    SlotRanges {
        /// Shards.
        shards: u64,
    },
    /// A tag or key is split.
    Split {
        /// Names, heaviest first.
        names: Vec<Name>,
        /// Whether these are tags.
        are_tags: bool,
        /// Into how many parts each.
        parts: u32,
    },
    /// Braces are taken out of the names.
    Untag(Name),
    /// Other parts of key names are in braces.
    ChooseTags {
        /// The new tags; of names that only lose their braces, none.
        tags: Vec<Name>,
        /// Patterns of names that change.
        patterns: u64,
        /// Names that change.
        keys: u64,
    },
    /// Tags get other names.
    RenameTags(u64),
    /// A tag or key that is mostly read is cached: its name, whether it is a tag, and the share of reads where known.
    Cache {
        /// Its name.
        name: Name,
        /// Whether it is a tag.
        is_tag: bool,
        /// The share of its operations that only read.
        reads: Option<f64>,
    },
    /// Primaries are added.
    AddNodes {
        /// How many.
        count: u64,
        /// With more nodes than this the heaviest slot alone exceeds a fair share.
        most: Option<u64>,
    },
    /// The node that is being filled continues to be filled, or emptied, or stays.
    Finish(Name, bool),
}

/// Why no step cures a role.
#[derive(Debug, Clone, PartialEq)]
pub enum LeftText {
    /// No placement evens both: slots of one role strand what their nodes can use of the other.
    NoPlacement {
        /// The heaviest slots.
        slots: Vec<u16>,
        /// The least that the role can reach.
        least: f64,
    },
    /// A single slot is more than a fair share.
    OneSlot(u16),
    /// A single slot is more than a fair share of the load, and which of its keys is not known.
    HotSlot(u16),
    /// A key that would block its node for too long stays where it is.
    Pinned {
        /// Its name.
        key: Name,
        /// For how many milliseconds it would block its node.
        block_ms: f64,
    },
    /// No plan was found.
    NotFound,
    /// It is being filled or drained.
    Moving,
}
