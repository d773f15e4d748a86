//! The verdict in one word, the causes of a node's excess load, and every limit that they depend on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;

/// The bands of max/mean, and what counts as heavy; charts draw the same limits.
pub mod limit {
    /// Below this ratio the nodes are even enough for every purpose.
    pub const BALANCED: f64 = 1.05;
    /// From this ratio on the verdict is `Skewed`, below it `Watch`.
    pub const SKEWED: f64 = 1.20;
    /// From this ratio of sum w_g^2 to sum w_k^2 on, tags make the slots uneven.
    pub const TAGGED: f64 = 1.5;
    /// A unit is heavy if it holds at least this part of a node's fair share.
    pub const HEAVY: f64 = 0.05;
    /// And at least this many times the average unit: where all units are alike, the cause is their small number,
    /// not one of them.
    pub const STANDS_OUT: f64 = 3.0;
    /// Heavy units matter if they add at least this many fair shares.
    pub const HEAVY_EXCESS: f64 = 0.02;
}

/// The finding in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// There are no keys.
    Empty,
    /// The dump is incomplete or damaged.
    Suspicious,
    /// The nodes are even.
    Balanced,
    /// The nodes are even; tags make the slots uneven.
    Tagged,
    /// The nodes own unequal numbers of slots.
    Placement,
    /// Slightly uneven.
    Watch,
    /// Uneven.
    Skewed,
}

impl Verdict {
    /// The word of report.json.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Empty => "empty",
            Verdict::Suspicious => "suspicious",
            Verdict::Balanced => "balanced",
            Verdict::Tagged => "tagged",
            Verdict::Placement => "placement",
            Verdict::Watch => "watch",
            Verdict::Skewed => "skewed",
        }
    }
}

/// A part of the fullest node's excess, or something wrong with the dump.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The kind of cause.
    pub kind: CauseKind,
    /// The tag or key, where the cause is one.
    pub name: Option<Name>,
    /// The fullest node, or the node whose dump is damaged; absent where no single node is concerned.
    pub node: Option<Name>,
    /// In fair shares; the excesses of all causes add up to max/mean - 1.
    pub excess: f64,
    /// The node's load in fair shares if the tag or key were spread over all slots.
    pub max_over_mean_without: Option<f64>,
}

/// Why a node is fuller than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// A heavy hash tag.
    Tag,
    /// A heavy key without a tag.
    Key,
    /// It owns more slots, or fewer.
    Placement,
    /// Chance.
    Noise,
    /// Keys of a node, or a part of them, are missing.
    MissingNode,
    /// Names were cut short.
    Truncated,
    /// Keys are there twice.
    Duplicates,
    /// Keys are from elsewhere.
    Foreign,
}
