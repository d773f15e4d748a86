//! Facts about nodes besides their keys: server statistics, and the extent of captures.
//!
//! Vectors are indexed by node as in the topology and may be shorter than it.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_read::format::keyless::Keyless;
use slotscope_read::source::collection::load::{HotKeys, HotSlotKeys, LoggedCommands, RefusedWork};

/// Facts about nodes besides their keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// Statistics of each node, if a server or a dump has them.
    pub servers: Vec<Option<ServerFacts>>,
    /// Time and nodes covered by captures; absent without captures.
    pub captures: Option<Captures>,
    /// The time and nodes that counters of servers cover; CPU time comes from these, or is estimated from `captures`. Absent if the input has no counters.
    /// Operations are of `captures`, or without captures, of these (`--ops-column`).
    pub counters: Option<Captures>,
    /// Whether keys were read from replicas, whose LFU counters do not reflect clients: `collect` leaves them out, so
    /// accesses cover only some nodes.
    pub accesses_from_replicas: bool,
    /// Primaries asked for `cluster_state`, and how many of them answered `fail`.
    pub cluster_state: Option<(u64, u64)>,
    /// The slots with the most CPU time, and their keys.
    pub hot_slots: Vec<HotSlotKeys>,
    /// The keys with the most CPU time, if servers count by key.
    pub hot_keys: HotKeys,
    /// Slow and large commands that servers logged.
    pub logged: LoggedCommands,
    /// The slots whose counts were read, where servers counted; absent if keys were.
    pub counted_slots: Option<Vec<bool>>,
    /// Slots that a collection found open.
    pub open_slots: Vec<u16>,
    /// Whether load was asked for and measured, be it next to nothing.
    pub is_load_measured: bool,
    /// Whether all keys of a running cluster were read.
    pub is_whole_collection: bool,
    /// First and last time of the dumps and captures, in seconds since 1970.
    pub dumped: Option<(u64, u64)>,
}

impl Observed {
    /// The statistics of a node, where they are known.
    pub fn server(&self, at: usize) -> Option<&ServerFacts> {
        self.servers.get(at)?.as_ref()
    }

    /// The extent of a load: captures, or counter readings.
    pub(crate) fn of_load(&self, metric: Metric) -> Option<&Captures> {
        match metric {
            // Without counters it is estimated from captures.
            Metric::Cpu => self.counters.as_ref().or(self.captures.as_ref()),
            Metric::Ops => self.captures.as_ref().or(self.counters.as_ref()),
            _ => None,
        }
    }
}

/// Why a primary serves none of its slots, although no listing marks it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// It does not answer.
    Silent,
    /// It reports `cluster_state:fail`.
    Refusing,
}

/// A server's own statistics, from INFO or the header of its RDB file. Sizes are bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerFacts {
    /// `used_memory`; `used-mem` of an RDB file.
    pub used_memory: Option<u64>,
    /// `used_memory_dataset`.
    pub dataset: Option<u64>,
    /// `mem_not_counted_for_evict`: buffers that do not count against `maxmemory`.
    pub not_counted: u64,
    /// `maxmemory`; 0 without a limit, absent if unknown.
    pub maxmemory: Option<u64>,
    /// `maxmemory_policy`.
    pub policy: Option<String>,
    /// `mem_fragmentation_ratio`.
    pub fragmentation: Option<f64>,
    /// Client buffers, the replication backlog and AOF buffers together.
    pub buffers: Option<u64>,
    /// Whether it evicted keys between two readings.
    pub evicting: bool,
    /// `evicted_keys` since server start.
    pub evicted_keys: Option<u64>,
    /// Connected replicas.
    pub replicas: Option<u64>,
    /// Commands per second between two readings, else `instantaneous_ops_per_sec`.
    pub ops_per_sec: Option<f64>,
    /// CPU time per second between two readings; 1 is one core.
    pub cpu: Option<f64>,
    /// The command that took most of the time of all its commands between two readings, and how much of it.
    pub busiest: Option<(String, f64)>,
    /// The commands that it refused meanwhile.
    pub refused: RefusedWork,
    /// The server and its version: `valkey 9.1.2`.
    pub version: Option<String>,
    /// The time of the reading, in seconds since 1970.
    pub at: Option<u64>,
    /// Why it serves nothing, according to its last answer.
    pub outage: Option<Outage>,
}

impl ServerFacts {
    /// Its limit of memory, if it has one.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.maxmemory.filter(|limit| *limit > 0)
    }

    /// The memory that counts against the limit.
    pub(crate) fn counted_memory(&self) -> Option<u64> {
        Some(self.used_memory?.saturating_sub(self.not_counted))
    }
}

/// The commands that a node ran.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandsOf {
    /// All of them; one with several keys counts once for each.
    pub all: u64,
    /// Those that are in no slot.
    pub keyless: Keyless,
    /// The client that sends most of these, and how many; redacted where names are.
    pub client: Option<(Name, u64)>,
}

/// The extent of captures, or of server counters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captures {
    /// Whether a node was captured, by name or as the user says; absent if only its operations can tell.
    pub seen: Vec<Option<bool>>,
    /// Seconds spanned by each node's capture.
    pub spans: Vec<Option<f64>>,
    /// The slots that were read, where servers counted.
    pub counted_slots: Option<Vec<bool>>,
    /// Whether any two compared nodes' spans overlap by less than half.
    pub are_apart: bool,
    /// Whether operations come from append-only files: writes only.
    pub are_writes: bool,
    /// Whether the load is the growth of counters, not individual operations.
    pub are_counters: bool,
    /// Whether the load is a single counter reading with an unknown start.
    pub is_one_reading: bool,
    /// The commands that each node ran; absent where it is not known which node did.
    pub commands: Vec<Option<CommandsOf>>,
    /// Commands that are in no slot, of nodes that are not known.
    pub commands_of_no_node: u64,
    /// Times of the first and the last operation, in seconds since 1970.
    pub range: Option<(u64, u64)>,
}
