//! The heaviest single keys by bytes or operations, and attributes of keys: types, expiry, databases.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Metric, PerMetric, PerWeight};
use slotscope_base::name::Name;

/// The heaviest keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Keys {
    /// The metric that they are listed by.
    pub by: Option<Metric>,
    /// No key that is not listed weighs more than this.
    pub max_error: u64,
    /// The heaviest, ties by name.
    pub top: Vec<Key>,
    /// Those with most accesses by their LFU counters, where they are not what `top` is by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hottest: Vec<Key>,
    /// The heaviest by each metric that weighs keys.
    #[serde(skip)]
    pub heaviest: PerMetric<Vec<Key>>,
}

/// A key and its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Key {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its length in bytes.
    #[serde(default)]
    pub length: u64,
    /// Its slot.
    #[serde(default)]
    pub slot: u16,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// Its weights.
    #[serde(flatten)]
    pub weights: PerWeight<u64>,
    /// The part of its operations that only read, where captures show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<f64>,
    /// Its share of the load of all keys.
    #[serde(default)]
    pub share: f64,
    /// Whether it is a channel of sharded Pub/Sub, as captures show it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub channel: bool,
    /// Whether it has a hash tag: then it moves with all keys of the tag.
    #[serde(skip)]
    pub tagged: bool,
}

impl Key {
    /// Its weight in `metric`.
    pub fn weight(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Keys => 1,
            metric => self.weights.get(metric).copied().unwrap_or(0),
        }
    }
}

/// Keys of a type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TypeLoad {
    /// The type, as the input calls it.
    #[serde(rename = "type")]
    pub kind: Name,
    /// The load of its keys.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}

/// Keys of a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DatabaseLoad {
    /// Its number.
    pub db: u64,
    /// The load of its keys.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}
