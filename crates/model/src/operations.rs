//! Operations on keys as seen in captures: how many, when, and by which commands.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

/// Operations on keys. A command with several keys is an operation on each.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Operations {
    /// How many.
    pub ops: u64,
    /// Those of commands that only read.
    pub reads: u64,
    /// Those of commands that may write.
    pub writes: u64,
    /// Distinct keys that they are on; an estimate where there are very many.
    pub keys: u64,
    /// When the first ran, in milliseconds since 1970; absent where captures do not say it.
    pub from_ms: Option<u64>,
    /// When the last ran.
    pub to_ms: Option<u64>,
    /// Operations a second from the first to the last; absent where they are less than a second apart.
    pub per_second: Option<f64>,
    /// The busiest time.
    pub peak: Option<Peak>,
    /// By command, most operations first.
    pub commands: Vec<CommandOps>,
    /// Operations on keys that no dump has; absent without dumps, and where the inputs are read once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<AbsentKeys>,
}

/// Operations on keys that no dump has: keys that are expired or new, or of another node, or never existed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AbsentKeys {
    /// Operations whose keys were looked up: all, or of very many keys those of the busiest.
    pub looked_up: u64,
    /// Those on keys that no dump has.
    pub ops: u64,
    /// Their share of those that were looked up.
    pub share: f64,
    /// How many keys these are.
    pub keys: u64,
    /// Those with most operations.
    pub top: Vec<AbsentKey>,
}

/// A key that no dump has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct AbsentKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its slot.
    pub slot: u16,
    /// Operations on it.
    pub ops: u64,
}

/// A key and the operations on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct KeyOps {
    /// Its first 512 bytes.
    pub key: Name,
    /// Operations on it.
    pub ops: u64,
}

/// The time with most operations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Peak {
    /// When it begins, in seconds since 1970.
    pub at: u64,
    /// How long it is: one second, or more where a capture is too long to count each.
    pub seconds: u64,
    /// Operations in it.
    pub ops: u64,
}

/// The operations of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CommandOps {
    /// Its name, in lower case.
    pub command: String,
    /// Whether it may write.
    pub writes: bool,
    /// Its operations.
    pub ops: u64,
    /// Their share of all.
    pub share: f64,
}
