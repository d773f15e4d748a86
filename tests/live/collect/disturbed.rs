//! Servers that change while they are read: each key that exists throughout is in the files exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::carried_out::probe::SetOnDrop;
use crate::collect::collected::{Row, manifest, rows};
use slotscope::slot::slot;
use slotscope::source::collection::manifest::Manifest;
use testkit::cluster::{Cluster, call_ok, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Server, wait_for};
use testkit::rng::Rng;
/// Number of keys that exist throughout.
const STABLE: usize = 4000;

/// Slow enough for the rest of a test to happen meanwhile.
const SLOWLY: &str = "--max-load 1 --count 20";

/// A running collection.
struct Running {
    scratch: Scratch,
    child: Child,
    lines: BufReader<ChildStderr>,
}

impl Running {
    /// Starts one.
    fn new(address: &str, flags: &str) -> Running {
        let (scratch, line) = (Scratch::new(), format!("collect {address} -o out {flags}"));
        let mut command = scratch.command(&words(&line));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        Running {
            scratch,
            child,
            lines,
        }
    }

    /// Starts one, and returns when it reads the keys of `server`.
    fn start(address: &str, flags: &str, server: &Server) -> Running {
        let running = Running::new(address, flags);
        server.until("INFO commandstats", "cmdstat_scan:");
        running
    }

    /// The next line of its messages.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "it ended before it was disturbed");
        line
    }

    /// Waits for its end; returns the manifest, and the rows if each of `keys` is in them exactly once.
    fn ends(mut self, exit: i32, keys: &BTreeSet<Vec<u8>>) -> (Manifest, Vec<Row>) {
        let rest: Vec<String> = self.lines.lines().map(Result::unwrap).collect();
        let code = self.child.wait().unwrap().code();
        assert_eq!(code, Some(exit), "{}", rest.join("\n"));
        let (of, rows) = (manifest(&self.scratch), rows(&self.scratch));
        assert_once(&rows, keys);
        assert_eq!(of.incomplete, exit == 2, "{of:?}");
        (of, rows)
    }
}
/// Stores keys that exist throughout, in all slots, on their owners.
fn fill(cluster: &Cluster) -> BTreeSet<Vec<u8>> {
    let keys = stable();
    cluster.set_all(keys.iter().map(|key| (key, "x")));
    keys
}

fn stable() -> BTreeSet<Vec<u8>> {
    let keys = (0..STABLE).map(|i| format!("stable:{i}"));
    keys.map(String::into_bytes).collect()
}
/// Asserts that each stable key is in the rows exactly once.
#[track_caller]
fn assert_once(rows: &[Row], keys: &BTreeSet<Vec<u8>>) {
    let mut times: BTreeMap<&[u8], usize> = BTreeMap::new();
    for row in rows {
        *times.entry(&row.key.0).or_default() += 1;
    }
    let found = keys
        .iter()
        .map(|key| (key, times.get(&key[..]).unwrap_or(&0)));
    let wrong = found.filter(|(_, times)| **times != 1);
    let wrong = wrong.map(|(key, times)| (String::from_utf8_lossy(key), slot(key), times));
    let wrong: Vec<_> = wrong.collect();
    let (some, all) = (&wrong[..wrong.len().min(5)], keys.len());
    assert!(wrong.is_empty(), "{} of {all}: {some:?}", wrong.len());
    let twice = times.values().filter(|times| **times > 1).count();
    assert_eq!(
        twice, 0,
        "keys that came and went are not there twice either"
    );
}

/// Adds and deletes keys on all nodes until `is_over`.
fn write(mut clients: Vec<Client>, is_over: &AtomicBool) {
    let mut rng = Rng::new(5);
    while !is_over.load(Relaxed) {
        for client in &mut clients {
            let mut command = |_| {
                let key = format!("passing:{}", rng.below(5000)).into_bytes();
                match rng.below(2) {
                    0 => vec![b"SET".to_vec(), key, b"x".to_vec()],
                    _ => vec![b"UNLINK".to_vec(), key],
                }
            };
            let commands: Vec<_> = (0..50).map(&mut command).collect();
            // Keys of other nodes are refused.
            client.pipeline_of(commands);
        }
    }
}
/// Waits until the collection, which alone asks for it now, has asked for the owners of slots once more from the beginning.
fn watched(server: &Server) {
    let asked = || {
        let said = server.connect().call(&words("INFO commandstats")).text();
        let calls = said.split("cmdstat_cluster|nodes:calls=").nth(1).unwrap();
        calls.split(',').next().unwrap().parse::<u64>().unwrap()
    };
    let before = asked();
    // One may be under way.
    wait_for(|| {
        let now = asked();
        (now > before + 1).then_some(()).ok_or(now.to_string())
    });
}

fn slots_move(kind: Kind) {
    let mut cluster = Cluster::of(kind, &even(3));
    let keys = fill(&cluster);
    let clients = cluster.servers.iter().map(Server::connect).collect();
    let is_over = AtomicBool::new(false);
    let mut moved = BTreeSet::new();
    let of = std::thread::scope(|threads| {
        let _end = SetOnDrop(&is_over);
        threads.spawn(|| write(clients, &is_over));
        let running = Running::start(&cluster.address(0), SLOWLY, &cluster.servers[2]);
        let away: Vec<u16> = cluster.slots_of(2).into_iter().step_by(100).collect();
        cluster.move_slots(&away, 1);
        watched(&cluster.servers[2]);
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let slots: Vec<u16> = cluster.slots_of(from).into_iter().step_by(400).collect();
            cluster.move_slots(&slots, to);
            moved.extend(slots);
        }
        cluster.move_slots(&away, 2);
        running.ends(0, &keys).0
    });
    assert!(of.nodes.iter().all(|node| node.strays == 0), "{of:?}");
    moved.retain(|slot| cluster.owner(*slot) != home(*slot));
    for slot in moved {
        let mut ranges = of.slots_moved.iter();
        let is_said = ranges.any(|(first, last)| (*first..=*last).contains(&slot));
        assert!(is_said, "{slot}: {:?}", of.slots_moved);
    }
}
/// The initial owner of a slot among three nodes.
fn home(slot: u16) -> usize {
    let shares = even(3);
    let is_in = |ranges: &Vec<(u16, u16)>| (ranges[0].0..=ranges[0].1).contains(&slot);
    shares.iter().position(is_in).unwrap()
}
#[test]
fn slots_that_move_between_servers_with_one_table_are_read_once() {
    slots_move(Kind::Installed);
}

#[test]
fn slots_that_move_between_servers_with_a_table_a_slot_are_read_once() {
    slots_move(Kind::Valkey91);
}

/// A primary is killed and its replica takes over while one of them, server `read`, is read.
fn primary_fails(kind: Kind, read: usize, from: &str) {
    let mut cluster = Cluster::with_replicas(kind, &[]);
    let keys = fill(&cluster);
    cluster.wait_for_replicas();
    let flags = format!("{SLOWLY} --from {from}");
    let running = Running::start(&cluster.address(1), &flags, &cluster.servers[read]);
    while_stopped(&running.child, || cluster.fail_over(0, 3));
    let (of, _) = running.ends(0, &keys);
    let failover = &of.failovers[0];
    let found = (&failover.from, &failover.to);
    assert_eq!(found, (&cluster.ids[0], &cluster.ids[3]));
    assert!(of.slots_moved.is_empty());
}
#[test]
fn a_primary_that_fails_is_read_from_the_replica_that_takes_over() {
    primary_fails(Kind::Installed, 0, "primaries");
}

#[test]
fn a_replica_that_takes_over_while_it_is_read_is_read_again() {
    primary_fails(Kind::Redis82, 3, "replicas");
}

#[test]
fn a_replica_that_fails_is_replaced_by_its_primary() {
    let mut cluster = Cluster::with_replicas(Kind::Valkey90, &[]);
    let keys = fill(&cluster);
    cluster.wait_for_replicas();
    let running = Running::start(&cluster.address(0), SLOWLY, &cluster.servers[4]);
    while_stopped(&running.child, || cluster.servers[4].stop());
    let (of, _) = running.ends(0, &keys);
    assert!(of.nodes.iter().any(|node| node.error.is_some()) && of.failovers.is_empty());
    assert!(of.nodes.iter().all(|node| node.complete), "{of:?}");
}

#[test]
fn a_node_that_is_lost_is_missing_and_the_rest_is_written() {
    // Otherwise all nodes refuse once this one counts as failed.
    let rest_answers = ["--cluster-require-full-coverage", "no"].map(String::from);
    let mut cluster = Cluster::with_options(&even(3), |_| rest_answers.to_vec());
    let mut keys = fill(&cluster);
    let running = Running::start(&cluster.address(0), SLOWLY, &cluster.servers[2]);
    while_stopped(&running.child, || cluster.servers[2].stop());
    keys.retain(|key| home(slot(key)) != 2);
    let (of, rows) = running.ends(2, &keys);
    assert_eq!(of.slots_missing, [(10923, 16383)]);
    let mut rows = rows.iter();
    assert!(
        rows.all(|row| home(slot(&row.key.0)) != 2),
        "no part of a node"
    );
}

#[test]
fn a_table_that_shrinks_under_the_scan_repeats_no_key() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let (mut client, keys) = (server.connect(), stable());
    let passing = (0..60_000).map(|i| format!("passing:{i}").into_bytes());
    let all = passing
        .clone()
        .chain(keys.iter().cloned())
        .map(|key| (key, "x"));
    client.set_all(&all.collect::<Vec<_>>());
    let flags = SLOWLY.replace("20", "1000");
    let running = Running::start(&server.address(), &flags, &server);
    client.pipeline_of(passing.map(|key| vec![b"UNLINK".to_vec(), key]));
    let (of, _) = running.ends(0, &keys);
    let node = &of.nodes[0];
    println!("{} repeats, {} vanished", node.repeats, node.vanished);
}

#[test]
fn an_open_slot_is_waited_for_and_that_is_said() {
    let cluster = Cluster::even(3);
    let keys = fill(&cluster);
    let open = slot(b"stable:0");
    let (name, from) = (open.to_string(), cluster.owner(open));
    let to = (from + 1) % 3;
    let tell = |server: usize, words: &[&str]| {
        let words = [&["CLUSTER", "SETSLOT", &name], words].concat();
        call_ok(&mut cluster.servers[server].connect(), &words);
    };
    tell(to, &["IMPORTING", &cluster.ids[from]]);
    tell(from, &["MIGRATING", &cluster.ids[to]]);
    let mut running = Running::new(&cluster.address(0), "--max-load 100");
    let (line, node) = (running.line(), cluster.address(from));
    line.begins(&format!(
        "slotscope: slot {open} of {node} is open: waiting up to "
    ));
    line.ends(&format!("redis-cli --cluster fix {node}\n"));
    tell(from, &["STABLE"]);
    tell(to, &["STABLE"]);
    running.ends(0, &keys);
}
