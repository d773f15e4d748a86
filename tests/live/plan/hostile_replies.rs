//! A server's reply is text: the script of a plan executes nothing in it, whichever field of whichever reply is
//! hostile.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use testkit::hostile::{Answer, Hostile};
use testkit::run::{Scratch, stderr, stdout, words};

/// Text that runs a command if bash takes it for arithmetic or a subscript; with more text after it bash runs nothing.
const ARITHMETIC: &str = "id[$(touch${IFS}RAN)1]";
/// The same if it is taken for words of a command.
const WORDS: &str = "';touch${IFS}RAN;\"`touch${IFS}RAN`$(touch${IFS}RAN)";

/// Three primaries that execute what a script requests; one field of their replies is hostile.
struct World {
    ports: Mutex<Vec<u16>>,
    /// The slots that moved, and their new nodes.
    moved: Mutex<Vec<(u16, usize)>>,
    /// The hostile field.
    hostile: Option<String>,
    /// All fields that were sent, and unknown commands.
    told: Mutex<BTreeSet<String>>,
    unknown: Mutex<BTreeSet<String>>,
    /// Number of keys that a slot still lists, and of reports that a migration is running.
    listed: AtomicUsize,
    polls: AtomicUsize,
}

impl World {
    /// The text of a field: `honest`, unless it is the hostile one.
    fn field(&self, name: &str, honest: impl ToString) -> String {
        self.told.lock().unwrap().insert(name.into());
        let is_hostile = self.hostile.as_deref() == Some(name);
        if is_hostile {
            ARITHMETIC.into()
        } else {
            honest.to_string()
        }
    }

    fn bulk(&self, name: &str, honest: impl ToString) -> String {
        let text = self.field(name, honest);
        format!("${}\r\n{text}\r\n", text.len())
    }

    fn line(&self, name: &str, honest: &str) -> String {
        let text = self.field(name, honest);
        if text == ARITHMETIC {
            format!("+{text}\r\n")
        } else {
            format!("{text}\r\n")
        }
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
        let moved = self.moved.lock().unwrap();
        let last = moved.iter().rev().find(|(moved, _)| *moved == slot);
        last.map_or(usize::from(slot / 5462), |(_, node)| *node)
    }

    fn give(&self, first: u16, last: u16, node: usize) {
        let mut moved = self.moved.lock().unwrap();
        moved.extend((first..=last).map(|slot| (slot, node)));
    }

    fn nodes(&self, me: usize) -> String {
        let ports = self.ports.lock().unwrap().clone();
        let line = |(node, port): (usize, &u16)| {
            let mut ranges: Vec<(u16, u16)> = Vec::new();
            for slot in (0..16384).filter(|slot| self.owner(*slot) == node) {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == slot => *last = slot,
                    _ => ranges.push((slot, slot)),
                }
            }
            let slots = ranges
                .iter()
                .map(|(first, last)| format!(" {first}-{last}"));
            let flags = if node == me {
                "myself,master"
            } else {
                "master"
            };
            format!(
                "{} 127.0.0.1:{port}@1 {} - 0 0 {} {}{}\n",
                self.field("NODES id", id(node)),
                self.field("NODES flags", flags),
                node + 1,
                self.field("NODES link", "connected"),
                self.field("NODES slots", slots.collect::<String>().trim())
                    .split(' ')
                    .map(|range| format!(" {range}"))
                    .collect::<String>(),
            )
        };
        ports.iter().enumerate().map(line).collect()
    }

    fn info(&self) -> String {
        let fields = [
            ("cluster_enabled", "1"),
            ("redis_version", "9.0.0"),
            ("role", "master"),
            ("master_host", "127.0.0.1"),
            ("master_port", "7000"),
            ("used_memory", "1000"),
            ("maxmemory", "2000"),
            ("maxmemory_policy", "allkeys-lru"),
            ("evicted_keys", "0"),
            ("db0", "keys=3,expires=0"),
        ];
        let line =
            |(name, honest)| format!("{name}:{}\r\n", self.field(&format!("INFO {name}"), honest));
        fields.map(line).concat()
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
        let name = words
            .iter()
            .take_while(|word| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'-'));
        let name = name.copied().collect::<Vec<_>>().join(" ");
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|word| word.parse::<u16>().ok())
                .unwrap_or(0)
        };
        for (kind, text) in [("error", ARITHMETIC), ("error in words", WORDS)] {
            if self.field(&format!("{name} {kind}"), "") == ARITHMETIC {
                return format!("-{text}\r\n");
            }
        }
        match name.as_str() {
            "CLUSTER MYID" => self.bulk("CLUSTER MYID", id(me)),
            "CLUSTER INFO" => {
                let state = self.field("CLUSTER INFO state", "ok");
                let text = format!("cluster_state:{state}\r\n");
                format!("${}\r\n{text}\r\n", text.len())
            }
            "CLUSTER NODES" => {
                let text = self.nodes(me);
                format!("${}\r\n{text}\r\n", text.len())
            }
            "INFO" => {
                let text = self.info();
                format!("${}\r\n{text}\r\n", text.len())
            }
            "DBSIZE" => self.line("DBSIZE", ":1000"),
            "MIGRATE" => {
                self.listed.store(0, SeqCst);
                self.line("MIGRATE", "+NOKEY")
            }
            "RESTORE-ASKING" => "-ERR syntax error\r\n".into(),
            "CLUSTER GETKEYSINSLOT" if self.listed.load(SeqCst) > 0 => {
                format!(
                    "*2\r\n{}{}",
                    self.bulk("GETKEYSINSLOT first", "a"),
                    self.bulk("GETKEYSINSLOT last", "b")
                )
            }
            "CLUSTER GETKEYSINSLOT" => self.line("GETKEYSINSLOT", "*0"),
            "CLUSTER SETSLOT" => {
                self.listed.store(2, SeqCst);
                if words[3] == "NODE" {
                    let node = (0..3).find(|node| id(*node) == words[4]);
                    self.give(number(2), number(2), node.unwrap_or(0));
                }
                self.line(&format!("SETSLOT {}", words[3]), "+OK")
            }
            "CLUSTER GETSLOTMIGRATIONS" => {
                format!(
                    "*1\r\n{}",
                    self.migration("GETSLOTMIGRATIONS", "EXPORT", "success")
                )
            }
            "CLUSTER MIGRATION STATUS ALL" => {
                format!(
                    "*1\r\n{}",
                    self.migration("MIGRATION STATUS", "import", "completed")
                )
            }
            "CLUSTER MIGRATION CANCEL ALL" | "CLUSTER CANCELSLOTMIGRATIONS" => "+OK\r\n".into(),
            "CONFIG GET" => self.array("CONFIG", &[("masteruser", "mover")]),
            "ACL DRYRUN" => self.line("ACL DRYRUN", "+OK"),
            "CLUSTER MIGRATESLOTS SLOTSRANGE" if number(3) == 0 && number(4) == 0 => {
                "-ERR Target node can not be myself\r\n".into()
            }
            "CLUSTER MIGRATESLOTS SLOTSRANGE" => {
                let target = words.last().copied().unwrap_or("");
                let node = (0..3).find(|node| id(*node) == target).unwrap_or(0);
                for bounds in words[3..words.len() - 2].chunks(2) {
                    self.give(
                        bounds[0].parse().unwrap_or(0),
                        bounds[1].parse().unwrap_or(0),
                        node,
                    );
                }
                self.line("MIGRATESLOTS", "+OK")
            }
            "CLUSTER MIGRATION IMPORT" => {
                for bounds in words[3..].chunks(2) {
                    self.give(
                        bounds[0].parse().unwrap_or(0),
                        bounds[1].parse().unwrap_or(0),
                        me,
                    );
                }
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

fn id(node: usize) -> String {
    format!("{node:040x}")
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
    let world = Arc::new(World {
        ports: Mutex::default(),
        moved: Mutex::default(),
        hostile: hostile.map(str::to_owned),
        told: Mutex::default(),
        unknown: Mutex::default(),
        listed: AtomicUsize::new(0),
        polls: AtomicUsize::new(0),
    });
    let servers = [0, 1, 2].map(|me| {
        let world = Arc::clone(&world);
        Hostile::start(move |command| Answer::of(world.answer(me, command)))
    });
    *world.ports.lock().unwrap() = servers.iter().map(|server| server.port).collect();
    let scratch = Scratch::new();
    // An honest server on a busy machine answers late, a hostile one never.
    let patience = if hostile.is_some() { 2 } else { 60 };
    scratch.file("script.sh", script(&scratch, kind, &servers, patience));
    let mut bash = Command::new("bash");
    bash.arg("script.sh")
        .current_dir(scratch.path(""))
        .stdin(Stdio::null());
    let output = bash.output().unwrap();
    drop(servers);
    let told = world.told.lock().unwrap().clone();
    let unknown = world.unknown.lock().unwrap().clone();
    let has_run = scratch.path("RAN").exists();
    Run {
        output,
        has_run,
        told,
        unknown,
    }
}

/// A script for a cluster of three, the first of which has all keys. It checks the nodes after every move, with short
/// timeouts.
fn script(scratch: &Scratch, kind: &str, servers: &[Hostile], patience: u32) -> String {
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
    let line = format!("plan dump.keys --topology cluster.nodes --by keys --commands {kind}");
    let args = words(&line);
    let output = scratch.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output)
        .replace("now - reported >= 5", "now - reported >= 0")
        .replace("patience_secs=3600", &format!("patience_secs={patience}"))
        .replace("patience_secs=300 ", &format!("patience_secs={patience} "))
        .replace("second < 30", "second < 1")
}

fn no_reply_runs(kind: &str) {
    let honest = run(kind, None);
    let text = stderr(&honest.output);
    assert_eq!(honest.output.status.code(), Some(0), "{kind}: {text}");
    assert!(honest.unknown.is_empty(), "{:?}", honest.unknown);
    assert!(
        honest.told.len() > 10,
        "the script reads little: {:?}",
        honest.told
    );
    let fields: Vec<String> = honest.told.into_iter().collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some(field) = fields.get(next.fetch_add(1, SeqCst)) {
            let run = run(kind, Some(field));
            if run.has_run {
                let complaint = format!("{field}: {}", String::from_utf8_lossy(&run.output.stderr));
                wrong.lock().unwrap().push(complaint);
            }
        }
    };
    std::thread::scope(|threads| {
        // A script mostly waits.
        (0..16).for_each(|_| drop(threads.spawn(work)));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{kind} ran what a server said: {wrong:#?}"
    );
}

#[test]
fn setslot_runs_nothing_of_a_reply() {
    no_reply_runs("setslot");
}

#[test]
fn valkey_runs_nothing_of_a_reply() {
    no_reply_runs("valkey");
}

#[test]
fn redis_runs_nothing_of_a_reply() {
    no_reply_runs("redis-8.4");
}

/// Every INFO field that a script reads is among those above.
#[test]
fn the_servers_tell_every_field_that_the_scripts_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/plan/script");
    let told = run("setslot", None).told;
    let mut read = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        for call in text.split("(info ").skip(1) {
            let field = call.split([')', ' ']).nth(2).unwrap();
            assert!(
                told.contains(&format!("INFO {field}")),
                "{field} of {call:.60}"
            );
            read += 1;
        }
    }
    assert!(read >= 5, "{read} fields");
}
