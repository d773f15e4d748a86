//! The state of the nodes in one word, why the fullest is fuller than its share, and every limit that both depend on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The bands of max/mean, and what counts as heavy; charts draw the same limits.
pub mod limit {
    /// Up to this ratio the nodes are even.
    pub const BALANCED: f64 = 1.05;
    /// From this ratio on the state is `Skewed`, below it `Watch`.
    pub const SKEWED: f64 = 1.20;
    /// With fewer keys a node than this, chance alone may make nodes uneven.
    pub const FEW_KEYS: f64 = 1000.0;
    /// A unit is heavy if it holds at least this part of a node's fair share.
    pub const HEAVY: f64 = 0.05;
    /// More heavy units than this that hold more than `COARSE` of the load are one cause: tags are too coarse.
    pub const SEVERAL: usize = 3;
    /// See `SEVERAL`.
    pub const COARSE: f64 = 0.5;
    /// Unless one of them holds more than this part of what they hold together.
    pub const DOMINANT: f64 = 1.0 / 3.0;
    /// An excess that is less likely than this under a perfect hash is no chance.
    pub const CHANCE: f64 = 1e-4;
    /// A cause that adds this many fair shares is named, and one that adds this part of the excess.
    pub const NAMED: f64 = 0.05;
    /// See `NAMED`.
    pub const NAMED_PART: f64 = 0.2;
}

/// How even the nodes are, in one word, from good to bad.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// There is no load.
    Empty,
    /// The fullest node has at most 1.05 times its fair share, or there are too few keys to judge.
    Balanced,
    /// It has less than 1.2 times its fair share.
    Watch,
    /// It has 1.2 times its fair share or more.
    Skewed,
    /// The dump is incomplete or damaged.
    Suspicious,
}

impl State {
    /// All, in their order.
    pub const ALL: [State; 5] = [
        State::Empty,
        State::Balanced,
        State::Watch,
        State::Skewed,
        State::Suspicious,
    ];

    /// The word of report.json.
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "empty",
            State::Balanced => "balanced",
            State::Watch => "watch",
            State::Skewed => "skewed",
            State::Suspicious => "suspicious",
        }
    }

    /// Whether the nodes are uneven.
    pub fn is_uneven(self) -> bool {
        matches!(self, State::Watch | State::Skewed)
    }
}

/// A part of the fullest node's excess. The parts add up to max/mean - 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The kind of cause.
    pub kind: CauseKind,
    /// The tag or key, where the cause is one.
    pub name: Option<Name>,
    /// The fullest node.
    pub node: Option<Name>,
    /// In fair shares.
    pub excess: f64,
    /// What max/mean would be if the tag or key were spread over all slots, whichever node is the fullest then.
    pub max_over_mean_without: Option<f64>,
    /// How many units: heavy tags and keys of `coarse_tags` and `elsewhere`, all others of `chance` and `collisions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u64>,
    /// The share of the slots that the node owns, or of the load that the units or the slots hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Of `chance` and `collisions`: the excess that 1 of 10,000 perfect hashes goes beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_chance: Option<f64>,
    /// The slot of a tag or key; of `collisions` and `unknown`, the slots of the node that are far above its others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<u16>,
}

impl Cause {
    /// A cause that adds `excess` fair shares to `node`, with nothing else known of it.
    pub fn new(kind: CauseKind, node: &Name, excess: f64) -> Self {
        Cause {
            kind,
            name: None,
            node: Some(node.clone()),
            excess,
            max_over_mean_without: None,
            units: None,
            share: None,
            by_chance: None,
            slots: Vec::new(),
        }
    }
}

/// Why a node is fuller than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// It owns more slots than its number, or fewer.
    Slots,
    /// A heavy hash tag.
    Tag,
    /// A heavy key without a tag.
    Key,
    /// Many heavy tags or keys, which hold most of the load.
    CoarseTags,
    /// Heavy tags and keys that are on other nodes.
    Elsewhere,
    /// More light tags and keys than chance puts on one node.
    Collisions,
    /// The chance of hashing.
    Chance,
    /// Not known: tags were not counted.
    Unknown,
}
