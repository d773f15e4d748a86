//! Scripts of plans that are stopped anywhere and rerun while keys are written: no write is lost, and the slots end up
//! as planned. PLAN_STOPS: number of stops.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use super::owners;
use super::uneven::{Uneven, jobs, keys};
use crate::carried_out::probe::SetOnDrop;
use crate::plan::follower::{Follower, contents};
use slotscope::slot::slot;
use testkit::cluster::Cluster;
use testkit::env::cases;
use testkit::kinds::Kind;
use testkit::rng::Rng;
use testkit::run::{Said, succeeded};

/// Writes known and new keys until told to end; returns the acknowledged writes.
pub(super) fn write(mut follower: Follower, is_over: &AtomicBool) -> HashMap<Vec<u8>, Vec<u8>> {
    let mut rng = Rng::new(11);
    let mut written = HashMap::new();
    let mut count = 0usize;
    while !is_over.load(Relaxed) {
        count += 1;
        let key = match rng.below(4) {
            // Few, so that the distribution of keys stays the same.
            0 if count < 2000 => format!("new:{count}"),
            _ => format!("key:{}", rng.below(keys())),
        };
        let value = count.to_string().into_bytes();
        follower.set(key.as_bytes(), &value);
        written.insert(key.into_bytes(), value);
        thread::sleep(Duration::from_micros(500));
    }
    println!("{count} writes were acknowledged");
    written
}

fn stopped_anywhere_and_run_again_it_ends_as_planned(kind: Kind, commands: &'static str) {
    let uneven = Uneven::of_campaign(kind, commands);
    // About a dozen jobs for any number of keys.
    let script = uneven.plan(&format!("--max-job-bytes {}", keys() * 17));
    assert!(jobs(&script).len() > 3, "{script}");
    let promised = uneven.promised(&script);
    succeeded(uneven.run("move.sh --check"));
    uneven.is_as_before();
    let is_over = AtomicBool::new(false);
    let mut rng = Rng::new(3);
    let written = thread::scope(|threads| {
        let writer = threads.spawn(|| write(Follower::new(&uneven.cluster), &is_over));
        let over = SetOnDrop(&is_over);
        let mut in_the_middle = 0;
        for stop in 0..cases("PLAN_STOPS", 6).max(3) {
            let (script, expected) = match stop % 2 {
                0 => ("move.sh", &promised),
                _ => ("back.sh", &uneven.before),
            };
            let signal = ["-TERM", "-KILL", "-INT"][stop % 3];
            let after = Duration::from_millis(300 + rng.below(2500) as u64);
            let (is_running, said) = uneven.stopped(script, after, signal);
            in_the_middle += usize::from(is_running);
            if is_running && signal == "-TERM" {
                said.says("run this script again to go on");
            }
            println!("{signal} after {after:?}: {said}");
            succeeded(uneven.run(script));
            uneven.cluster.settles_on(expected);
        }
        println!("{commands}: stopped {in_the_middle} times before its end");
        assert!(in_the_middle > 0);
        drop(over);
        writer.join().unwrap()
    });
    assert_nothing_is_lost(&uneven.cluster, &written);
}

/// Asserts that every acknowledged write is on the owner of its slot, and no key exists twice.
pub(super) fn assert_nothing_is_lost(cluster: &Cluster, written: &HashMap<Vec<u8>, Vec<u8>>) {
    let now = owners(cluster);
    let contents = contents(cluster);
    for (key, value) in written {
        let found = contents[now[usize::from(slot(key))]].get(key);
        assert_eq!(found, Some(value), "{}", key.escape_ascii());
    }
    let held: usize = contents.iter().map(HashMap::len).sum();
    let new = written.keys().filter(|key| key.starts_with(b"new:"));
    assert_eq!(held, keys() + new.count(), "keys are stored twice or gone");
}

#[test]
fn slots_that_move_one_by_one_may_be_stopped_anywhere() {
    stopped_anywhere_and_run_again_it_ends_as_planned(Kind::Installed, "setslot");
}

#[test]
fn slots_that_move_as_a_whole_may_be_stopped_anywhere() {
    stopped_anywhere_and_run_again_it_ends_as_planned(Kind::Valkey91, "auto");
}

#[test]
fn slots_of_a_given_server_may_be_stopped_anywhere() {
    match Kind::given() {
        Some(kind) => stopped_anywhere_and_run_again_it_ends_as_planned(kind, "auto"),
        None => println!("NOT TESTED: the scripts for Redis 8.4; REDIS_SERVER names none"),
    }
}
