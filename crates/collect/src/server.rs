//! A server's description of itself: its version, whether it can be read now, how it evicts, how many keys it has.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::source::collection::servers::Role;
use slotscope_engine::text::{self, grouped};

use crate::address::Address;
use crate::connection::{Access, Connection};
use crate::key_facts::Heat;
use crate::resp::Reply;

/// How long a replica that lags is waited for, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);

/// Databases that are read; as many are counted.
const MAX_DATABASES: usize = 1 << 16;
/// Lines that are kept besides those of databases, several times what servers have.
const MAX_FIELDS: usize = 1 << 12;

/// The reply to INFO, parsed.
pub(crate) struct Server {
    fields: HashMap<String, String>,
    /// The databases that have keys, and how many.
    databases: BTreeMap<u64, u64>,
}

impl Server {
    /// Asks it.
    ///
    /// # Errors
    /// It does not answer, or with something else.
    pub(crate) fn ask(connection: &mut Connection) -> Result<Server> {
        let reply = connection.call("INFO", &[b"INFO"])?;
        let server = Server::from_reply(reply, connection)?;
        connection.forget();
        Ok(server)
    }

    /// Parses a reply to INFO.
    ///
    /// # Errors
    /// The server refused, or it is something else.
    pub(crate) fn from_reply(reply: Reply, connection: &Connection) -> Result<Server> {
        if let Reply::Error(said) = &reply {
            return Err(connection.refused("INFO", said));
        }
        let text = reply.into_text().ok_or_else(|| connection.odd("INFO"))?;
        let server = Server::new(&String::from_utf8_lossy(&text));
        if server.databases.len() > MAX_DATABASES {
            let most = grouped(MAX_DATABASES as u64);
            let what = format!(
                "INFO lists more than {most} databases, which are not counted; check what serves there"
            );
            return Err(Error::bad(connection.place(), what));
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

    /// A field of the answer; empty where it is not there.
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

    /// Whether it has a table a slot, so that SCAN goes from slot to slot and can start at any: its cursors end in the
    /// number of the slot.
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

    /// The counter of use that its keys have.
    pub(crate) fn heat(&self, role: Role) -> Heat {
        match role {
            Role::Replica => Heat::Unasked,
            Role::Primary if self.field("maxmemory_policy").contains("lfu") => Heat::Frequency,
            Role::Primary => Heat::Idle,
        }
    }

    /// The numbers of the databases that have keys, in order.
    pub(crate) fn databases(&self) -> impl Iterator<Item = u64> {
        self.databases.keys().copied()
    }

    /// Keys in all databases.
    pub(crate) fn keys(&self) -> u64 {
        let keys = self.databases.values();
        keys.fold(0, |sum, keys| sum.saturating_add(*keys))
    }

    /// Whether a node is in order: a replica is connected to its primary and has its keys.
    ///
    /// # Errors
    /// It does not, for people.
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

    /// How much of the stream of changes a node has: as a primary made, or as a replica taken in.
    fn offset(&self, role: Role) -> Option<u64> {
        let name = match role {
            Role::Primary => "master_repl_offset",
            Role::Replica => "slave_repl_offset",
        };
        self.field(name).parse().ok()
    }

    /// A value that changes when a server restarts or loads other data: a scan that spans a change is void.
    pub(crate) fn incarnation(&self) -> String {
        ["run_id", "rdb_last_load_keys_loaded", "role"]
            .map(|name| self.field(name))
            .join(" ")
    }
}

/// The number and the keys of the database in a line `db0:keys=5,expires=0`.
fn database(name: &str, value: &str) -> Option<(u64, u64)> {
    let mut parts = value.split(',');
    let keys = parts.find_map(|part| part.strip_prefix("keys="))?;
    Some((name.strip_prefix("db")?.parse().ok()?, keys.parse().ok()?))
}

/// Waits until a replica has the data that its primary has now: slots that have just moved there may still be replicated.
///
/// # Errors
/// One of them does not answer, or the replica keeps lagging.
pub(crate) fn catch_up(replica: &mut Connection, primary: &Address, access: &Access) -> Result<()> {
    let primary = Server::ask(&mut Connection::open(primary, access)?)?;
    let (wanted, start) = (primary.offset(Role::Primary), Instant::now());
    while Server::ask(replica)?.offset(Role::Replica) < wanted {
        if start.elapsed() > PATIENCE {
            let what = "the replica lags behind its primary; read with --from primaries";
            return Err(Error::bad(replica.place(), what));
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
        let fields = [("role", "slave"), ("master_link_status", "down")];
        assert!(server(&fields).check(Role::Replica, "h:1").is_err());
        assert!(
            server(&[("role", "slave"), ("master_link_status", "up")])
                .check(Role::Replica, "h:1")
                .is_ok()
        );
        assert!(
            server(&[("role", "master")])
                .check(Role::Replica, "h:1")
                .is_err()
        );
        assert!(
            server(&[("role", "master")])
                .check(Role::Primary, "h:1")
                .is_ok()
        );
    }
}
