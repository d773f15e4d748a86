//! Reads counters of many servers at once: INFO, and CLUSTER SLOT-STATS if available. The difference of two readings is
//! the load in between.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use slotscope_base::calendar::utc;
use slotscope_base::error::Result;
use slotscope_read::source::collection::servers::Role;
use slotscope_read::source::collection::servers::ServerReading;

use crate::clock::now_ms;
use crate::connection::{Access, Connection};
use crate::crew;
use crate::readings::{Asked, cluster_state, reading};
use crate::resp::{Commands, Reply};
use crate::server::Server;
use crate::slot_stats;
pub use crate::slot_stats::SlotCounts;
use crate::watch::Watch;

/// Maximum commands kept of INFO commandstats, per server (which has about 400) and overall.
const MAX_COMMANDS: usize = 1024;
const MAX_COMMANDS_OF_ALL: usize = 1 << 18;

/// Connections to servers polled repeatedly.
pub(crate) struct Probe<'a> {
    access: &'a Access,
    /// By server id.
    peers: BTreeMap<String, Peer>,
    /// Whether connections are kept for the next reading.
    is_kept: bool,
    /// Whether commands are read, too.
    has_commands: bool,
}

struct Peer {
    connection: Connection,
    /// Why the server refused SLOT-STATS: it is not asked again.
    refusal: Option<String>,
}

/// A server's counters at one time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// Its id in the cluster.
    pub id: Option<String>,
    /// Its address, as in CLUSTER NODES.
    pub name: String,
    /// The time of the request, in milliseconds since 1970.
    pub at_ms: i64,
    /// INFO.
    pub server: ServerReading,
    /// INFO commandstats, if read: calls and microseconds since server start.
    pub commands: BTreeMap<String, (u64, u64)>,
    /// Commands that were refused since then, by their names and by the first word of the error.
    pub refused: [BTreeMap<String, u64>; 2],
    /// INFO replication: bytes that the slowest replica is after; absent without a replica.
    pub lag_bytes: Option<u64>,
    /// Each slot it owns; absent if it does not count by slot.
    pub slots: Option<Vec<SlotCounts>>,
    /// Slots it counted but does not own, which are dropped.
    pub foreign: u64,
    /// Why it does not count by slot.
    pub refusal: Option<String>,
}

impl<'a> Probe<'a> {
    /// No connections yet.
    pub(crate) fn new(access: &'a Access) -> Self {
        Probe {
            access,
            peers: BTreeMap::new(),
            is_kept: true,
            has_commands: false,
        }
    }

    /// Also reads the calls and time of each command.
    pub(crate) fn with_commands(access: &'a Access) -> Self {
        Probe {
            has_commands: true,
            ..Probe::new(access)
        }
    }

    /// Reads servers once, without holding a connection to each at the same time.
    pub(crate) fn once(access: &'a Access, servers: &[Asked]) -> Result<Vec<Result<Reading>>> {
        let mut probe = Probe {
            is_kept: false,
            ..Probe::new(access)
        };
        probe.read(servers)
    }

    /// Connects to all of these servers, so that they can be read at the same moment. Those that cannot be reached fail when
    /// they are read.
    pub(crate) fn connect(&mut self, servers: &[Asked]) -> Result<()> {
        let new = |server: &&Asked| !self.peers.contains_key(server.key());
        let missing: Vec<&Asked> = servers.iter().filter(new).collect();
        let access = self.access.brief();
        let peers = crew::all(missing.iter(), |server| Peer::open(server, &access))?;
        for (server, peer) in missing.into_iter().zip(peers) {
            self.peers
                .extend(peer.map(|peer| (server.key().to_owned(), peer)));
        }
        Ok(())
    }

    /// Reads these servers at once, in order.
    ///
    /// # Errors
    /// No thread can be started; a server that does not answer is an error of its own.
    pub(crate) fn read(&mut self, servers: &[Asked]) -> Result<Vec<Result<Reading>>> {
        self.peers
            .retain(|key, _| servers.iter().any(|server| server.key() == key));
        let access = self.access.brief();
        let share = (MAX_COMMANDS_OF_ALL / servers.len().max(1)).min(MAX_COMMANDS);
        let most_commands = self.has_commands.then_some(share);
        let tasks: Vec<(&Asked, Option<Peer>)> = servers
            .iter()
            .map(|server| (server, self.peers.remove(server.key())))
            .collect();
        let is_kept = self.is_kept;
        let ask = |(server, peer): (&Asked, Option<Peer>)| {
            let mut peer = peer.map_or_else(|| Peer::open(server, &access), Ok)?;
            let reading = peer.read(server, most_commands)?;
            Ok((reading, is_kept.then_some(peer)))
        };
        let answers = crew::all(tasks.into_iter(), ask)?;
        let readings = servers.iter().zip(answers).map(|(server, answer)| {
            let (reading, peer) = answer?;
            self.peers
                .extend(peer.map(|peer| (server.key().to_owned(), peer)));
            Ok(reading)
        });
        Ok(readings.collect())
    }
}

impl Peer {
    fn open(server: &Asked, access: &Access) -> Result<Peer> {
        Ok(Peer {
            connection: Connection::open(&server.address, access)?,
            refusal: None,
        })
    }

    fn read(&mut self, server: &Asked, most_commands: Option<usize>) -> Result<Reading> {
        let is_member = server.id.is_some();
        let mut commands = Commands::default();
        commands.add("INFO", &[b"INFO", b"all"]);
        if is_member {
            commands.add("CLUSTER INFO", &[b"CLUSTER", b"INFO"]);
        }
        if is_member && self.refusal.is_none() {
            commands.add("CLUSTER SLOT-STATS", &slot_stats::COMMAND);
        }
        let at_ms = now_ms();
        let mut replies = self.connection.pipeline(&commands)?.into_iter();
        let reply = replies.next().unwrap_or(Reply::Nil);
        let info = Server::from_reply(reply, &self.connection)?;
        let mut figures = without_observers(reading(&info), &info);
        let state = replies.next().and_then(Reply::into_text);
        figures.cluster_state = state.and_then(|text| cluster_state(&text));
        let (slots, foreign) = match replies.next() {
            Some(Reply::Error(refusal)) => {
                self.refusal = Some(
                    self.connection
                        .refused("CLUSTER SLOT-STATS", &refusal)
                        .to_string(),
                );
                (None, 0)
            }
            Some(reply) => {
                let counts = slot_stats::read(&reply, &server.owned);
                let (slots, foreign) =
                    counts.map_err(|rule| self.connection.wrong("CLUSTER SLOT-STATS", rule))?;
                (Some(slots), foreign)
            }
            None => (None, 0),
        };
        self.connection.forget();
        Ok(Reading {
            id: server.id.clone(),
            name: server.name.clone(),
            at_ms,
            server: figures,
            commands: commandstats(&info, most_commands.unwrap_or(0)),
            refused: if most_commands.is_some() {
                refused(&info)
            } else {
                Default::default()
            },
            lag_bytes: lag(&info),
            slots,
            foreign,
            refusal: self.refusal.clone(),
        })
    }
}

/// Commands that watch a server, ours and those of others. Servers before 7.0 count those of CLUSTER together.
const OBSERVERS: [&str; 6] = [
    "cluster",
    "cluster|countkeysinslot",
    "cluster|getkeysinslot",
    "cluster|info",
    "cluster|slot-stats",
    "info",
];

/// Whether nobody's data is concerned by a command of this name in INFO.
pub(crate) fn is_observer(name: &str) -> bool {
    OBSERVERS.contains(&name)
}

/// The operations without those of observers. Their CPU time is not known: servers count the time on the clock.
fn without_observers(mut figures: ServerReading, info: &Server) -> ServerReading {
    let counted = info.fields().filter_map(command);
    let own = counted.filter(|(name, _)| is_observer(name));
    let calls = own.fold(0u64, |sum, (_, (calls, _))| sum.saturating_add(calls));
    if let Some(all) = &mut figures.total_commands_processed {
        *all = all.saturating_sub(calls);
    }
    figures
}

/// Name, calls and microseconds of `cmdstat_get:calls=5,usec=20,...`.
fn command<'a>((name, value): (&'a str, &'a str)) -> Option<(&'a str, (u64, u64))> {
    let name = name.strip_prefix("cmdstat_")?;
    let counts = (part(value, "calls=")?, part(value, "usec=")?);
    is_plain(name).then_some((name, counts))
}

/// The number after `name` in `calls=5,usec=20`.
fn part(value: &str, name: &str) -> Option<u64> {
    let mut parts = value.split(',');
    parts.find_map(|part| part.strip_prefix(name))?.parse().ok()
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_graphic()) && name.len() <= 64
}

/// Calls and microseconds by command name; if there are more than `most`, those with the most time.
fn commandstats(info: &Server, most: usize) -> BTreeMap<String, (u64, u64)> {
    let of_clients = info.fields().filter_map(command);
    let mut commands: Vec<_> = of_clients.filter(|(name, _)| !is_observer(name)).collect();
    commands.sort_by_key(|(name, (_, usec))| (Reverse(*usec), *name));
    commands.truncate(most);
    let named = commands.into_iter();
    named
        .map(|(name, counts)| (name.to_owned(), counts))
        .collect()
}

/// Errors with which a node of a cluster refuses commands; others are mistakes of a command that ran.
const REFUSALS: [&str; 10] = [
    "ASK",
    "BUSY",
    "CLUSTERDOWN",
    "CROSSSLOT",
    "LOADING",
    "MISCONF",
    "MOVED",
    "OOM",
    "READONLY",
    "TRYAGAIN",
];

/// `rejected_calls` of commands, and `errorstat_CROSSSLOT:count=7`, which servers have from Redis 6.2 on.
fn refused(info: &Server) -> [BTreeMap<String, u64>; 2] {
    let count = |value: &str, field: &str| part(value, field).filter(|count| *count > 0);
    let command = |(name, value): (&str, &str)| {
        let name = name.strip_prefix("cmdstat_")?;
        is_plain(name).then_some((name.to_owned(), count(value, "rejected_calls=")?))
    };
    let error = |(name, value): (&str, &str)| {
        let name = name.strip_prefix("errorstat_")?;
        let name = REFUSALS.into_iter().find(|refusal| *refusal == name)?;
        Some((name.to_owned(), count(value, "count=")?))
    };
    let commands = info.fields().filter_map(command).take(MAX_COMMANDS);
    [
        commands.collect(),
        info.fields().filter_map(error).collect(),
    ]
}

/// Bytes that the slowest of its replicas is after: `slave0:ip=...,offset=5,lag=0`.
fn lag(info: &Server) -> Option<u64> {
    let end: u64 = info.field("master_repl_offset").parse().ok()?;
    let offset = |(name, value): (&str, &str)| -> Option<u64> {
        let number = name.strip_prefix("slave")?;
        let is_replica = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        part(value, "offset=").filter(|_| is_replica)
    };
    let slowest = info.fields().filter_map(offset).min()?;
    Some(end.saturating_sub(slowest))
}

/// A cluster's primaries with slots.
pub(crate) fn primaries(watch: &Watch<'_>) -> Vec<Asked> {
    let owners = watch.view.owners().iter();
    let servers = owners.filter_map(|owner| {
        let member = watch.view.members.get(&**owner)?;
        Some(Asked {
            id: Some(member.id.clone()),
            name: member.name.clone(),
            role: Role::Primary,
            address: watch.address(member)?,
            owned: watch.view.slots_of(owner),
        })
    });
    servers.collect()
}

impl Reading {
    /// Its server's key, as in `Asked::key`.
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }

    /// Whether it counts CPU time by slot.
    pub fn counts_cpu_by_slot(&self) -> bool {
        let mut slots = self.slots.iter().flatten();
        slots.any(|slot| slot.cpu.is_some())
    }

    /// A line of `slot-stats.json`; absent if it does not count by slot.
    pub fn line(&self) -> Option<String> {
        let slots = self.slots.as_ref()?;
        let row = |counts: &SlotCounts| json!([counts.slot, counts.stats()]);
        let slots: Vec<Value> = slots.iter().map(row).collect();
        let line = json!({"time": utc(self.at_ms), "node": self.name, "slots": slots});
        Some(format!("{line}\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{self, access, start, text};

    const INFO: &str = "redis_version:7.0.15\r\nused_memory:1000\r\nmaster_repl_offset:90\r\n\
        slave0:ip=h,port=1,state=online,offset=80,lag=1\r\nslave1:ip=h,port=2,state=online,offset=70,lag=1\r\n\
        slave_repl_offset:5\r\ntotal_commands_processed:100\r\nused_cpu_user:1.5\r\nused_cpu_sys:0\r\n\
        cmdstat_info:calls=30,usec=250000\r\ncmdstat_cluster|info:calls=20,usec=250000\r\ncmdstat_cluster|slots:calls=9,usec=9\r\n\
        cmdstat_get:calls=5,usec=20,usec_per_call=4.00\r\ncmdstat_bad:calls=x\r\n";

    fn asked(stats: &'static [u8]) -> Vec<Asked> {
        let answer = move |command: &str| match command {
            "INFO all" => Some(text(INFO)),
            "CLUSTER INFO" => Some(text("cluster_state:ok\r\n")),
            of if of.starts_with("CLUSTER SLOT-STATS") => Some(stats.to_vec()),
            _ => Some(b"+OK\r\n".to_vec()),
        };
        let owned = [1, 7].into_iter().collect();
        vec![Asked {
            owned,
            ..scripted::asked(start(answer))
        }]
    }

    fn read(stats: &'static [u8]) -> Result<Reading> {
        let access = access();
        let mut probe = Probe::with_commands(&access);
        probe.read(&asked(stats)).unwrap().remove(0)
    }

    #[test]
    fn a_server_says_what_it_did_and_what_each_of_its_slots_took() {
        let found =
            read(b"*1\r\n*2\r\n:7\r\n*4\r\n$9\r\nkey-count\r\n:3\r\n$8\r\ncpu-usec\r\n:9\r\n")
                .unwrap();
        assert_eq!(found.commands["get"], (5, 20));
        assert_eq!((found.commands.len(), found.lag_bytes), (2, Some(20)));
        let load = (found.server.total_commands_processed, found.server.used_cpu);
        assert_eq!(load, (Some(50), Some(1.5)), "without observers");
        assert_eq!(found.server.cluster_state.as_deref(), Some("ok"));
        let expected = SlotCounts {
            slot: 7,
            keys: 3,
            cpu: Some(9),
            ..SlotCounts::default()
        };
        assert_eq!(found.slots.as_deref(), Some(&[expected][..]));
        let line = found.line().unwrap();
        let slots = "\"slots\":[[7,{\"cpu-usec\":9,\"key-count\":3}]]";
        assert!(line.contains(slots), "{line}");
    }

    #[test]
    fn a_server_that_does_not_count_by_slot_is_asked_for_that_once() {
        let access = access();
        let mut probe = Probe::new(&access);
        let servers = asked(b"-ERR unknown subcommand\r\n");
        for _ in 0..2 {
            let found = probe.read(&servers).unwrap().remove(0).unwrap();
            assert_eq!((found.slots.is_none(), found.line()), (true, None));
            assert!(
                found
                    .refusal
                    .unwrap()
                    .contains("CLUSTER SLOT-STATS is not known")
            );
        }
    }

    #[test]
    fn slots_that_a_server_does_not_own_are_left_out_and_counted() {
        let stats = b"*3\r\n*2\r\n:0\r\n*2\r\n$9\r\nkey-count\r\n:5\r\n\
            *2\r\n:1\r\n*2\r\n$9\r\nkey-count\r\n:3\r\n*2\r\n:2\r\n*0\r\n";
        let found = read(stats).unwrap();
        let expected = SlotCounts {
            slot: 1,
            keys: 3,
            ..SlotCounts::default()
        };
        assert_eq!((found.slots, found.foreign), (Some(vec![expected]), 2));
    }

    #[test]
    fn of_many_commands_those_that_took_most_time_are_kept() {
        let line = |i: u64| format!("cmdstat_c{i}:calls=1,usec={}\r\n", 100 + i % 50);
        let info: String = (0..100).map(line).collect();
        let kept = commandstats(&Server::new(&info), 2);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["c49", "c99"]);
    }

    #[test]
    fn statistics_that_no_server_has_are_refused() {
        for odd in [
            &b"*1\r\n*2\r\n:16384\r\n*2\r\n$9\r\nkey-count\r\n:3\r\n"[..],
            b"*2\r\n*2\r\n:1\r\n*2\r\n$9\r\nkey-count\r\n:3\r\n*2\r\n:1\r\n*2\r\n$9\r\nkey-count\r\n:3\r\n",
            b"*1\r\n*2\r\n:1\r\n*0\r\n",
            b"*1\r\n*2\r\n:1\r\n*2\r\n$9\r\nkey-count\r\n$20\r\n18446744073709551615\r\n",
            b"*1\r\n*2\r\n:1\r\n*4\r\n$9\r\nkey-count\r\n:3\r\n$8\r\ncpu-usec\r\n:1125899906842624\r\n",
            b":5\r\n",
        ] {
            assert!(read(odd).is_err(), "{}", odd.escape_ascii());
        }
    }
}
