//! Keys by type and encoding, and the keys with the most elements.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::PerMetric;
use slotscope_base::name::Name;

/// Keys of a type that are stored in the same way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct EncodingLoad {
    /// The type, as the input calls it.
    #[serde(rename = "type")]
    pub kind: Name,
    /// The encoding, as OBJECT ENCODING calls it; absent where the input does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Name>,
    /// The load of its keys.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// The elements of the keys whose elements are known; absent if there are no such keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<u64>,
}

/// A key with many elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LargeKey {
    /// Its name, the first 512 bytes.
    pub key: Name,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Name,
    /// Its slot.
    pub slot: u16,
    /// The node that owns that slot.
    pub node: Option<Name>,
    /// Its elements.
    pub elements: u64,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}
