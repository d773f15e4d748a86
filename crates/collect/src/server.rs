//! A server's INFO: version, health, eviction policy, number of keys.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_base::text::{self, grouped};
use slotscope_read::source::collection::servers::Role;

use crate::address::Address;
use crate::connection::{Access, Connection};
use crate::key_facts::Heat;
use crate::resp::Reply;

/// How long to wait for a lagging replica, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

/// Maximum databases read and counted.
const MAX_DATABASES: usize = 1 << 16;
/// Maximum lines kept besides those of databases, several times what servers have.
const MAX_FIELDS: usize = 1 << 12;

/// The reply to INFO, parsed.
pub(crate) struct Server {
    fields: HashMap<String, String>,
    /// Databases with keys, and their key counts.
    databases: BTreeMap<u64, u64>,
}

impl Server {
    /// Requests INFO.
    ///
    /// # Errors
    /// The server does not answer, or its reply is not INFO.
    pub(crate) fn ask(connection: &mut Connection) -> Result<Server> {
        let reply = connection.call("INFO", &[b"INFO"])?;
        let server = Server::from_reply(reply, connection)?;
        connection.forget();
        Ok(server)
    }

    /// Parses a reply to INFO.
    ///
    /// # Errors
    /// The server refused, or the reply is not INFO.
    pub(crate) fn from_reply(reply: Reply, connection: &Connection) -> Result<Server> {
        if let Reply::Error(refusal) = &reply {
            return Err(connection.refused("INFO", refusal));
        }
        let text = reply.into_text().ok_or_else(|| connection.odd("INFO"))?;
        let server = Server::new(&String::from_utf8_lossy(&text));
        if server.databases.len() > MAX_DATABASES {
            let most = grouped(MAX_DATABASES as u64);
            let reason = format!(
                "INFO lists more than {most} databases, which are not counted; check what serves there"
            );
            return Err(Error::bad(connection.place(), reason));
        }
        match server.field("redis_version") {
            "" => Err(connection.odd("INFO")),
            _ => Ok(server),
        }
    }

    pub(crate) fn new(text: &str) -> Server {
        let (mut fields, mut databases) = (HashMap::new(), BTreeMap::new());
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            if let Some((number, keys)) = database(name, value) {
                databases.insert(number, keys);
            } else if fields.len() < MAX_FIELDS {
                fields.insert(name.to_owned(), value.to_owned());
            }
        }
        Server { fields, databases }
    }

    /// A field of the reply; empty if missing.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// All of them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        fields.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `valkey 9.1.2`.
    pub(crate) fn version(&self) -> String {
        let (name, version) = match self.field("valkey_version") {
            "" => ("redis", self.field("redis_version")),
            version => ("valkey", version),
        };
        format!("{name} {}", text::name(&version.into(), 40))
    }

    /// Whether it has a table per slot, so that SCAN visits slot after slot and can start at any: its cursors end with
    /// the slot number.
    pub(crate) fn has_table_a_slot(&self) -> bool {
        let number = |version: &str| {
            let mut parts = version
                .split('.')
                .map(|part| part.parse::<u32>().unwrap_or(0));
            (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
        };
        let is_cluster = self.field("cluster_enabled") == "1";
        let is_new = match self.field("valkey_version") {
            "" => number(self.field("redis_version")) >= (7, 4),
            version => number(version) >= (8, 0),
        };
        is_cluster && is_new
    }

    /// How the use of its keys can be measured.
    pub(crate) fn heat(&self, role: Role) -> Heat {
        match role {
            Role::Replica => Heat::Unasked,
            Role::Primary if self.field("maxmemory_policy").contains("lfu") => Heat::Frequency,
            Role::Primary => Heat::Idle,
        }
    }

    /// The databases with keys, in order.
    pub(crate) fn databases(&self) -> impl Iterator<Item = u64> {
        self.databases.keys().copied()
    }

    /// Keys in all databases.
    pub(crate) fn keys(&self) -> u64 {
        let keys = self.databases.values();
        keys.fold(0, |sum, keys| sum.saturating_add(*keys))
    }

    /// Checks that a node is healthy: a replica must be connected to its primary and synchronized.
    ///
    /// # Errors
    /// Why the node is unhealthy, for display.
    pub(crate) fn check(&self, role: Role, place: &str) -> Result<()> {
        let is_behind = self.field("master_link_status") != "up"
            || self.field("master_sync_in_progress") == "1";
        let is_replica = self.field("role") == "slave";
        match role {
            Role::Replica if !is_replica => Err(Error::bad(place, "it is no longer a replica")),
            Role::Replica if is_behind => Err(Error::bad(
                place,
                "the replica is not connected to its primary; wait, or read with --from primaries",
            )),
            _ => Ok(()),
        }
    }

    /// The replication offset: produced by a primary, or processed by a replica.
    fn offset(&self, role: Role) -> Option<u64> {
        let name = match role {
            Role::Primary => "master_repl_offset",
            Role::Replica => "slave_repl_offset",
        };
        self.field(name).parse().ok()
    }

    /// Changes when a server restarts or loads other data: a scan that spans a change is void.
    pub(crate) fn incarnation(&self) -> String {
        ["run_id", "rdb_last_load_keys_loaded", "role"]
            .map(|name| self.field(name))
            .join(" ")
    }
}

/// Database number and key count from a line `db0:keys=5,expires=0`.
fn database(name: &str, value: &str) -> Option<(u64, u64)> {
    let mut parts = value.split(',');
    let keys = parts.find_map(|part| part.strip_prefix("keys="))?;
    Some((name.strip_prefix("db")?.parse().ok()?, keys.parse().ok()?))
}

/// Waits until a replica has its primary's current data: slots that just moved there may not be replicated yet.
///
/// # Errors
/// A server does not answer, or the replica keeps lagging.
pub(crate) fn catch_up(replica: &mut Connection, primary: &Address, access: &Access) -> Result<()> {
    let primary = Server::ask(&mut Connection::open(primary, access)?)?;
    let (wanted, start) = (primary.offset(Role::Primary), Instant::now());
    while Server::ask(replica)?.offset(Role::Replica) < wanted {
        if start.elapsed() > PATIENCE {
            let reason = "the replica lags behind its primary; read with --from primaries";
            return Err(Error::bad(replica.place(), reason));
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(fields: &[(&str, &str)]) -> Server {
        let line = |(name, value): &(&str, &str)| format!("{name}:{value}\r\n");
        Server::new(&fields.iter().map(line).collect::<String>())
    }

    #[test]
    fn a_table_a_slot_came_with_redis_7_4_and_valkey_8() {
        for (fields, expected) in [
            ([("redis_version", "7.2.7"), ("valkey_version", "")], false),
            ([("redis_version", "7.4.1"), ("valkey_version", "")], true),
            ([("redis_version", "8.2.3"), ("valkey_version", "")], true),
            (
                [("redis_version", "7.2.4"), ("valkey_version", "7.2.9")],
                false,
            ),
            (
                [("redis_version", "7.2.4"), ("valkey_version", "9.0.0")],
                true,
            ),
        ] {
            let mut fields = fields.to_vec();
            fields.retain(|(_, value)| !value.is_empty());
            fields.push(("cluster_enabled", "1"));
            assert_eq!(server(&fields).has_table_a_slot(), expected, "{fields:?}");
        }
        assert!(
            !server(&[("redis_version", "8.2.3")]).has_table_a_slot(),
            "a lone server"
        );
    }

    #[test]
    fn databases_are_those_with_keys() {
        let server = server(&[
            ("db10", "keys=3,expires=0"),
            ("db2", "keys=4,expires=1,avg_ttl=0"),
            ("dbx", "1"),
        ]);
        assert_eq!(server.databases().collect::<Vec<_>>(), [2, 10]);
        assert_eq!(server.keys(), 7);
    }

    #[test]
    fn a_replica_without_its_primary_is_not_read() {
        let lost = [("role", "slave"), ("master_link_status", "down")];
        let linked = [("role", "slave"), ("master_link_status", "up")];
        for (fields, role, may_be_read) in [
            (&lost[..], Role::Replica, false),
            (&linked, Role::Replica, true),
            (&[("role", "master")], Role::Replica, false),
            (&[("role", "master")], Role::Primary, true),
        ] {
            let check = server(fields).check(role, "h:1");
            assert_eq!(check.is_ok(), may_be_read, "{fields:?}");
        }
    }
}
