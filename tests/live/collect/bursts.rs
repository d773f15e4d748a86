//! The first line and the first step for an even load, and for a burst shorter than the capture.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use super::load::{start, under_load};
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::wait_for;

/// Keys in the tag that a burst reads.
const IN_TAG: usize = 20;
/// Reads in a burst per second of capture: about a quarter of a server's capacity, more than a fair share of the load.
const READS: usize = 75_000;
/// Reads per pipeline.
const AT_ONCE: usize = 1000;

/// Servers, and the flags that provide names: the first one does not count by slot.
const WATCHED: [(Kind, &[&str]); 3] = [
    (Kind::Installed, &["--monitor"]),
    (Kind::Redis82, &[]),
    (Kind::Valkey91, &[]),
];

/// Seconds of a capture.
fn secs() -> usize {
    let given = std::env::var("SLOTSCOPE_BURST_SECONDS").ok();
    given.map_or(4, |secs| secs.parse().expect("a number of seconds"))
}

/// The first line of the report on some seconds of load, and its steps.
fn judged(cluster: &Cluster, flags: &[&str]) -> (String, Vec<Value>) {
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let load = format!("{}s", secs());
    let args = ["collect", &address, "-o", "out", "--load", &load];
    succeeded(scratch.run(&[&args, flags].concat()));
    let text = scratch.run(&["analyze", "out", "--no-files"]);
    let first = stdout(&text).lines().next().unwrap().to_owned();
    let report = scratch.report(&["analyze", "out", "--json"]);
    (first, report["verdict"]["steps"].list().clone())
}

/// Reads the keys of a tag once its owner is being watched: a burst within a capture.
fn burst(cluster: &Cluster, kind: Kind, keys: &[String], is_over: &AtomicBool) {
    let mut client = cluster.owner_of(keys[0].as_bytes());
    let mut is_watched = || match kind {
        // It does not count by slot, and MONITOR starts after the readings.
        Kind::Installed => client.call(&["CLIENT", "LIST"]).text().contains("flags=O "),
        _ => {
            let info = client.call(&["INFO", "commandstats"]).text();
            info.contains("cmdstat_cluster|slot-stats:")
        }
    };
    wait_for(|| {
        is_watched()
            .then_some(())
            .ok_or("nobody watches the server".into())
    });
    let names = keys.iter().cycle().take(AT_ONCE);
    let reads: Vec<Vec<&[u8]>> = names.map(|key| vec![&b"GET"[..], key.as_bytes()]).collect();
    for _ in 0..secs() * READS / AT_ONCE {
        client.pipeline(&reads);
    }
    is_over.store(true, Relaxed);
}

#[test]
fn a_burst_within_a_capture_is_named_and_has_a_step_that_helps() {
    for (kind, flags) in WATCHED {
        let cluster = start(kind);
        let keys: Vec<String> = (1..=IN_TAG)
            .map(|id| format!("cart:{{hot}}:{id}"))
            .collect();
        let mut owner = cluster.owner_of(keys[0].as_bytes());
        for key in &keys {
            owner.call(&["SET", key, "a value"]);
        }
        let is_over = AtomicBool::new(false);
        let ((first, steps), was_within) = thread::scope(|scope| {
            scope.spawn(|| burst(&cluster, kind, &keys, &is_over));
            let judged = under_load(&cluster, &[], || judged(&cluster, flags));
            (judged, is_over.load(Relaxed))
        });
        assert!(was_within, "the burst outlasts the capture");
        assert!(
            first.starts_with("HOT") && first.contains("{hot}"),
            "{kind:?}: {first}"
        );
        let kinds: Vec<&str> = steps.iter().map(|step| step["kind"].text()).collect();
        assert!(
            ["split", "cache"].contains(&kinds[0]),
            "{kind:?}: {steps:#?}"
        );
        assert!(steps[0].to_string().contains("hot"), "{kind:?}: {steps:#?}");
    }
}

#[test]
fn an_even_load_is_not_called_hot_and_has_no_step_for_names() {
    for (kind, flags) in WATCHED {
        let cluster = start(kind);
        let (first, steps) = under_load(&cluster, &[], || judged(&cluster, flags));
        assert!(!first.starts_with("HOT"), "{kind:?}: {first}");
        let is_of_names =
            |step: &&Value| ["split", "cache", "untag"].contains(&step["kind"].text());
        assert_eq!(steps.iter().find(is_of_names), None, "{kind:?}: {first}");
    }
}
