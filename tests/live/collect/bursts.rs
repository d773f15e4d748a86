//! The first line and the first step for an even load, and for a burst shorter than the capture.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use super::load::{LONG, start, under_load};
use testkit::cluster::{Cluster, dear_read};
use testkit::env::{is_campaign, size};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::wait_for;

/// Keys in the tag that a burst reads.
const IN_TAG: usize = 6;
/// Pipelines of reads in a burst per second of capture: about a sixth of a server's capacity, more than a fair share of
/// the load, in few round trips, as a busy machine lets a client wait for each.
const PIPELINES: usize = 10;
/// Reads per pipeline.
const AT_ONCE: usize = 500;

/// Servers, and the flags that provide names: the first one does not count by slot.
const WATCHED: [(Kind, &str); 3] = [
    (Kind::Installed, "--monitor"),
    (Kind::Redis82, ""),
    (Kind::Valkey91, ""),
];

/// Those of them that are measured: of two kinds that count by slot one, unless the campaign runs.
fn watched() -> impl Iterator<Item = (Kind, &'static str)> {
    let all = WATCHED.into_iter();
    all.filter(|(kind, _)| is_campaign() || *kind != Kind::Redis82)
}

/// Seconds of a capture.
fn secs() -> usize {
    size("SLOTSCOPE_BURST_SECONDS", 4)
}

/// The first line of the report on some seconds of load, and its steps.
fn judged(cluster: &Cluster, flags: &str) -> (String, Vec<Value>) {
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    scratch.text(&format!(
        "collect {address} -o out --load {}s {flags}",
        secs()
    ));
    let text = scratch.text("analyze out --no-files");
    let report = scratch.report("analyze out --json");
    let first = text.lines().next().unwrap().to_owned();
    (first, report["verdict"]["steps"].list().clone())
}

/// Reads the keys of a tag once its owner is being watched: a burst within a capture.
fn burst(cluster: &Cluster, kind: Kind, keys: &[String], is_over: &AtomicBool) {
    let mut client = cluster.owner_of(keys[0].as_bytes());
    let mut is_watched = || {
        // The readings, which end before MONITOR starts, say what such a command takes.
        client.call(&dear_read(&keys[0]));
        match kind {
            // It does not count by slot.
            Kind::Installed => client.call(&["CLIENT", "LIST"]).text().contains("flags=O "),
            _ => {
                let info = client.call(&["INFO", "commandstats"]).text();
                info.contains("cmdstat_cluster|slot-stats:")
            }
        }
    };
    wait_for(|| is_watched().then_some(()).ok_or("nobody watches".into()));
    let names = keys.iter().cycle().take(AT_ONCE);
    let reads: Vec<_> = names.map(|key| dear_read(key)).collect();
    for _ in 0..secs() * PIPELINES {
        client.pipeline(&reads);
    }
    is_over.store(true, Relaxed);
}

#[test]
fn a_burst_within_a_capture_is_named_and_has_a_step_that_helps() {
    for (kind, flags) in watched() {
        println!("{kind:?}");
        let cluster = start(kind);
        let keys = (1..=IN_TAG).map(|id| format!("cart:{{hot}}:{id}"));
        let keys: Vec<String> = keys.collect();
        cluster.set_all(keys.iter().map(|key| (key, "v".repeat(LONG))));
        let is_over = AtomicBool::new(false);
        let ((first, steps), was_within) = thread::scope(|scope| {
            scope.spawn(|| burst(&cluster, kind, &keys, &is_over));
            let judged = under_load(&cluster, &[], || judged(&cluster, flags));
            (judged, is_over.load(Relaxed))
        });
        assert!(was_within, "the burst outlasts the capture");
        first.begins("HOT").says("{hot}");
        let kind = steps[0]["kind"].text();
        assert!(["split", "cache"].contains(&kind), "{steps:#?}");
        steps[0].to_string().says("hot");
    }
}

#[test]
fn an_even_load_is_not_called_hot_and_has_no_step_for_names() {
    for (kind, flags) in watched() {
        println!("{kind:?}");
        let cluster = start(kind);
        let (first, steps) = under_load(&cluster, &[], || judged(&cluster, flags));
        assert!(!first.starts_with("HOT"), "{first}");
        for kind in steps.iter().map(|step| step["kind"].text()) {
            assert!(!["split", "cache", "untag"].contains(&kind), "{first}");
        }
    }
}
