//! Slow and large commands that servers logged while load was measured.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;
use slotscope_read::source::collection::load::CommandLogKind;

/// The entries of the logs of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LoggedAtWork {
    /// Primaries whose logs were read.
    pub nodes: u64,
    /// Entries that were read.
    pub entries: u64,
    /// Logs with more entries than they keep or are read, 128: the first ones are not known.
    pub logs_cut: u64,
    /// The commands of each log by node, name and first key: the 100 with most time or bytes, those first.
    pub commands: Vec<CommandAtWork>,
}

/// Entries of a log with the same command and first key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CommandAtWork {
    /// The log.
    pub log: CommandLogKind,
    /// The node whose log it is.
    pub node: Option<Name>,
    /// The command in lower case, of a container with its subcommand: `get`, `config|get`.
    pub command: String,
    /// Its first key, of which a log has 128 bytes; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// The slot of that key; absent where the log has only its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<u16>,
    /// Entries.
    pub entries: u64,
    /// Microseconds or bytes of all of them.
    pub amount: u64,
    /// Microseconds or bytes of the slowest or largest.
    pub most: u64,
}
