//! Primaries with limits, one of them full, and a hot key on another: each step, executed as printed and under writes,
//! brings memory and load to the figures in its row.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use serde_json::Value;

use crate::carried_out::probe::SetOnDrop;
use crate::carried_out::steps::{judged, move_slots, steps};
use crate::plan::follower::Follower;
use slotscope::slot::slot;
use testkit::cluster::{Cluster, call_ok, even};
use testkit::kinds::Kind;
use testkit::run::Scratch;

const KEYS: usize = 3000;
const VALUE: usize = 8000;
/// The value size of keys on the first node, which they fill.
const LARGER: usize = 11_000;
const HOT: &str = "cfg:flags";
/// Keys read per round, and reads of the hot key among them.
const READ: usize = 600;
const HOT_READS: usize = 120;
/// Commands per write.
const WRITES: usize = 10;
/// The tolerance for a promised ratio.
const CLOSE: f64 = 0.02;
/// The same for load: CPU time of captured commands is estimated from clocks.
const CLOSE_LOAD: f64 = 0.12;
/// Measurements after a step, one of which must agree with it.
const MEASUREMENTS: usize = 3;

#[test]
fn every_row_is_kept_where_limits_differ_and_a_key_is_hot() {
    for kind in [Kind::Installed, Kind::Valkey91] {
        let cluster = Cluster::made_of(kind, &even(3), |_| Vec::new());
        let keys: Vec<String> = (0..KEYS).map(|id| format!("item:{id}")).collect();
        let mut follower = Follower::new(&cluster);
        for key in &keys {
            follower.set(key.as_bytes(), &value(&cluster, key));
        }
        follower.set(HOT.as_bytes(), b"on");
        limit(&cluster, [0.93, 0.4, 0.5]);
        let (scratch, is_over) = (Scratch::new(), AtomicBool::new(false));
        thread::scope(|threads| {
            threads.spawn(|| work(Follower::new(&cluster), &cluster, &keys, &is_over));
            let over = SetOnDrop(&is_over);
            let flags = ["--load", "4s", "--monitor"];
            let first = judged(&scratch, &cluster.address(0), &flags, &[]);
            let sentence = first["verdict"]["sentence"].as_str().unwrap();
            assert!(sentence.contains("maxmemory"), "{kind:?}: {sentence}");
            let moves = steps(&first).iter().filter(|step| step["kind"] == "move");
            let moves: Vec<&Value> = moves.filter(|step| !step["command"].is_null()).collect();
            assert!(!moves.is_empty(), "{kind:?}: {}", first["verdict"]["steps"]);
            for step in moves {
                move_slots(&scratch, step);
                let measure = || judged(&scratch, &cluster.address(0), &flags, &[]);
                let mut then = measure();
                // Other work on the machine may disturb one measurement.
                for _ in 1..MEASUREMENTS {
                    if broken(step, &then).is_some() {
                        then = measure();
                    }
                }
                assert_eq!(broken(step, &then), None, "{kind:?}");
                let more = steps(&then).iter().filter(|step| step["kind"] == "move");
                assert_eq!(more.count(), 0, "{kind:?}: {}", then["verdict"]["steps"]);
            }
            drop(over);
        });
    }
}

fn value(cluster: &Cluster, key: &str) -> Vec<u8> {
    let is_larger = cluster.owner(slot(key.as_bytes())) == 0;
    vec![b'v'; if is_larger { LARGER } else { VALUE }]
}

/// Sets each primary's limit so that it uses this fraction of it.
fn limit(cluster: &Cluster, parts: [f64; 3]) {
    for (server, part) in cluster.servers.iter().zip(parts) {
        let mut client = server.connect();
        let info = client.call(&["INFO", "memory"]).text();
        let mut lines = info.lines();
        let used = lines.find_map(|line| line.strip_prefix("used_memory:"));
        let used: f64 = used.unwrap().parse().unwrap();
        let most = ((used / part) as u64).to_string();
        call_ok(&mut client, &["CONFIG", "SET", "maxmemory", &most]);
    }
}

/// Rounds of reads, and of writes that do not change sizes, until `is_over`.
fn work(mut follower: Follower, cluster: &Cluster, keys: &[String], is_over: &AtomicBool) {
    let usual = keys.iter().step_by(KEYS / READ).map(String::as_str);
    let mut round: Vec<&str> = usual.collect();
    for at in 0..HOT_READS {
        round.insert(at * round.len() / HOT_READS, HOT);
    }
    let mut count = 0;
    while !is_over.load(Relaxed) {
        for key in &round {
            count += 1;
            if count % WRITES == 0 && *key != HOT {
                follower.set(key.as_bytes(), &value(cluster, key));
            } else {
                follower.call(key.as_bytes(), &[b"GET", key.as_bytes()]);
            }
        }
    }
}

/// The fullest node in fair shares.
/// The promise of a step that a report does not confirm.
fn broken(step: &Value, then: &Value) -> Option<String> {
    let roles = [("memory", CLOSE), ("load", CLOSE_LOAD)];
    roles.into_iter().find_map(|(role, close)| {
        let said = step["after"][role]["max_over_mean"].as_f64().unwrap();
        let is = ratio(then, role);
        ((said - is).abs() > close).then(|| format!("{role} {said} is {is}"))
    })
}

fn ratio(report: &Value, role: &str) -> f64 {
    let mut roles = report["verdict"]["roles"].as_array().unwrap().iter();
    let role = roles.find(|of| of["role"] == role).unwrap();
    role["fullest"]["max_over_mean"].as_f64().unwrap()
}
