//! A server's reply is text: the script of a plan executes nothing in it, whichever field of whichever reply is
//! hostile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use testkit::env::is_campaign;
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;

/// All kinds of scripts.
pub(super) const KINDS: [&str; 3] = ["setslot", "valkey", "redis-8.4"];
/// Text that runs a command if bash takes it for arithmetic or a subscript; with more text after it bash runs nothing.
const ARITHMETIC: &str = "id[$(touch${IFS}RAN)1]";
/// The same if it is taken for words of a command.
const WORDS: &str = "';touch${IFS}RAN;\"`touch${IFS}RAN`$(touch${IFS}RAN)";

/// Changes the reply of a node to a command.
pub(super) type Liar = Box<dyn Fn(usize, &str, String) -> Answer + Send + Sync>;

/// Three primaries that execute what a script requests; one field of their replies is hostile, or a liar changes them.
#[derive(Default)]
pub(super) struct World {
    ports: Mutex<Vec<u16>>,
    liar: Option<Liar>,
    /// Every command, with the node that got it.
    pub asked: Mutex<Vec<(usize, String)>>,
    /// The nodes that hold keys of a slot, two each.
    held: Mutex<BTreeSet<(usize, u16)>>,
    /// The slot that each node listed last.
    listing: Mutex<[u16; 3]>,
    /// Slots whose keys a node dropped, as another took them over.
    pub lost: Mutex<Vec<u16>>,
    /// The node that owns each slot.
    owners: Mutex<Vec<usize>>,
    /// The hostile field.
    hostile: Option<String>,
    /// All fields that were sent, and unknown commands.
    told: Mutex<BTreeSet<String>>,
    unknown: Mutex<BTreeSet<String>>,
    /// Number of reports that a migration is running.
    polls: AtomicUsize,
}

impl World {
    /// The text of a field: `honest`, unless it is the hostile one.
    fn field(&self, name: &str, honest: impl ToString) -> String {
        self.told.lock().unwrap().insert(name.into());
        let hostile = self.hostile.as_deref().filter(|hostile| *hostile == name);
        hostile.map_or_else(|| honest.to_string(), |_| ARITHMETIC.into())
    }

    fn bulk(&self, name: &str, honest: impl ToString) -> String {
        text(&self.field(name, honest))
    }

    fn line(&self, name: &str, honest: &str) -> String {
        let text = self.field(name, honest);
        let sign = if text == ARITHMETIC { "+" } else { "" };
        format!("{sign}{text}\r\n")
    }

    fn array(&self, prefix: &str, fields: &[(&str, &str)]) -> String {
        let of = |(name, value): &(&str, &str)| {
            let (key, value) = (format!("{prefix} {name}"), value);
            format!("${}\r\n{name}\r\n{}", name.len(), self.bulk(&key, value))
        };
        let all: String = fields.iter().map(of).collect();
        format!("*{}\r\n{all}", 2 * fields.len())
    }

    fn owner(&self, slot: u16) -> usize {
        self.owners.lock().unwrap()[usize::from(slot)]
    }

    fn give(&self, slot: u16, node: usize) {
        self.owners.lock().unwrap()[usize::from(slot)] = node;
    }

    /// Moves slots with their keys, as a whole, if `from` owns them all.
    fn migrate(&self, bounds: &[&str], from: Option<usize>, to: usize) -> bool {
        let bounds = bounds.iter().map(|bound| bound.parse().unwrap_or(0));
        let bounds: Vec<u16> = bounds.collect();
        let mut slots = bounds.chunks(2).flat_map(|of| of[0]..=of[1]);
        let is_owned = from.is_none_or(|from| slots.clone().all(|slot| self.owner(slot) == from));
        if is_owned {
            slots.by_ref().for_each(|slot| {
                let mut held = self.held.lock().unwrap();
                let had = held.remove(&(self.owner(slot), slot));
                had.then(|| held.insert((to, slot)));
                drop(held);
                self.give(slot, to);
            });
        }
        is_owned
    }

    /// A slot's new node claims it: others drop the keys that they have of it.
    fn take_over(&self, slot: u16, node: usize) {
        self.give(slot, node);
        let mut held = self.held.lock().unwrap();
        for other in (0..3).filter(|other| *other != node) {
            if held.remove(&(other, slot)) {
                self.lost.lock().unwrap().push(slot);
            }
        }
    }

    fn holds(&self, node: usize, slot: u16) -> bool {
        self.held.lock().unwrap().contains(&(node, slot))
    }

    fn nodes(&self, me: usize) -> String {
        let ports = self.ports.lock().unwrap().clone();
        // One range after the other: a script asks for this often.
        let mut ranges: Vec<(usize, usize, usize)> = Vec::new();
        let mut first = 0;
        for same in self.owners.lock().unwrap().chunk_by(|a, b| a == b) {
            ranges.push((same[0], first, first + same.len() - 1));
            first += same.len();
        }
        let line = |(node, port): (usize, &u16)| {
            let own = ranges.iter().filter(|(owner, ..)| *owner == node);
            let slots = own.map(|(_, first, last)| format!("{first}-{last}"));
            let slots = slots.collect::<Vec<_>>().join(" ");
            let flags = ["master", "myself,master"][usize::from(node == me)];
            format!(
                "{} 127.0.0.1:{port}@1 {} - 0 0 {} {} {}\n",
                self.field("NODES id", id(node)),
                self.field("NODES flags", flags),
                node + 1,
                self.field("NODES link", "connected"),
                self.field("NODES slots", slots),
            )
        };
        ports.iter().enumerate().map(line).collect()
    }

    fn info(&self) -> String {
        let fields = "cluster_enabled:1 redis_version:9.0.0 loading:0 role:master master_host:127.0.0.1 \
             master_port:7000 used_memory:1000 maxmemory:2000 maxmemory_policy:allkeys-lru \
             evicted_keys:0 db0:keys=3,expires=0";
        let line = |field: &str| {
            let (name, honest) = field.split_once(':').unwrap();
            format!("{name}:{}\r\n", self.field(&format!("INFO {name}"), honest))
        };
        fields.split(' ').map(line).collect()
    }

    /// The running import or export once, and then its end.
    fn migration(&self, prefix: &str, operation: &str, over: &str) -> String {
        let is_over = self.polls.fetch_add(1, SeqCst) > 1;
        let state = if is_over { over } else { "failed-over" };
        let fields = [
            ("operation", operation),
            ("state", state),
            ("last_error", "none"),
            ("message", "none"),
            ("retries", "1"),
        ];
        self.array(prefix, &fields)
    }

    fn answer(&self, me: usize, command: &str) -> String {
        let words: Vec<&str> = command.split(' ').collect();
        let is_name = |word: &&&str| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        let name = words.iter().take_while(is_name).copied();
        let name = name.collect::<Vec<_>>().join(" ");
        let number = |at: usize| words.get(at).map_or(0, |word| word.parse().unwrap_or(0));
        for (kind, text) in [("error", ARITHMETIC), ("error in words", WORDS)] {
            if self.field(&format!("{name} {kind}"), "") == ARITHMETIC {
                return format!("-{text}\r\n");
            }
        }
        match name.as_str() {
            "CLUSTER MYID" => self.bulk("CLUSTER MYID", id(me)),
            "CLUSTER INFO" => {
                let state = self.field("CLUSTER INFO state", "ok");
                text(&format!("cluster_state:{state}\r\n"))
            }
            "CLUSTER NODES" => text(&self.nodes(me)),
            "INFO" => text(&self.info()),
            "DBSIZE" => self.line("DBSIZE", ":1000"),
            "MIGRATE" => {
                let slot = self.listing.lock().unwrap()[me];
                let ports = self.ports.lock().unwrap();
                let to = ports
                    .iter()
                    .position(|port| words[2].trim_matches('"') == port.to_string());
                let mut held = self.held.lock().unwrap();
                if words.contains(&"KEYS") && held.remove(&(me, slot)) {
                    held.insert((to.unwrap_or(me), slot));
                }
                self.line("MIGRATE", "+NOKEY")
            }
            "RESTORE-ASKING" => "-ERR syntax error\r\n".into(),
            "CLUSTER GETKEYSINSLOT" if self.lists(me, number(2)) => {
                let [first, last] = [("first", "a"), ("last", "b")]
                    .map(|(which, key)| self.bulk(&format!("GETKEYSINSLOT {which}"), key));
                format!("*2\r\n{first}{last}")
            }
            "CLUSTER GETKEYSINSLOT" => self.line("GETKEYSINSLOT", "*0"),
            "CLUSTER COUNTKEYSINSLOT" => {
                let count = 2 * u16::from(self.holds(me, number(2)));
                self.line("COUNTKEYSINSLOT", &format!(":{count}"))
            }
            "CLUSTER SETSLOT" => {
                let (slot, state, of) = (
                    number(2),
                    words[3],
                    words.get(4).copied().unwrap_or_default(),
                );
                match state {
                    "MIGRATING" if self.owner(slot) != me => {
                        "-ERR I'm not the owner of hash slot\r\n".into()
                    }
                    "IMPORTING" if self.owner(slot) == me => {
                        "-ERR I'm already the owner of hash slot\r\n".into()
                    }
                    "NODE" if node_of(of) != me && self.holds(me, slot) => {
                        "-ERR Can't assign hashslot\r\n".into()
                    }
                    _ => {
                        if state == "NODE" && node_of(of) == me {
                            self.take_over(slot, me);
                        }
                        self.line(&format!("SETSLOT {state}"), "+OK")
                    }
                }
            }
            "CLUSTER GETSLOTMIGRATIONS" => {
                let export = self.migration("GETSLOTMIGRATIONS", "EXPORT", "success");
                format!("*1\r\n{export}")
            }
            "CLUSTER MIGRATION STATUS ALL" => {
                let import = self.migration("MIGRATION STATUS", "import", "completed");
                format!("*1\r\n{import}")
            }
            "CLUSTER MIGRATION CANCEL ALL" | "CLUSTER CANCELSLOTMIGRATIONS" => "+OK\r\n".into(),
            "CONFIG GET" => self.array("CONFIG", &[("masteruser", "mover")]),
            "ACL DRYRUN" => self.line("ACL DRYRUN", "+OK"),
            "CLUSTER MIGRATESLOTS SLOTSRANGE" => {
                let [ranges @ .., _, target] = &words[3..] else {
                    panic!("{command}");
                };
                match node_of(target) {
                    to if to == me => "-ERR Target node can not be myself\r\n".into(),
                    to if self.migrate(ranges, Some(me), to) => self.line("MIGRATESLOTS", "+OK"),
                    _ => "-ERR Slots are not served by this node\r\n".into(),
                }
            }
            "CLUSTER MIGRATION IMPORT" => {
                self.migrate(&words[3..], None, me);
                self.bulk("MIGRATION IMPORT", id(9))
            }
            "COMMAND" | "COMMAND DOCS" | "PING" | "CLIENT SETINFO LIB-NAME" => "*0\r\n".into(),
            _ => {
                self.unknown.lock().unwrap().insert(command.into());
                "-ERR unknown command\r\n".into()
            }
        }
    }
}

impl World {
    /// Whether a node lists keys of a slot; the next MIGRATE moves them.
    fn lists(&self, node: usize, slot: u16) -> bool {
        self.listing.lock().unwrap()[node] = slot;
        self.holds(node, slot)
    }

    /// The answer, which the liar may change.
    fn told(&self, me: usize, command: &str) -> Answer {
        self.asked.lock().unwrap().push((me, command.to_owned()));
        let honest = self.answer(me, command);
        match &self.liar {
            Some(liar) => liar(me, command, honest),
            None => Answer::of(honest),
        }
    }
}

/// A cluster with a liar, and the script for it.
pub(super) struct Stage {
    pub world: Arc<World>,
    pub scratch: Scratch,
    pub servers: [Hostile; 3],
}

impl Stage {
    pub(super) fn new(kind: &str, world: World, limit_secs: u32) -> Stage {
        let world = Arc::new(world);
        let servers = [0, 1, 2].map(|me| {
            let world = Arc::clone(&world);
            Hostile::start(move |command| world.told(me, command))
        });
        *world.ports.lock().unwrap() = servers.iter().map(|server| server.port).collect();
        let home = |slot: u16| usize::from(slot / 5462);
        *world.owners.lock().unwrap() = (0..16384).map(home).collect();
        *world.held.lock().unwrap() = (0..16384).map(|slot| (home(slot), slot)).collect();
        let scratch = Scratch::new();
        scratch.file("script.sh", script(&scratch, kind, &servers, limit_secs));
        Stage {
            world,
            scratch,
            servers,
        }
    }

    pub(super) fn with_liar(kind: &str, liar: Liar, limit_secs: u32) -> Stage {
        let world = World {
            liar: Some(liar),
            ..World::default()
        };
        Stage::new(kind, world, limit_secs)
    }
}

pub(super) fn id(node: usize) -> String {
    format!("{node:040x}")
}

/// The node with this id, or the first.
fn node_of(wanted: &str) -> usize {
    (0..3).find(|node| id(*node) == wanted).unwrap_or(0)
}

fn text(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

/// The result of running a kind of script on such a cluster.
struct Run {
    output: Output,
    /// Whether a command in a reply was executed.
    has_run: bool,
    told: BTreeSet<String>,
    unknown: BTreeSet<String>,
}

fn run(kind: &str, hostile: Option<&str>) -> Run {
    // An honest server on a busy machine answers late, a hostile one never.
    let limit_secs = if hostile.is_some() { 2 } else { 60 };
    let world = World {
        hostile: hostile.map(str::to_owned),
        ..World::default()
    };
    let Stage {
        world,
        scratch,
        servers,
    } = Stage::new(kind, world, limit_secs);
    let output = scratch.shell("bash script.sh");
    drop(servers);
    let [told, unknown] = [&world.told, &world.unknown].map(|of| of.lock().unwrap().clone());
    Run {
        output,
        has_run: scratch.path("RAN").exists(),
        told,
        unknown,
    }
}

/// A script for a cluster of three, the first of which has all keys. It checks the nodes after every move, with short
/// timeouts.
fn script(scratch: &Scratch, kind: &str, servers: &[Hostile], limit_secs: u32) -> String {
    let shares = ["0-5461", "5462-10923", "10924-16383"];
    let line = |(node, (server, share)): (usize, (&Hostile, &str))| {
        let (id, port) = (id(node), server.port);
        format!("{id} 127.0.0.1:{port}@1 master - 0 0 {node} connected {share}\n")
    };
    let nodes: String = servers.iter().zip(shares).enumerate().map(line).collect();
    scratch.file("cluster.nodes", nodes);
    let keys = (0..).map(|i| format!("key:{i}\n"));
    let first = keys.filter(|key| slotscope::slot::slot(key.trim().as_bytes()) < 5462);
    scratch.file("dump.keys", first.take(6).collect::<String>());
    let plan = "plan dump.keys --topology cluster.nodes --by keys --commands";
    let script = scratch.text(&format!("{plan} {kind}"));
    script
        .replace("now - reported >= 5", "now - reported >= 0")
        .replace("limit_secs=60 ", &format!("limit_secs={limit_secs} "))
        .replace("patience_secs=3600", &format!("patience_secs={limit_secs}"))
        .replace(
            "patience_secs=300 ",
            &format!("patience_secs={limit_secs} "),
        )
        .replace("agree_secs=30", "agree_secs=1")
}

/// Each field is hostile once: one that several kinds of scripts read by the same code, in one of these, and under
/// `tests/campaign` in all.
#[test]
fn no_script_runs_a_part_of_any_reply() {
    let mut kinds_of: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for kind in KINDS {
        let honest = run(kind, None);
        let text = stderr(&honest.output);
        assert_eq!(code(&honest.output), 0, "{kind}: {text}");
        assert!(honest.unknown.is_empty(), "{:?}", honest.unknown);
        let told = honest.told;
        assert!(told.len() > 10, "the script reads little: {told:?}");
        for field in told {
            kinds_of.entry(field).or_default().push(kind);
        }
    }
    let runs = kinds_of.iter().enumerate().flat_map(|(i, (field, kinds))| {
        let of = i % kinds.len();
        let of = if is_campaign() {
            0..kinds.len()
        } else {
            of..of + 1
        };
        kinds[of].iter().map(move |kind| (*kind, field))
    });
    let wrong = Mutex::new(Vec::new());
    at_once(16, runs.collect::<Vec<_>>(), |(kind, field)| {
        let run = run(kind, Some(field));
        if run.has_run {
            let said = stderr(&run.output);
            wrong
                .lock()
                .unwrap()
                .push(format!("{kind}, {field}: {said}"));
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "replies are run: {wrong:#?}");
}

/// Every INFO field that a script reads is among those above.
#[test]
fn the_servers_tell_every_field_that_the_scripts_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/plan/script");
    let told = run("setslot", None).told;
    let mut read = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let fields = text
            .lines()
            .filter(|line| line.contains(r#"is"#) && line.contains("\"$text\""));
        for field in fields.filter_map(|line| line.trim().split_once(":*)")) {
            let is_told = told.contains(&format!("INFO {}", field.0));
            assert!(is_told, "{field:?}");
            read += 1;
        }
    }
    assert!(read >= 5, "{read} fields");
}
