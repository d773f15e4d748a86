//! Readings of servers in a collection: INFO and CLUSTER INFO, before and after reading the keys, so that rates are
//! differences.

use serde::{Deserialize, Serialize};

/// The role of a node in a cluster. A lone server is a primary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It owns slots, or could.
    #[default]
    Primary,
    /// It follows a primary.
    Replica,
}

impl Role {
    /// Its display name.
    pub fn word(self) -> &'static str {
        match self {
            Role::Primary => "primary",
            Role::Replica => "replica",
        }
    }
}

/// A server that was asked for its own figures: a primary, or a replica that keys were read from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ServerEntry {
    /// Its id in the cluster.
    pub id: Option<String>,
    /// Its address, as CLUSTER NODES prints it: `host:port`.
    pub name: String,
    /// Its role when it was asked last.
    pub role: Role,
    /// Whether it was read between the two readings, so that the collection is a part of its operations and its CPU time.
    pub is_read: bool,
    /// Before keys were read; absent where it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ServerReading>,
    /// After keys were read; absent where it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ServerReading>,
    /// Why it could not be reached when it was asked last; absent where it answered or refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
}

impl ServerEntry {
    /// A primary not read yet.
    pub fn of(id: Option<String>, name: String) -> Self {
        ServerEntry {
            id,
            name,
            ..ServerEntry::default()
        }
    }

    /// The last reading.
    pub fn last(&self) -> Option<&ServerReading> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

impl ServerReading {
    /// Memory of keys. Servers compute it as a difference, which wraps around while buffers of clients count as overhead.
    pub fn dataset(&self) -> Option<u64> {
        let fits = |size: &u64| self.used_memory.is_none_or(|used| *size <= used);
        self.used_memory_dataset.filter(fits)
    }

    /// Whether the server started after an earlier reading: it then counts from 0 again.
    pub fn has_restarted(&self, before: &ServerReading) -> bool {
        self.uptime_in_seconds < before.uptime_in_seconds
    }

    /// The growth of a counter a second since an earlier reading; `None` if it fell, or without time in between.
    pub fn rate(
        &self,
        before: &ServerReading,
        secs: f64,
        counter: fn(&ServerReading) -> Option<f64>,
    ) -> Option<f64> {
        let growth = counter(self)? - counter(before)?;
        (secs > 0.0 && growth >= 0.0).then_some(growth / secs)
    }
}

/// One reading, under the names that the server has for its figures. What a server does not say is absent. Sizes are bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ServerReading {
    /// When, in UTC.
    pub at: String,
    /// The server and its version: `valkey 9.1.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uptime_in_seconds: Option<u64>,
    /// `used_memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_memory: Option<u64>,
    /// `used_memory_dataset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_memory_dataset: Option<u64>,
    /// `mem_not_counted_for_evict`: buffers that do not count against `maxmemory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_not_counted_for_evict: Option<u64>,
    /// `maxmemory`; 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory: Option<u64>,
    /// `maxmemory_policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory_policy: Option<String>,
    /// `mem_fragmentation_ratio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_fragmentation_ratio: Option<f64>,
    /// Buffers of clients and replicas, the replication backlog and the AOF buffer together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffers: Option<u64>,
    /// `evicted_keys` since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evicted_keys: Option<u64>,
    /// `connected_slaves`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connected_slaves: Option<u64>,
    /// `instantaneous_ops_per_sec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instantaneous_ops_per_sec: Option<u64>,
    /// `total_commands_processed` since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_commands_processed: Option<u64>,
    /// `used_cpu_user` and `used_cpu_sys` together, in seconds since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_cpu: Option<f64>,
    /// `total_net_input_bytes` since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_net_input_bytes: Option<u64>,
    /// `total_net_output_bytes` since it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_net_output_bytes: Option<u64>,
    /// `cluster_state` of CLUSTER INFO: `ok` or `fail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_state: Option<String>,
}
