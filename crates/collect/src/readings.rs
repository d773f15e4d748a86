//! Readings of servers: INFO and CLUSTER INFO of each primary and each node read, before and after the keys. A refusal
//! does not affect the rest of the collection.

use std::collections::BTreeMap;

use slotscope_base::error::Result;
use slotscope_base::slot::set::SlotSet;
use slotscope_base::text::counted;
use slotscope_read::source::collection::servers::Role;
use slotscope_read::source::collection::servers::{ServerEntry, ServerReading};

use crate::address::Address;
use crate::clock::now;
use crate::connection::{Access, Connection};
use crate::crew;
use crate::server::Server;

/// Buffers reported separately by INFO.
const BUFFERS: [&str; 4] = [
    "mem_clients_normal",
    "mem_clients_slaves",
    "mem_replication_backlog",
    "mem_aof_buffer",
];

/// A server to ask.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Its id in the cluster.
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    pub address: Address,
    /// The slots it owns, if needed.
    pub owned: SlotSet,
}

impl Asked {
    /// Its id, or its name if it has none: names are for display, and may change between listings.
    pub(crate) fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}

/// The readings of a collection.
pub(crate) struct Readings {
    access: Access,
    /// By id, or by name if there is none.
    entries: BTreeMap<String, ServerEntry>,
    /// Primaries that did not answer, with the reason.
    refusals: BTreeMap<String, String>,
}

impl Readings {
    pub(crate) fn new(access: &Access) -> Self {
        Readings {
            access: access.brief(),
            entries: BTreeMap::new(),
            refusals: BTreeMap::new(),
        }
    }

    /// Reads these servers before the keys.
    pub(crate) fn before(&mut self, servers: Vec<Asked>) {
        self.take(servers, |entry, reading| entry.before = Some(reading));
    }

    /// Reads these servers after the keys.
    pub(crate) fn after(&mut self, servers: Vec<Asked>) {
        self.take(servers, |entry, reading| entry.after = Some(reading));
    }

    fn take(&mut self, servers: Vec<Asked>, place: impl Fn(&mut ServerEntry, ServerReading)) {
        let access = &self.access;
        let answers = crew::all(servers.iter(), |server| ask(server, access));
        let answers = answers.unwrap_or_else(|error| {
            self.refusals.insert(String::new(), error.to_string());
            Vec::new()
        });
        for (server, answer) in servers.into_iter().zip(answers) {
            let key = server.key().to_owned();
            let error = match &answer {
                // A replica is asked in addition to its primary.
                Err(_) if server.role == Role::Replica => continue,
                Err(error) if !error.is_silence() => {
                    self.refusals.entry(key).or_insert(error.to_string());
                    continue;
                }
                answer => answer.as_ref().err(),
            };
            let silent = error.map(ToString::to_string);
            let entry = self
                .entries
                .entry(key)
                .or_insert_with(|| ServerEntry::of(server.id, server.name));
            (entry.role, entry.silent) = (server.role, silent);
            if let Ok(reading) = answer {
                place(entry, reading);
            }
        }
    }

    /// The servers without readings, as a sentence.
    pub(crate) fn skipped(&self) -> Option<String> {
        let is_known = |key: &String| self.entries.get(key).and_then(ServerEntry::last).is_some();
        let refusals = self.refusals.iter();
        let mut unknown = refusals.filter(|(key, _)| !is_known(key));
        let (_, first) = unknown.next()?;
        let servers = counted(1 + unknown.count() as u64, "server");
        Some(format!("memory, limits and load of {servers}: {first}"))
    }

    /// The readings; `is_read` tells which nodes keys were read from, by id or name.
    pub(crate) fn entries(self, is_read: impl Fn(&ServerEntry) -> bool) -> Vec<ServerEntry> {
        let mut entries: Vec<ServerEntry> = self.entries.into_values().collect();
        for entry in &mut entries {
            entry.is_read = is_read(entry);
        }
        entries
    }
}

/// Asks one server.
fn ask(server: &Asked, access: &Access) -> Result<ServerReading> {
    let mut connection = Connection::open(&server.address, access)?;
    let mut reading = reading(&Server::ask(&mut connection)?);
    if server.id.is_some() {
        let reply = connection.ask("CLUSTER INFO", &[b"CLUSTER", b"INFO"])?;
        reading.cluster_state = reply.into_text().and_then(|text| cluster_state(&text));
    }
    Ok(reading)
}

/// A server's reading from INFO.
pub(crate) fn reading(server: &Server) -> ServerReading {
    let number = |name: &str| server.field(name).parse::<u64>().ok();
    let real = |name: &str| {
        let number = server.field(name).parse::<f64>().ok();
        number.filter(|number| number.is_finite())
    };
    let policy = Some(server.field("maxmemory_policy"));
    let buffers = BUFFERS.into_iter().filter_map(number);
    ServerReading {
        at: now(),
        server: Some(server.version()),
        uptime_in_seconds: number("uptime_in_seconds"),
        used_memory: number("used_memory"),
        used_memory_dataset: number("used_memory_dataset"),
        mem_not_counted_for_evict: number("mem_not_counted_for_evict"),
        maxmemory: number("maxmemory"),
        maxmemory_policy: policy.filter(|name| is_plain(name)).map(str::to_owned),
        mem_fragmentation_ratio: real("mem_fragmentation_ratio"),
        buffers: buffers.reduce(u64::saturating_add),
        evicted_keys: number("evicted_keys"),
        connected_slaves: number("connected_slaves"),
        instantaneous_ops_per_sec: number("instantaneous_ops_per_sec"),
        total_commands_processed: number("total_commands_processed"),
        used_cpu: real("used_cpu_user")
            .zip(real("used_cpu_sys"))
            .map(|(user, sys)| user + sys),
        total_net_input_bytes: number("total_net_input_bytes"),
        total_net_output_bytes: number("total_net_output_bytes"),
        cluster_state: None,
    }
}

/// The state in a reply to CLUSTER INFO.
pub(crate) fn cluster_state(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines();
    let state = lines.find_map(|line| line.strip_prefix("cluster_state:"))?;
    Some(state.trim())
        .filter(|state| is_plain(state))
        .map(str::to_owned)
}

/// Whether it looks like a server's word: short, lower case, digits and hyphens.
fn is_plain(word: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=40).contains(&word.len()) && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, asked, start, text};

    const INFO: &str = "redis_version:7.0.15\r\nvalkey_version:9.1.2\r\nuptime_in_seconds:60\r\nused_memory:1000\r\n\
        used_memory_dataset:800\r\nmem_not_counted_for_evict:20\r\nmaxmemory:2000\r\nmaxmemory_policy:allkeys-lru\r\n\
        mem_fragmentation_ratio:1.25\r\nmem_clients_normal:10\r\nmem_clients_slaves:5\r\nmem_replication_backlog:4\r\n\
        mem_aof_buffer:1\r\nevicted_keys:7\r\nconnected_slaves:1\r\ninstantaneous_ops_per_sec:300\r\n\
        total_commands_processed:9000\r\nused_cpu_sys:1.5\r\nused_cpu_user:2.25\r\n\
        total_net_input_bytes:500\r\ntotal_net_output_bytes:700\r\n";

    #[test]
    fn a_server_says_what_it_uses_its_limits_and_its_load() {
        let answer = |command: &str| match command {
            "INFO" => Some(text(INFO)),
            "CLUSTER INFO" => Some(text("cluster_enabled:1\r\ncluster_state:fail\r\n")),
            _ => Some(b"+OK\r\n".to_vec()),
        };
        let mut readings = Readings::new(&access());
        readings.before(vec![asked(start(answer))]);
        assert_eq!(readings.skipped(), None);
        let entries = readings.entries(|_| true);
        let reading = entries[0].before.clone().unwrap();
        assert!(entries[0].is_read && entries[0].after.is_none());
        let expected = ServerReading {
            at: reading.at.clone(),
            server: Some("valkey 9.1.2".into()),
            uptime_in_seconds: Some(60),
            used_memory: Some(1000),
            used_memory_dataset: Some(800),
            mem_not_counted_for_evict: Some(20),
            maxmemory: Some(2000),
            maxmemory_policy: Some("allkeys-lru".into()),
            mem_fragmentation_ratio: Some(1.25),
            buffers: Some(20),
            evicted_keys: Some(7),
            connected_slaves: Some(1),
            instantaneous_ops_per_sec: Some(300),
            total_commands_processed: Some(9000),
            used_cpu: Some(3.75),
            total_net_input_bytes: Some(500),
            total_net_output_bytes: Some(700),
            cluster_state: Some("fail".into()),
        };
        assert_eq!(reading, expected);
    }

    #[test]
    fn what_a_server_does_not_say_is_absent() {
        let odd = "redis_version:4.0.0\r\nused_memory:-1\r\nmem_fragmentation_ratio:nan\r\nmaxmemory_policy:\x1b[2J\r\n";
        let answer = move |command: &str| match command {
            "INFO" => Some(text(odd)),
            _ => Some(b"-NOPERM no permissions\r\n".to_vec()),
        };
        let mut readings = Readings::new(&access());
        readings.after(vec![asked(start(answer))]);
        let reading = readings.entries(|_| false).remove(0).after.unwrap();
        let expected = ServerReading {
            at: reading.at.clone(),
            server: Some("redis 4.0.0".into()),
            ..ServerReading::default()
        };
        assert_eq!(reading, expected);
    }

    #[test]
    fn a_server_that_refuses_is_not_collected_and_that_is_said() {
        let refuse = |_: &str| Some(b"-NOPERM no permissions\r\n".to_vec());
        let mut readings = Readings::new(&access());
        readings.before(vec![asked(start(refuse))]);
        let said = readings.skipped().unwrap();
        assert!(
            said.starts_with("memory, limits and load of 1 server: 127.0.0.1:")
                && said.contains("INFO is refused"),
            "{said}"
        );
        assert!(readings.entries(|_| true).is_empty());
    }
}
