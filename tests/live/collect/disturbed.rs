//! Servers that change while they are read: each key that exists throughout is in the files exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crate::collect::collected::{Row, manifest, rows};
use slotscope::slot::slot;
use slotscope::source::collection::manifest::Manifest;
use testkit::cluster::{Cluster, call_ok, even};
use testkit::kinds::Kind;
use testkit::redis::{Client, Server};
use testkit::rng::Rng;
use testkit::run::{Said, Scratch};

/// Number of keys that exist throughout.
const STABLE: usize = 12_000;

/// Slow enough for the rest of a test to happen meanwhile.
const SLOWLY: &str = "--max-load 1 --count 20 --progress always -o out";

/// A running collection.
struct Running {
    scratch: Scratch,
    child: Child,
    lines: BufReader<std::process::ChildStderr>,
}

impl Running {
    /// Starts one, and returns when it has read some keys.
    fn start(address: &str, flags: &str) -> Running {
        let scratch = Scratch::new();
        let args = ["collect", address].into_iter().chain(flags.split(' '));
        let mut command = scratch.command(&args.collect::<Vec<_>>());
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap());
        let mut running = Running {
            scratch,
            child,
            lines,
        };
        running.wait_for_part(0.0);
        running
    }

    /// Waits until more than this fraction of the keys has been read.
    fn wait_for_part(&mut self, part: f64) {
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "it ended before it was disturbed"
            );
            // "slotscope: collecting 1,200 of 12,000 keys from 3 nodes"
            let numbers: Vec<f64> = line
                .split(' ')
                .filter_map(|word| word.replace(',', "").parse().ok())
                .collect();
            let [done, total, _nodes] = numbers[..] else {
                panic!("{line}");
            };
            if done > part * total {
                return;
            }
        }
    }

    /// Waits for its end; returns the exit code, the manifest and the rows.
    fn end(mut self) -> (i32, Manifest, Vec<Row>) {
        let rest: Vec<String> = self.lines.lines().map(Result::unwrap).collect();
        let status = self.child.wait().unwrap();
        let out: PathBuf = self.scratch.path("out");
        assert!(out.is_dir(), "{}", rest.join("\n"));
        (status.code().unwrap(), manifest(&out), rows(&out))
    }
}

/// Stable keys, each in a slot of its own, except those in slots of `but`.
fn stable() -> BTreeSet<Vec<u8>> {
    (0..STABLE)
        .map(|i| format!("stable:{i}").into_bytes())
        .collect()
}

/// Stores the keys on their owners.
fn fill(cluster: &Cluster, keys: &BTreeSet<Vec<u8>>) {
    cluster.set_all(keys.iter().map(|key| (key, "x")));
}

/// Asserts that each stable key is in the rows exactly once.
#[track_caller]
fn assert_once(rows: &[Row], keys: &BTreeSet<Vec<u8>>) {
    let mut times: BTreeMap<&[u8], usize> = BTreeMap::new();
    rows.iter()
        .for_each(|row| *times.entry(&row.key.0).or_default() += 1);
    let wrong = keys.iter().filter(|key| times.get(&key[..]) != Some(&1));
    let wrong: Vec<_> = wrong
        .map(|key| (String::from_utf8_lossy(key), times.get(&key[..])))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}: {:?}",
        wrong.len(),
        keys.len(),
        &wrong[..wrong.len().min(5)]
    );
    let twice = times.iter().filter(|(_, times)| **times > 1).count();
    assert_eq!(
        twice, 0,
        "keys that came and went are not there twice either"
    );
}

/// Adds and deletes keys on all nodes until `is_over`.
fn write(mut clients: Vec<Client>, is_over: &AtomicBool) {
    let mut rng = Rng::new(5);
    while !is_over.load(SeqCst) {
        for client in &mut clients {
            let mut commands: Vec<Vec<Vec<u8>>> = Vec::new();
            for _ in 0..50 {
                let key = format!("passing:{}", rng.below(5000)).into_bytes();
                commands.push(if rng.one_in(2) {
                    vec![b"SET".to_vec(), key, b"x".to_vec()]
                } else {
                    vec![b"UNLINK".to_vec(), key]
                });
            }
            let commands: Vec<Vec<&[u8]>> = commands
                .iter()
                .map(|words| words.iter().map(Vec::as_slice).collect())
                .collect();
            // Keys of other nodes are refused.
            client.pipeline(&commands);
        }
    }
}

fn slots_move(kind: Kind) {
    let mut cluster = Cluster::of(kind, &even(3));
    let keys = stable();
    fill(&cluster, &keys);
    let clients = cluster.servers.iter().map(Server::connect).collect();
    let is_over = AtomicBool::new(false);
    let mut moved = BTreeSet::new();
    let (code, of, rows) = std::thread::scope(|threads| {
        let is_over = &is_over;
        threads.spawn(move || write(clients, is_over));
        let mut running = Running::start(&cluster.address(0), SLOWLY);
        let away: Vec<u16> = cluster.slots_of(2).into_iter().step_by(100).collect();
        cluster.move_slots(&away, 1);
        for (from, to) in [(0, 1), (1, 2), (2, 0)] {
            let slots: Vec<u16> = cluster.slots_of(from).into_iter().step_by(400).collect();
            cluster.move_slots(&slots, to);
            moved.extend(slots);
        }
        // Those that moved away are back before the node has been read.
        running.wait_for_part(0.5);
        cluster.move_slots(&away, 2);
        let ended = running.end();
        is_over.store(true, SeqCst);
        ended
    });
    assert_once(&rows, &keys);
    assert_eq!((code, of.incomplete), (0, false), "{of:?}");
    assert!(of.nodes.iter().all(|node| node.strays == 0), "{of:?}");
    let has_moved = |slot: &u16| {
        of.slots_moved
            .iter()
            .any(|(first, last)| (first..=last).contains(&slot))
    };
    assert!(
        moved
            .iter()
            .filter(|slot| cluster.owner(**slot) != home(**slot))
            .all(has_moved),
        "{:?}",
        of.slots_moved
    );
}

/// The initial owner of a slot among three nodes.
fn home(slot: u16) -> usize {
    even(3)
        .iter()
        .position(|ranges| (ranges[0].0..=ranges[0].1).contains(&slot))
        .unwrap()
}

#[test]
fn slots_that_move_between_servers_with_one_table_are_read_once() {
    slots_move(Kind::Installed);
}

#[test]
fn slots_that_move_between_servers_with_a_table_a_slot_are_read_once() {
    slots_move(Kind::Valkey91);
}

/// A primary is killed and its replica takes over while `from` (primaries or replicas) is read.
fn primary_fails(kind: Kind, from: &str) {
    let mut cluster = Cluster::with_replicas(kind, &[]);
    let keys = stable();
    fill(&cluster, &keys);
    cluster.wait_for_replicas();
    let running = Running::start(&cluster.address(1), &format!("{SLOWLY} --from {from}"));
    cluster.fail_over(0, 3);
    let (code, of, rows) = running.end();
    assert_once(&rows, &keys);
    assert_eq!((code, of.incomplete), (0, false), "{of:?}");
    let failover = &of.failovers[0];
    assert_eq!(
        (&failover.from, &failover.to),
        (&cluster.ids[0], &cluster.ids[3])
    );
    assert!(of.slots_moved.is_empty());
}

#[test]
fn a_primary_that_fails_is_read_from_the_replica_that_takes_over() {
    primary_fails(Kind::Installed, "primaries");
}

#[test]
fn a_replica_that_takes_over_while_it_is_read_is_read_again() {
    primary_fails(Kind::Redis82, "replicas");
}

#[test]
fn a_replica_that_fails_is_replaced_by_its_primary() {
    let mut cluster = Cluster::with_replicas(Kind::Valkey90, &[]);
    let keys = stable();
    fill(&cluster, &keys);
    cluster.wait_for_replicas();
    let running = Running::start(&cluster.address(0), SLOWLY);
    cluster.servers[4].stop();
    let (code, of, rows) = running.end();
    assert_once(&rows, &keys);
    assert_eq!((code, of.incomplete), (0, false), "{of:?}");
    assert!(of.nodes.iter().any(|node| node.error.is_some()) && of.failovers.is_empty());
    assert!(of.nodes.iter().all(|node| node.complete), "{of:?}");
}

#[test]
fn a_node_that_is_lost_is_missing_and_the_rest_is_written() {
    // Otherwise all nodes refuse once this one counts as failed.
    let rest_answers = ["--cluster-require-full-coverage", "no"].map(String::from);
    let mut cluster = Cluster::with_options(&even(3), |_| rest_answers.to_vec());
    let keys = stable();
    fill(&cluster, &keys);
    let running = Running::start(&cluster.address(0), SLOWLY);
    cluster.servers[2].stop();
    let (code, of, rows) = running.end();
    assert_eq!((code, of.incomplete), (2, true));
    assert_eq!(of.slots_missing, [(10923, 16383)]);
    let rest = keys.into_iter().filter(|key| home(slot(key)) != 2);
    assert_once(&rows, &rest.collect());
    assert!(
        rows.iter().all(|row| home(slot(&row.key.0)) != 2),
        "no part of a node"
    );
}

#[test]
fn a_table_that_shrinks_under_the_scan_repeats_no_key() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    let keys = stable();
    let passing: Vec<Vec<u8>> = (0..200_000)
        .map(|i| format!("passing:{i}").into_bytes())
        .collect();
    let all = keys.iter().chain(&passing).map(|key| (key, "x"));
    client.set_all(&all.collect::<Vec<_>>());
    let running = Running::start(
        &format!("127.0.0.1:{}", server.port),
        &SLOWLY.replace("20", "1000"),
    );
    let gone: Vec<Vec<&[u8]>> = passing
        .iter()
        .map(|key| vec![&b"UNLINK"[..], key])
        .collect();
    client.pipeline(&gone);
    let (code, of, rows) = running.end();
    assert_eq!(code, 0);
    assert_once(&rows, &keys);
    println!(
        "{} repeats, {} vanished",
        of.nodes[0].repeats, of.nodes[0].vanished
    );
}

#[test]
fn an_open_slot_is_waited_for_and_that_is_said() {
    let cluster = Cluster::even(3);
    let keys = stable();
    fill(&cluster, &keys);
    let open = slot(b"stable:0");
    let (name, from) = (open.to_string(), cluster.owner(open));
    let to = (from + 1) % 3;
    let tell = |server: usize, words: &[&str]| {
        let words = [&["CLUSTER", "SETSLOT", &name], words].concat();
        call_ok(&mut cluster.servers[server].connect(), &words);
    };
    tell(to, &["IMPORTING", &cluster.ids[from]]);
    tell(from, &["MIGRATING", &cluster.ids[to]]);
    let scratch = Scratch::new();
    let mut child = scratch
        .command(&[
            "collect",
            &cluster.address(0),
            "-o",
            "out",
            "--max-load",
            "100",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    let node = cluster.address(from);
    let expected = format!("slotscope: slot {open} of {node} is open: waiting up to ");
    assert!(line.starts_with(&expected), "{line}");
    line.ends(&format!("redis-cli --cluster fix {node}\n"));
    [from, to]
        .into_iter()
        .for_each(|server| tell(server, &["STABLE"]));
    let rest: Vec<String> = lines.lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{rest:?}");
    assert_once(&rows(&scratch.path("out")), &keys);
    assert!(!manifest(&scratch.path("out")).incomplete);
}
