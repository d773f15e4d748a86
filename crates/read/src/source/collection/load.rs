//! The load of a collection (`--load`): the activity of all primaries during the same seconds, before any key was read.

use serde::{Deserialize, Serialize};

use slotscope_base::command::times::CommandTimes;
use slotscope_base::name::Name;

/// The work of all primaries over the same seconds. Where servers count by slot (CLUSTER SLOT-STATS), `slot-stats.json` has a
/// line of each at the start and one at the end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LoadEntry {
    /// Seconds between the two readings.
    pub secs: f64,
    /// Seconds between the first and the last node that was read at the start, or at the end: the longer of both.
    pub spread_secs: f64,
    /// Primaries whose work by slot was read twice.
    pub nodes_by_slot: u64,
    /// The primaries that answered twice.
    pub nodes: Vec<NodeWork>,
    /// The slots that took most CPU time, hottest first, where servers count by slot; none takes much of an even load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot_slots: Vec<HotSlotKeys>,
    /// The keys that took most CPU time, where servers count by key (HOTKEYS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_keys: Option<HotKeys>,
    /// Commands that servers logged as slow or large meanwhile, where their logs could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<LoggedCommands>,
    /// MONITOR, where it was asked for, in the seconds after these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<MonitorEntry>,
}

impl LoadEntry {
    /// The times of the commands in a capture, by INFO of the seconds before it. `None` where servers count CPU time by slot, which
    /// is better than any estimate.
    pub(crate) fn times_of(&self, file: &str) -> Option<CommandTimes> {
        let mut captures = self.monitor.iter().flat_map(|monitor| &monitor.nodes);
        let node = captures.find(|node| node.file == file && self.nodes_by_slot == 0)?;
        let work = self.nodes.iter().find(|work| work.name == node.name)?;
        let commands = work.commands.iter();
        let times = CommandTimes::of(
            commands.map(|row| (&*row.name, row.calls_per_sec, row.usec_per_call)),
        );
        times.filter(|_| self.has_all_times())
    }

    /// Whether commands are timed on all nodes that were captured: else these could not be compared.
    fn has_all_times(&self) -> bool {
        let mut captures = self.monitor.iter().flat_map(|monitor| &monitor.nodes);
        captures.all(|node| {
            let mut nodes = self.nodes.iter();
            nodes.any(|work| {
                work.name == node.name && (node.commands == 0 || !work.commands.is_empty())
            })
        })
    }
}

/// A slot that took much of the CPU time, and keys in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HotSlotKeys {
    /// The slot.
    pub slot: u16,
    /// The part of the CPU time of all slots that it took.
    pub cpu_share: f64,
    /// How many keys it has.
    pub keys: u64,
    /// Some of them, largest first: all where they are few.
    pub listed: Vec<HotKey>,
}

/// A key in a slot that took much of the CPU time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HotKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// MEMORY USAGE; absent where the server does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The keys that HOTKEYS found on the primaries that have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HotKeys {
    /// Primaries that counted by key.
    pub nodes: u64,
    /// Microseconds of CPU time of all their commands.
    pub cpu_usec: u64,
    /// The keys that took most of it, first the one that took most.
    pub keys: Vec<TimedKey>,
}

impl HotKeys {
    /// Adds those of other primaries; their order is up to the caller.
    pub fn add(&mut self, other: &HotKeys) {
        self.nodes += other.nodes;
        self.cpu_usec = self.cpu_usec.saturating_add(other.cpu_usec);
        self.keys.extend_from_slice(&other.keys);
    }
}

/// A key and the CPU time of its commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TimedKey {
    /// Its first 512 bytes.
    pub key: Name,
    /// The slot of the whole key.
    pub slot: u16,
    /// Microseconds, which the server estimates for keys that are not among the hottest.
    pub cpu_usec: u64,
}

/// Commands that primaries logged meanwhile: COMMANDLOG of Valkey 8.1 and later, else SLOWLOG.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LoggedCommands {
    /// Primaries whose logs were read.
    pub nodes: u64,
    /// Entries that were read.
    pub entries: u64,
    /// Logs with more entries than they keep or are read, 128: the first ones are not known.
    pub logs_cut: u64,
    /// The commands of each log by node, name and first key: the 100 with most time or bytes, those first.
    pub commands: Vec<LoggedCommand>,
}

impl LoggedCommands {
    /// Adds those of other primaries; their order is up to the caller.
    pub fn add(&mut self, other: &LoggedCommands) {
        self.nodes += other.nodes;
        self.entries += other.entries;
        self.logs_cut += other.logs_cut;
        self.commands.extend_from_slice(&other.commands);
    }
}

/// Entries of a log with the same command and first key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LoggedCommand {
    /// The log.
    pub log: CommandLogKind,
    /// The id of the node in the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its address, as CLUSTER NODES prints it: `host:port`.
    pub name: String,
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

/// A log of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandLogKind {
    /// Commands that took long, in microseconds.
    Slow,
    /// Commands that were large, in bytes.
    LargeRequest,
    /// Commands with large replies, in bytes.
    LargeReply,
}

/// The work of a primary, by INFO. Numbers that a server does not give are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeWork {
    /// Its id in the cluster.
    pub id: Option<String>,
    /// Its address, as CLUSTER NODES prints it: `host:port`.
    pub name: String,
    /// Seconds between its two readings.
    pub secs: f64,
    /// Commands a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops_per_sec: Option<f64>,
    /// CPU time a second; 1 is one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Bytes a second that it received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_in_per_sec: Option<f64>,
    /// Bytes a second that it sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net_out_per_sec: Option<f64>,
    /// The commands that took most of its time, the first of them the most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandWork>,
    /// The commands that it refused, which MONITOR does not show.
    #[serde(default, skip_serializing_if = "RefusedWork::is_empty")]
    pub refused: RefusedWork,
}

/// Commands that a server refused, a second. What INFO errorstats and commandstats count apart is not known together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RefusedWork {
    /// By the first word of the error, the most first: `CROSSSLOT`.
    pub errors: Vec<Refused>,
    /// By command, the most first.
    pub commands: Vec<Refused>,
}

impl RefusedWork {
    /// Whether it refused nothing.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty() && self.commands.is_empty()
    }
}

/// A command or an error, and how often it was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Refused {
    /// The name of a command or an error.
    pub name: String,
    /// How often a second.
    pub per_sec: f64,
}

/// The cost of a command on a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct CommandWork {
    /// Its name, as INFO commandstats has it.
    pub name: String,
    /// Calls a second.
    pub calls_per_sec: f64,
    /// Microseconds of a call, on average.
    pub usec_per_call: f64,
    /// The part of the time of all commands.
    pub share: f64,
}

/// MONITOR of all primaries over the same seconds. The files have the names of commands and keys, and no values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MonitorEntry {
    /// Seconds that it ran for, unless a node reached the limit of bytes before.
    pub secs: f64,
    /// The nodes that were captured.
    pub nodes: Vec<MonitorNode>,
}

/// MONITOR of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MonitorNode {
    /// Its address, as CLUSTER NODES prints it: `host:port`.
    pub name: String,
    /// The file of its commands.
    pub file: String,
    /// Commands in that file.
    pub commands: u64,
    /// Bytes that the server sent.
    pub bytes: u64,
    /// Whether it reached the limit of bytes, 64 MiB: the captures of all nodes ended there.
    pub is_cut: bool,
    /// Seconds that were captured.
    #[serde(default)]
    pub secs: f64,
}
