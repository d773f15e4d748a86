//! Keys from key listings such as `--bigkeys`, and their slots and nodes. Nodes are not judged by them: only extreme
//! keys are listed.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::extreme::Extreme;
use slotscope_base::name::Name;

use crate::Summary;

/// The keys of lists of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExtremeKeys {
    /// The measure of the lists.
    pub by: Extreme,
    /// Their entries: a key may have several.
    pub entries: u64,
    /// When the first ran, in milliseconds since 1970, where the lists say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// When the last ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<u64>,
    /// Entries by command, most first, where the lists have commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandEntries>,
    /// The keys, most extreme first.
    pub keys: Vec<ExtremeKey>,
}

/// The entries of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CommandEntries {
    /// Its name, in lower case.
    pub command: String,
    /// How many.
    pub entries: u64,
}

/// A key, and its entries in lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExtremeKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// Its length in bytes.
    pub length: u64,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Name>,
    /// The node that owns the slot.
    pub node: Option<Name>,
    /// Its entries.
    pub entries: u64,
    /// The sum of their amounts, or the mean of amounts that do not add up.
    pub amount: u64,
}

impl Summary {
    /// Whether key listings are the only input.
    pub fn has_only_extremes(&self) -> bool {
        self.input.keys == 0 && self.operations.is_none() && !self.extremes.is_empty()
    }

    /// Whether captures are the only input; the number of keys is then unknown, not 0.
    pub fn has_only_operations(&self) -> bool {
        self.input.keys == 0 && self.operations.is_some()
    }

    /// The key listings that name a key.
    pub fn listed_by(&self, key: &Name, slot: u16) -> impl Iterator<Item = Extreme> {
        let names = move |list: &&ExtremeKeys| {
            let mut keys = list.keys.iter();
            keys.any(|listed| listed.slot == slot && listed.key == *key)
        };
        self.extremes.iter().filter(names).map(|list| list.by)
    }
}
