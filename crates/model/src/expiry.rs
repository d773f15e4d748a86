//! When keys expire, where the dump tells.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::PerMetric;
use slotscope_base::name::Name;

/// When keys expire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Expiry {
    /// Keys without a TTL.
    pub never: PerMetric<u64>,
    /// Keys with a TTL.
    pub expiring: PerMetric<u64>,
    /// Keys that had expired when the dump was written, and are in it all the same; absent if the dump does not say when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<PerMetric<u64>>,
    /// Keys that expire within a time of the writing of the dump, but not within the time before it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub within: Vec<Within>,
    /// The shortest time, from a minute on, in which most keys expire; absent where no time of expiry is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fullest: Option<FullestTime>,
    /// Minutes in which a tenth of all keys or more expire, and far more than in the hour after, that are not soon after the
    /// dump: most keys first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub storms: Vec<Storm>,
    /// Keys that expire within an hour of the writing of the dump, by node and pattern; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaving: Option<Leaving>,
}

/// Keys that expire within a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Within {
    /// That time; absent: later.
    pub secs: Option<u64>,
    /// The load that expires.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// The time in which most keys expire.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FullestTime {
    /// When it begins, in seconds since 1970.
    pub at: u64,
    /// How long it is. More than one where times of expiry are too many to count each minute.
    pub minutes: u64,
    /// Keys that expire in it.
    pub keys: u64,
    /// Their share of all keys.
    pub share: f64,
}

/// Many keys that expire within a minute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Storm {
    /// When it begins, in seconds since 1970.
    pub at: u64,
    /// Seconds from the writing of the dump until then; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How long it is.
    pub minutes: u64,
    /// Keys that expire in it.
    pub keys: u64,
    /// Their share of all keys.
    pub share: f64,
    /// The pattern that most of them have; null where there is none.
    pub pattern: Option<Name>,
    /// The node that most of them are on; null where there is none.
    pub node: Option<Name>,
}

/// The keys that expire within an hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Leaving {
    /// Keys.
    pub keys: u64,
    /// Whether the parts are estimated from a sample.
    pub estimated: bool,
    /// By node, most keys first.
    pub nodes: Vec<LeavingPart>,
    /// By pattern, most keys first.
    pub patterns: Vec<LeavingPart>,
}

/// The part of a node or pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LeavingPart {
    /// The node, or the pattern.
    pub name: Name,
    /// About this many keys.
    pub keys: u64,
    /// Of those that expire within the hour.
    pub share: f64,
}
