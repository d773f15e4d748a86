//! A step: the action, its actor, its command, and the resulting state of every role.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

use crate::independent_units::UnitKind;
use crate::state::{Role, State};

/// A step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// Its kind.
    pub kind: StepKind,
    /// The actor.
    pub by: Actor,
    /// The step in a sentence.
    #[serde(default)]
    pub sentence: String,
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
    /// The tags and keys that it splits, heaviest first.
    #[serde(skip)]
    pub split: Vec<Pieces>,
    /// The room it makes, if it moves nothing.
    #[serde(skip)]
    pub frees: Option<Frees>,
}

/// Where a step that moves nothing makes room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frees {
    /// Memory of a node beside its keys.
    Buffers,
    /// Keys.
    Data,
    /// The limit itself, which is raised.
    Limit,
}

/// The name of a tag or key, its kind, and into how many parts it is split.
pub type Pieces = (Name, UnitKind, u32);

/// The request of moves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
    /// The loads that rise above their ceilings, to keep a limit of memory.
    pub lifted: Vec<String>,
    /// Whether it only brings nodes below their limits of memory, by few slots: the rest is evened out by the plan after it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relief: bool,
    /// A fingerprint of the owners of all slots after it: two plans are the same where it is.
    pub placement: String,
}

impl Requested {
    /// `maxmemory before even ops`, where a load rises for it.
    pub fn before_even(&self) -> Option<String> {
        let names = self.lifted.join(" and ");
        (!names.is_empty()).then(|| format!("maxmemory before even {names}"))
    }
}

/// A load that moves are asked for, or that they may not make worse. Ratios are fair shares.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Brings failed primaries or open slots back.
    #[default]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// Whoever runs the cluster.
    #[default]
    Operator,
    /// Whoever writes the application.
    Application,
}

/// Roles after a step; absent where that is not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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

impl After {
    /// A role; without one, that of keys.
    pub fn of(&self, role: Option<Role>) -> Option<RoleAfter> {
        match role {
            Some(Role::Memory) => self.memory,
            Some(Role::Load) => self.load,
            None => self.keys,
        }
    }

    /// Sets the value of a role.
    pub fn set(&mut self, role: Option<Role>, after: Option<RoleAfter>) {
        let place = match role {
            Some(Role::Memory) => &mut self.memory,
            Some(Role::Load) => &mut self.load,
            None => &mut self.keys,
        };
        *place = after;
    }
}

/// A role after a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RoleAfter {
    /// The fullest node in fair shares.
    pub max_over_mean: f64,
    /// The same, if no node were filled by a single slot.
    pub rest: f64,
    /// The state.
    pub state: State,
}

/// A problem that no step cures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Left {
    /// The name of the role.
    pub role: String,
    /// The fullest node in fair shares after all steps.
    pub max_over_mean: f64,
    /// Why.
    #[serde(default)]
    pub reason: String,
    /// The tags and keys that hold it.
    #[serde(default)]
    pub units: Vec<Name>,
}
