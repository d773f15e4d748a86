//! The keys with the most CPU time within some seconds, if servers count by key (HOTKEYS of Redis 8.6). A server has
//! one tracking session for all users: a session started by others, or with an unfetched result, is left alone.

use std::cmp::Reverse;
use std::time::Duration;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::source::collection::load::{HotKeys, TimedKey};

use crate::connection::{Access, Connection};
use crate::crew;
use crate::readings::Asked;
use crate::resp::{Commands, Reply};

/// Keys per server.
const MOST_KEYS: usize = 20;
/// Maximum bytes kept of a name.
const NAMED: usize = 512;
/// A server ends the session by itself this long after `finish` should have.
const SPARE: Duration = Duration::from_secs(10);

/// The servers that track keys.
pub(crate) struct Tracking {
    connections: Vec<Connection>,
    /// Why one of the others does not.
    refusal: Option<Error>,
}

impl Tracking {
    /// Starts tracking on these servers, skipping those without HOTKEYS.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(access: &Access, servers: &[Asked], during: Duration) -> Result<Tracking> {
        let access = access.brief();
        let run = |server: &Asked| start(server, &access, during + SPARE);
        let (connections, refusal) = crew::answers(servers.iter(), run)?;
        Ok(Tracking {
            connections: connections.into_iter().flatten().collect(),
            refusal,
        })
    }

    /// Ends tracking. Returns the keys of all servers, if any tracked, and a reason why one has none.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn finish(self) -> Result<(Option<HotKeys>, Option<String>)> {
        let (of_servers, refusal) = crew::answers(self.connections.into_iter(), finish)?;
        let mut total = HotKeys::default();
        of_servers.iter().for_each(|server| total.add(server));
        let refusal = self.refusal.or(refusal);
        let refusal = refusal.map(|error| format!("hot keys: {error}"));
        let order = |key: &TimedKey| (Reverse(key.cpu_usec), key.key.clone());
        total.keys.sort_by_cached_key(order);
        Ok((Some(total).filter(|total| total.nodes > 0), refusal))
    }
}

/// Starts tracking on a server; returns its connection, or `None` if it cannot.
fn start(server: &Asked, access: &Access, during: Duration) -> Result<Option<Connection>> {
    let mut connection = Connection::open(&server.address, access)?;
    match connection.ask("HOTKEYS GET", &[b"HOTKEYS", b"GET"])? {
        Reply::Nil => {}
        Reply::Error(refusal) if refusal.starts_with("ERR") => return Ok(None),
        Reply::Error(refusal) => return Err(refused(&connection, &refusal)),
        _ => {
            let reason =
                "HOTKEYS has a session already; HOTKEYS STOP and HOTKEYS RESET make room for one";
            return Err(Error::bad(connection.place(), reason));
        }
    }
    let (seconds, most) = (during.as_secs().to_string(), MOST_KEYS.to_string());
    let words = [
        "HOTKEYS", "START", "METRICS", "1", "CPU", "COUNT", &most, "DURATION", &seconds,
    ];
    match connection.ask("HOTKEYS START", &words.map(str::as_bytes))? {
        Reply::Error(refusal) => Err(refused(&connection, &refusal)),
        _ => Ok(Some(connection)),
    }
}

fn refused(connection: &Connection, refusal: &str) -> Error {
    if refusal.starts_with("NOPERM") {
        let reason = "HOTKEYS is refused to this user; +hotkeys allows it";
        return Error::bad(connection.place(), reason);
    }
    connection.refused("HOTKEYS", refusal)
}

/// The hot keys tracked by the server, which then forgets them.
fn finish(mut connection: Connection) -> Result<HotKeys> {
    let mut commands = Commands::default();
    commands.add("HOTKEYS GET", &[b"HOTKEYS", b"GET"]);
    commands.add("HOTKEYS STOP", &[b"HOTKEYS", b"STOP"]);
    commands.add("HOTKEYS RESET", &[b"HOTKEYS", b"RESET"]);
    let replies = connection.pipeline(&commands)?;
    let hot_keys = replies.first().and_then(parse);
    hot_keys.ok_or_else(|| connection.odd("HOTKEYS GET"))
}

/// Parses `[[name, value, ...]]`, where `by-cpu-time-us` is `[key, microseconds, ...]`.
fn parse(reply: &Reply) -> Option<HotKeys> {
    let fields = reply.items()?.first()?;
    let key = |pair: &[Reply]| {
        let name = pair[0].text()?;
        Some(TimedKey {
            key: Name::from(&name[..name.len().min(NAMED)]),
            slot: hashslot::slot(name),
            cpu_usec: pair[1].number()?,
        })
    };
    let pairs = fields.field("by-cpu-time-us")?.items()?;
    let keys = pairs.chunks_exact(2).take(MOST_KEYS).map(key);
    Some(HotKeys {
        nodes: 1,
        cpu_usec: fields.field("all-commands-all-slots-us")?.number()?,
        keys: keys.collect::<Option<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, asked, start as server, text};

    /// Redis's reply to HOTKEYS GET, without unused fields.
    fn found(keys: &[(&str, u64)]) -> Vec<u8> {
        let pair = |(key, usec): &(&str, u64)| [text(key), format!(":{usec}\r\n").into()].concat();
        let pairs: Vec<Vec<u8>> = keys.iter().map(pair).collect();
        let fields = [
            b"*1\r\n*6\r\n".to_vec(),
            text("tracking-active"),
            b":1\r\n".to_vec(),
            text("all-commands-all-slots-us"),
            b":1000\r\n".to_vec(),
            text("by-cpu-time-us"),
            format!("*{}\r\n", 2 * keys.len()).into_bytes(),
        ];
        [fields.concat(), pairs.concat()].concat()
    }

    fn run(
        mut answer: impl FnMut(&str) -> Vec<u8> + Send + 'static,
    ) -> (Option<HotKeys>, Option<String>) {
        let asked = asked(server(move |command| Some(answer(command))));
        let tracking = Tracking::start(&access(), &[asked], Duration::from_secs(5)).unwrap();
        tracking.finish().unwrap()
    }

    #[test]
    fn a_session_is_started_read_and_ended() {
        let mut is_started = false;
        let (found, refusal) = run(move |command| match command {
            "HOTKEYS START METRICS 1 CPU COUNT 20 DURATION 15" => {
                is_started = true;
                b"+OK\r\n".to_vec()
            }
            "HOTKEYS GET" if is_started => found(&[("b", 7), ("a{x}", 90)]),
            "HOTKEYS GET" => b"*-1\r\n".to_vec(),
            _ => b"+OK\r\n".to_vec(),
        });
        let found = found.unwrap();
        let keys = found.keys.iter();
        let keys: Vec<_> = keys
            .map(|of| (of.key.to_string(), of.slot, of.cpu_usec))
            .collect();
        let slot = hashslot::slot;
        assert_eq!(
            keys,
            [
                ("a{x}".to_owned(), slot(b"x"), 90),
                ("b".to_owned(), slot(b"b"), 7),
            ]
        );
        assert_eq!((found.nodes, found.cpu_usec, refusal), (1, 1000, None));
    }

    #[test]
    fn a_session_of_somebody_else_is_left_alone() {
        let (keys, refusal) = run(|command| match command {
            "HOTKEYS GET" => found(&[("theirs", 7)]),
            other => {
                assert!(!other.starts_with("HOTKEYS"), "{other}");
                b"+OK\r\n".to_vec()
            }
        });
        assert_eq!(keys, None);
        assert!(refusal.unwrap().contains("has a session already"));
    }

    #[test]
    fn a_server_without_it_is_skipped_and_a_refusal_is_reported() {
        let unknown = run(|_| b"-ERR unknown command\r\n".to_vec());
        assert_eq!(unknown, (None, None));
        let (_, refusal) = run(|_| b"-NOPERM no\r\n".to_vec());
        assert!(refusal.unwrap().contains("+hotkeys allows it"));
    }

    #[test]
    fn an_odd_answer_has_no_keys() {
        for odd in [
            Reply::Nil,
            Reply::Array(Vec::new()),
            Reply::Array(vec![Reply::Array(vec![Reply::Nil])]),
        ] {
            assert_eq!(parse(&odd), None);
        }
    }
}
