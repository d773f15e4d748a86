//! Why a node is above its fair share.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

/// A part of the fullest node's excess. The parts add up to max/mean - 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Cause {
    /// The kind of cause.
    pub kind: CauseKind,
    /// The tag or key, where the cause is one.
    pub name: Option<Name>,
    /// The fullest node.
    pub node: Option<Name>,
    /// In fair shares.
    pub excess: f64,
    /// The load of the tag or key in fair shares of the node: all of it, where `excess` leaves out what the node would hold of
    /// it if it were spread over all slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair_shares: Option<f64>,
    /// max/mean if the tag or key were spread over all slots, whichever node is the fullest then.
    pub max_over_mean_without: Option<f64>,
    /// The key that is nearly all of the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// Of `collisions`: the listed tags and keys that fill the slots, heaviest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Name>,
    /// How many units: heavy tags and keys of `coarse_units` and `elsewhere`, all others of `chance` and `collisions`.
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
    /// A cause that adds `excess` fair shares to `node`, without details.
    pub fn new(kind: CauseKind, node: &Name, excess: f64) -> Self {
        Cause {
            kind,
            node: Some(node.clone()),
            excess,
            ..Cause::default()
        }
    }
}

/// Why a node is fuller than others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// It owns more slots than its number, or fewer.
    Slots,
    /// A heavy hash tag.
    Tag,
    /// A heavy key without a tag.
    Key,
    /// A busy channel of sharded Pub/Sub without a tag.
    Channel,
    /// Many heavy tags or keys, which hold most of the load.
    #[serde(alias = "coarse_tags")]
    CoarseUnits,
    /// Heavy tags and keys that are on other nodes.
    Elsewhere,
    /// More light tags and keys than chance puts on one node.
    Collisions,
    /// The chance of hashing.
    Chance,
    /// Not known: tags were not counted.
    #[default]
    Unknown,
}
