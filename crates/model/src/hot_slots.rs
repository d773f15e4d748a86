//! The slots with the most CPU time while load was measured, and their keys: puts names to counters per slot.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

/// A slot that took much of the CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SlotAtWork {
    /// The slot.
    pub slot: u16,
    /// The node that owns it.
    pub node: Option<Name>,
    /// The part of the CPU time of all slots that it took.
    pub cpu_share: f64,
    /// How many keys it had.
    pub keys: u64,
    /// Some of them, all where they are few: those first that took most CPU time by HOTKEYS, else the busiest by captures,
    /// else the largest.
    pub listed: Vec<KeyAtWork>,
}

/// A key in a hot slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KeyAtWork {
    /// Its first 512 bytes.
    pub key: Name,
    /// MEMORY USAGE; absent where the server does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The part of the CPU time of all commands; absent where servers do not count by key or it is not among the hottest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Operations that captures show of it; absent where it is not among the busiest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
}

/// A key that took much of the CPU time, by HOTKEYS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HotKeyAtWork {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its slot.
    pub slot: u16,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// The part of the CPU time of all commands that its commands took.
    pub cpu_share: f64,
}
