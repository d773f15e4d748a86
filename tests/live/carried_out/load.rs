//! Load: a key that gets most of its node's reads, observed by CLUSTER SLOT-STATS and by MONITOR.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::carried_out::probe::SetOnDrop;
use crate::carried_out::steps::{judged, reported, steps};
use slotscope::slot::slot;
use testkit::cluster::{Cluster, dear_read};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Monitor, Server, wait_for};

const HOT: &str = "cfg:flags";
/// The length of the values, which dear reads depend on.
const LONG: usize = 128;
const KEYS: usize = 6000;
/// Reads of other keys per node and round, and of the hot key.
const USUAL: usize = 60;
const MORE: usize = 300;
/// The size of a capture.
const CAPTURED_BYTES: u64 = 1 << 20;

#[test]
fn a_hot_key_is_found_and_no_step_is_left_once_it_is_cached() {
    let options = ["--cluster-slot-stats-enabled", "yes"].map(String::from);
    let cluster = Cluster::with_replicas(Kind::Valkey91, &options);
    let mut of_nodes: Vec<Vec<String>> = vec![Vec::new(); 3];
    for key in (0..KEYS).map(|i| format!("item:{i}")) {
        of_nodes[cluster.owner(slot(key.as_bytes()))].push(key);
    }
    let keys = of_nodes.iter().flatten().map(String::as_str).chain([HOT]);
    cluster.set_all(keys.map(|key| (key, "v".repeat(LONG))));
    cluster.wait_for_replicas();
    let (is_over, is_cached) = (AtomicBool::new(false), AtomicBool::new(false));
    let scratch = Scratch::new();
    let series = "--every 1s --for 4s";
    thread::scope(|threads| {
        let over = SetOnDrop(&is_over);
        threads.spawn(|| read(&cluster, &of_nodes, [&is_over, &is_cached]));
        // A machine with other work may give one server less CPU time in some seconds.
        let asks_for_names = (0..5).any(|_| {
            let by_cpu = judged(&scratch, &cluster, series);
            assert_hot(&by_cpu, "cpu");
            let mut steps = steps(&by_cpu).iter();
            steps.any(|step| step["kind"] == "measure" && !step["command"].is_null())
        });
        assert!(asks_for_names);

        let by_ops = captured(&scratch, &cluster);
        assert_hot(&by_ops, "ops");
        let [step] = steps(&by_ops) else {
            panic!("{}", by_ops["verdict"]["steps"])
        };
        assert_eq!(step["kind"], "cache", "{step}");
        step["sentence"].text().says(HOT).says("100");

        is_cached.store(true, Relaxed);
        let after = captured(&scratch, &cluster);
        assert!(steps(&after).is_empty(), "{}", after["verdict"]["steps"]);
        assert_eq!(load(&after)["state"], "balanced", "{}", load(&after));
        // The CPU time of a command includes preemption by other programs, which may be uneven here.
        let by_cpu = judged(&scratch, &cluster, series);
        let sentence = load(&by_cpu)["sentence"].text();
        sentence.lacks(&slot(HOT.as_bytes()).to_string());
        drop(over);
    });
}

/// The load in a report.
fn load(report: &Value) -> &Value {
    let mut roles = report["verdict"]["roles"].list().iter();
    roles.find(|role| role["role"] == "load").unwrap()
}

/// Checks that the report calls the load uneven, and names the key.
fn assert_hot(report: &Value, metric: &str) {
    let load = load(report);
    load.has(json!({"metric": metric, "state": "skewed"}));
    let hot = slot(HOT.as_bytes());
    let names_it = |text: &str| text.contains(HOT) || text.contains(&hot.to_string());
    assert!(names_it(load["sentence"].text()), "{load}");
}

/// Reads the keys of all primaries until `is_over`, as many of each, however slow one is; also the hot key, unless it is
/// cached.
fn read(cluster: &Cluster, of_nodes: &[Vec<String>], [is_over, is_cached]: [&AtomicBool; 2]) {
    let hot = cluster.owner(slot(HOT.as_bytes()));
    let mut clients: Vec<_> = cluster.servers[..3].iter().map(Server::connect).collect();
    let mut at = 0;
    while !is_over.load(Relaxed) {
        for (node, keys) in of_nodes.iter().enumerate() {
            let is_hot = node == hot && !is_cached.load(Relaxed);
            let usual = (0..USUAL).map(|i| keys[(at + i) % keys.len()].as_bytes());
            let usual = usual.map(|key| vec![b"GET", key]);
            let all = usual.chain((0..MORE).filter(|_| is_hot).map(|_| dear_read(HOT)));
            clients[node].pipeline(&all.collect::<Vec<_>>());
        }
        at += USUAL;
        thread::sleep(Duration::from_millis(10));
    }
}

/// The report on a MONITOR capture of each primary.
fn captured(scratch: &Scratch, cluster: &Cluster) -> Value {
    let names = [0, 1, 2].map(|i| format!("{}.monitor", cluster.address(i)));
    let primaries = cluster.servers.iter().zip(&names);
    let start = |(server, name): (&_, &String)| Monitor::start(server, &scratch.path(name));
    let running: Vec<_> = primaries.map(start).collect();
    wait_for(|| {
        let size = |name: &String| scratch.path(name).metadata().unwrap().len();
        let small = names.iter().find(|name| size(name) < CAPTURED_BYTES);
        small.map_or(Ok(()), |name| {
            Err(format!("{name} has {} bytes", size(name)))
        })
    });
    drop(running);
    reported(scratch, &format!("--topology out {}", names.join(" ")))
}
