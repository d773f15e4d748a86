//! Facts about nodes besides their keys: figures that servers give of themselves, and the extent of captures.
//!
//! Everything is by the place of a node in the topology; a vector may be shorter than the list of nodes.

use slotscope_engine::metric::Metric;
use slotscope_engine::source::collection::load::{HotKeys, HotSlotKeys, LoggedCommands};

/// Facts about nodes besides the counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// Figures of each node, where a server or a dump gave them.
    pub servers: Vec<Option<ServerFacts>>,
    /// The time and nodes that captures cover; absent if the input has no captures.
    pub captures: Option<Captures>,
    /// The time and nodes that counters of servers cover; CPU time comes from these. Absent if the input has no counters.
    /// Operations are of `captures`, or without captures, of these (`--ops-column`).
    pub counters: Option<Captures>,
    /// Whether keys were read from replicas, whose LFU counters do not show what clients do: `collect` leaves them out, so
    /// accesses are those of some nodes only.
    pub accesses_from_replicas: bool,
    /// Primaries that were asked for `cluster_state`, and how many of them answered `fail`.
    pub cluster_state: Option<(u64, u64)>,
    /// The slots that took most CPU time, and keys in them, as they are called there.
    pub hot_slots: Vec<HotSlotKeys>,
    /// The keys that took most CPU time, where servers count by key.
    pub hot_keys: HotKeys,
    /// The commands that servers logged as slow or large.
    pub logged: LoggedCommands,
    /// When the keys were dumped and when operations were captured, in seconds since 1970: the first and the last moment.
    pub dumped: Option<(u64, u64)>,
}

impl Observed {
    /// The extent of a load: captures, or readings of counters.
    pub(crate) fn of_load(&self, metric: Metric) -> Option<&Captures> {
        match metric {
            Metric::Cpu => self.counters.as_ref(),
            Metric::Ops => self.captures.as_ref().or(self.counters.as_ref()),
            _ => None,
        }
    }
}

/// Why a primary serves none of its slots, though no listing has it as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outage {
    /// It does not answer.
    Silent,
    /// It says `cluster_state:fail`.
    Refusing,
}

/// The description of a server by itself: INFO, or the header of its RDB file. Sizes are bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerFacts {
    /// `used_memory`; `used-mem` of an RDB file.
    pub used_memory: Option<u64>,
    /// `used_memory_dataset`.
    pub dataset: Option<u64>,
    /// `mem_not_counted_for_evict`: buffers that do not count against `maxmemory`.
    pub not_counted: u64,
    /// `maxmemory`; 0 where the server has no limit, absent where it is not known.
    pub maxmemory: Option<u64>,
    /// `maxmemory_policy`.
    pub policy: Option<String>,
    /// `mem_fragmentation_ratio`.
    pub fragmentation: Option<f64>,
    /// Client buffers, the replication backlog and AOF buffers together.
    pub buffers: Option<u64>,
    /// Whether it evicted keys between two readings.
    pub evicting: bool,
    /// `evicted_keys` since it started.
    pub evicted_keys: Option<u64>,
    /// Replicas that are connected.
    pub replicas: Option<u64>,
    /// Commands a second between two readings, else `instantaneous_ops_per_sec`.
    pub ops_per_sec: Option<f64>,
    /// CPU time a second between two readings, 1 for one core.
    pub cpu: Option<f64>,
    /// The server and its version: `valkey 9.1.2`.
    pub version: Option<String>,
    /// When it said so, in seconds since 1970.
    pub at: Option<u64>,
    /// Why it serves nothing, by its last answer.
    pub outage: Option<Outage>,
}

/// The extent of captures of operations, or of counters of servers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Captures {
    /// Whether a node was captured, by its name or the user's word; absent where only its operations can tell.
    pub seen: Vec<Option<bool>>,
    /// Seconds that the capture of each node spans.
    pub spans: Vec<Option<f64>>,
    /// Whether the spans of two compared nodes overlap by less than half.
    pub are_apart: bool,
    /// Whether operations are those of append-only files: writes alone.
    pub are_writes: bool,
    /// Whether the load is the growth of counters, not operations one by one.
    pub are_counters: bool,
    /// Whether the load is a single reading of counters, which count from a start that is not known.
    pub is_one_reading: bool,
    /// When the first and the last operation ran, in seconds since 1970.
    pub range: Option<(u64, u64)>,
    /// The part of the operations that only read, of all and of the busiest names; absent where commands are not known.
    pub reads: Option<f64>,
}
