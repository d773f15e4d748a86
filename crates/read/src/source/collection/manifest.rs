//! `collect.json`: what a collection contains, how it was made, and what is missing. Written by `collect`, read when
//! analyzing the directory.

use serde::{Deserialize, Serialize};

use hashslot::SLOTS;
use slotscope_base::text;

use crate::source::collection::load::LoadEntry;
use crate::source::collection::servers::{Role, ServerEntry};

/// The schema written.
pub const SCHEMA: &str = "slotscope.collect/1";
/// The file of a [`Manifest`].
pub const FILE: &str = "collect.json";
/// The reply to CLUSTER NODES; absent for a server that is not part of a cluster.
pub const NODES_FILE: &str = "cluster.nodes";
/// Counts by slot, one line per node and time.
pub const SLOT_STATS_FILE: &str = "slot-stats.json";

/// Maximum number of ranges of open slots named.
const OPEN_SHOWN: usize = 8;

/// The content of a collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Manifest {
    /// `slotscope.collect/1`.
    pub schema: String,
    /// The version of slotscope that collected it.
    pub version: String,
    /// When the collection began, in UTC.
    pub started: String,
    /// When it ended.
    pub finished: String,
    /// Whether the servers are a cluster.
    pub cluster: bool,
    /// How much is known of each key.
    pub level: Level,
    /// The role of the nodes that were to be read.
    pub from: Role,
    /// How it was collected.
    pub settings: Settings,
    /// The nodes that were read, or should have been.
    pub nodes: Vec<NodeEntry>,
    /// Keys in the files.
    pub keys: u64,
    /// Slots that changed their owner meanwhile, as first and last.
    pub slots_moved: Vec<(u16, u16)>,
    /// Primaries whose replica took over meanwhile.
    pub failovers: Vec<Failover>,
    /// Slots that could not be read to their end; the files have no key of them.
    pub slots_missing: Vec<(u16, u16)>,
    /// Those of them that are open: a move of them has begun and not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots_open: Vec<(u16, u16)>,
    /// Whether keys may be missing that were there all the time.
    pub incomplete: bool,
    /// The parts that were not collected, and why.
    pub skipped: Vec<String>,
    /// Whether no server gave sizes, though they were asked for: MEMORY USAGE is refused or renamed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_sizes: bool,
    /// The readings of servers: each primary, and each replica that was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerEntry>,
    /// The slots that were read, if not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleEntry>,
    /// CLUSTER SLOT-STATS over time, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesEntry>,
    /// The work of the primaries over the same seconds, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadEntry>,
}

impl Manifest {
    /// A collection of all slots of a cluster, with nothing read yet.
    pub fn new(level: Level, from: Role) -> Manifest {
        Manifest {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            cluster: true,
            level,
            from,
            settings: Settings {
                max_load: 100.0,
                sample_percent: 100.0,
                ..Settings::default()
            },
            ..Manifest::default()
        }
    }

    /// The first implausible number in it.
    pub(crate) fn odd_number(&self) -> Option<String> {
        let percent = self.settings.sample_percent;
        if !(percent > 0.0 && percent <= 100.0) {
            return Some(format!(
                "sample_percent is {percent:e}, not above 0 and up to 100"
            ));
        }
        let heavy = self.sample.as_ref().map(|sample| &sample.heavy);
        let ranges = [
            ("slots_moved", Some(&self.slots_moved)),
            ("slots_missing", Some(&self.slots_missing)),
            ("slots_open", Some(&self.slots_open)),
            ("heavy", heavy),
        ];
        let nodes = self.nodes.iter();
        let strays = nodes.map(|node| ("stray_slots", Some(&node.stray_slots)));
        ranges.into_iter().chain(strays).find_map(|(name, ranges)| {
            let mut odd = ranges?
                .iter()
                .filter(|(first, last)| first > last || usize::from(*last) >= SLOTS);
            let (first, last) = odd.next()?;
            Some(format!("{name} has [{first}, {last}], no range of slots"))
        })
    }

    /// The number of primaries that reported the state of the cluster, and of those that reported it down.
    pub fn cluster_state(&self) -> (u64, u64) {
        let servers = self.servers.iter();
        let primaries = servers.filter(|server| server.role == Role::Primary);
        let states = primaries.filter_map(|server| server.last()?.cluster_state.as_deref());
        states.fold((0, 0), |(servers, down), state| {
            (servers + 1, down + u64::from(state == "fail"))
        })
    }

    /// The open slots, with commands that close them; absent if there are none.
    pub fn open_slots(&self) -> Option<String> {
        let slots = text::ranges(&self.slots_open, OPEN_SHOWN);
        let (slots, are, them) = match self.slots_open[..] {
            [] => return None,
            [(first, last)] if first == last => (format!("slot {slots}"), "is", "it"),
            _ => (format!("slots {slots}"), "are", "them"),
        };
        Some(format!(
            "{slots} {are} open: a move of {them} began and has not ended; if none is running, run the script of the move \
             again, or redis-cli --cluster fix, then collect again"
        ))
    }
}

/// The slots that were read of a sample: an even part of all, and the heaviest besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SampleEntry {
    /// The measure of the heaviest slots; absent if no server counted by slot, and a heavy slot may be missing.
    pub heaviest_by: Option<HeaviestBy>,
    /// Slots that are not of the even part and were read because they are heavy, as first and last.
    pub heavy: Vec<(u16, u16)>,
    /// Keys of all slots, read or not, as the servers counted them; absent where one did not.
    pub keys_of_all: Option<u64>,
}

/// By what the heaviest slots of a sample were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HeaviestBy {
    /// By memory (SLOT-STATS) and by the number of keys.
    Memory,
    /// By the number of keys alone: a slot with few large keys may be missing.
    Keys,
}

/// CLUSTER SLOT-STATS over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SeriesEntry {
    /// Seconds between two samples.
    pub every: f64,
    /// Seconds in all.
    pub during: f64,
    /// How many times the nodes were asked.
    pub samples: u64,
    /// How many nodes answered.
    pub nodes: u64,
}

/// How much is known of each key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Its name, type, size, expiry.
    #[default]
    Sizes,
    /// Its name.
    Keys,
    /// Nothing: only counts by slot.
    Slots,
}

/// How it was collected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Settings {
    /// The percentage of a node's time that was allowed.
    pub max_load: f64,
    /// COUNT of SCAN.
    pub count: u64,
    /// The percentage of slots that were read; 100: all.
    pub sample_percent: f64,
    /// Memory is exact for values of at most this many elements.
    pub exact_elements: u64,
    /// SAMPLES of MEMORY USAGE for larger values.
    pub samples: u64,
    /// The files of TLS, where it was spoken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsEntry>,
}

/// The PEM files of TLS, with their whole paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TlsEntry {
    /// Certificate authorities; absent: those of the system.
    pub ca: Option<String>,
    /// The certificate that is shown to servers.
    pub cert: Option<String>,
    /// Its key.
    pub key: Option<String>,
}

/// A node that was read, or should have been.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeEntry {
    /// Its id in the cluster.
    pub id: Option<String>,
    /// Its address, as CLUSTER NODES prints it: `host:port`.
    pub name: String,
    /// Its role when it was read.
    pub role: Role,
    /// The id of the primary whose slots were read from it.
    pub primary: Option<String>,
    /// The server and its version.
    pub server: Option<String>,
    /// The file of its keys.
    pub file: Option<String>,
    /// Keys in that file.
    pub keys: u64,
    /// The replies to DBSIZE before and after, summed over its databases.
    pub dbsize: BeforeAfter,
    /// The sum of COUNTKEYSINSLOT of the slots that were read from it, at the end.
    pub counted: Option<u64>,
    /// Keys that SCAN returned more than once; the file has them once.
    pub repeats: u64,
    /// Keys that were gone before they could be measured; the file does not have them.
    pub vanished: u64,
    /// Keys of slots that the node does not own; the file does not have them.
    pub strays: u64,
    /// The slots of these keys, as first and last; the first 512 of them.
    #[serde(default)]
    pub stray_slots: Vec<(u16, u16)>,
    /// Whether all was read that should have been.
    pub complete: bool,
    /// Why not.
    pub error: Option<String>,
}

/// A number before and after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct BeforeAfter {
    /// Before.
    pub before: Option<u64>,
    /// After.
    pub after: Option<u64>,
}

/// A primary whose replica took over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Failover {
    /// The id of the primary.
    pub from: String,
    /// The id of the replica.
    pub to: String,
    /// How many slots it took over.
    pub slots: u64,
}

/// A collection of entire nodes with these files.
#[doc(hidden)]
pub fn example(files: &[&str]) -> Manifest {
    let node = |file: &&str| NodeEntry {
        name: "127.0.0.1:7001".into(),
        file: Some((*file).into()),
        keys: 1,
        complete: true,
        ..NodeEntry::default()
    };
    Manifest {
        version: "0.2.0".into(),
        started: "2026-11-22T10:00:00Z".into(),
        finished: "2026-11-22T10:01:00Z".into(),
        settings: Settings {
            max_load: 25.0,
            count: 500,
            sample_percent: 100.0,
            exact_elements: 64,
            samples: 5,
            tls: None,
        },
        nodes: files.iter().map(node).collect(),
        keys: files.len() as u64,
        ..Manifest::new(Level::Sizes, Role::Replica)
    }
}
