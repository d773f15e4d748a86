//! Primaries that give all their slots away, under writes, on servers with default settings: an emptied primary becomes
//! a replica of the node that took its last slot. The scripts succeed even if killed in the middle and rerun.
//! SCALE_STOPS: number of kills of each.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use super::stops::{assert_nothing_is_lost, write};
use super::uneven::{Uneven, keys};
use crate::carried_out::probe::SetOnDrop;
use crate::plan::follower::Follower;
use testkit::cluster::{Cluster, Ranges, call_ok, even};
use testkit::env::cases;
use testkit::kinds::Kind;
use testkit::rng::Rng;
use testkit::run::{Said, stderr, succeeded};

/// Kills a script several times at random moments, then runs it to its end and returns its output.
fn killed_and_run_again(uneven: &Uneven, script: &str, rng: &mut Rng) -> String {
    for _ in 0..cases("SCALE_STOPS", 3) {
        let after = Duration::from_millis(300 + rng.below(2500) as u64);
        let (_, said) = uneven.stopped(script, after, "-KILL");
        said.lacks("make a new plan");
    }
    let output = uneven.run(script);
    let said = stderr(&output).to_owned();
    succeeded(output);
    succeeded(uneven.run(script));
    said.lacks("DIFFERENT");
    said
}

/// Asserts that a script names the node it emptied, with the command that removes it.
fn is_named_as_empty(uneven: &Uneven, node: usize, said: &str) {
    let (address, id) = (uneven.cluster.address(node), &uneven.cluster.ids[node]);
    let head = format!("{address} owns no slots and is a replica of 127.0.0.1:");
    let end = format!("redis-cli --cluster del-node {address} {id}");
    let is_named = |line: &str| line.starts_with(&head) && line.ends_with(&end);
    assert!(said.lines().any(is_named), "{node}: {said}");
}

/// Turns a replica into an empty primary again, as the refusing script says.
fn reset(uneven: &Uneven, node: usize) {
    let mut client = uneven.cluster.servers[node].connect();
    call_ok(&mut client, &["CLUSTER", "RESET"]);
    let port = uneven.cluster.servers[0].port.to_string();
    call_ok(&mut client, &["CLUSTER", "MEET", "127.0.0.1", &port]);
}

/// Two of four primaries, which own few slots, are removed, and get their slots back.
fn two_of_four_are_removed(kind: Kind, commands: &'static str) {
    let shares = [(0, 7791), (7792, 15583), (15584, 15983), (15984, 16383)];
    let cluster = Cluster::of(kind, &shares.map(|range| vec![range]));
    let uneven = Uneven::filled(cluster, commands, keys());
    let remove = [2, 3].map(|node| format!("--remove {}", uneven.cluster.address(node)));
    let script = uneven.plan(&remove.join(" "));
    let promised = uneven.promised(&script);
    let mut rng = Rng::new(7);
    under_writes(&uneven, || {
        let said = killed_and_run_again(&uneven, "move.sh", &mut rng);
        uneven.cluster.settles_on(&promised);
        for node in [2, 3] {
            is_named_as_empty(&uneven, node, &said);
        }
        let refused = uneven.run("back.sh");
        stderr(&refused).says("CLUSTER RESET, then CLUSTER MEET");
        [2, 3].into_iter().for_each(|node| reset(&uneven, node));
        uneven.cluster.settles_on(&promised);
        killed_and_run_again(&uneven, "back.sh", &mut rng);
        uneven.cluster.settles_on(&uneven.before);
    });
}

/// A primary without slots gets its share, and gives it back.
fn an_added_primary_gets_its_part(kind: Kind, commands: &'static str) {
    let shares: Vec<Ranges> = even(3).into_iter().chain([Vec::new()]).collect();
    let uneven = Uneven::filled(Cluster::of(kind, &shares), commands, keys());
    let script = uneven.plan("");
    let promised = uneven.promised(&script);
    assert!(promised.contains(&3), "{script}");
    let mut rng = Rng::new(8);
    under_writes(&uneven, || {
        killed_and_run_again(&uneven, "move.sh", &mut rng);
        uneven.cluster.settles_on(&promised);
        let said = killed_and_run_again(&uneven, "back.sh", &mut rng);
        uneven.cluster.settles_on(&uneven.before);
        is_named_as_empty(&uneven, 3, &said);
    });
}

fn under_writes(uneven: &Uneven, moves: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    let written = thread::scope(|threads| {
        let writer = threads.spawn(|| write(Follower::new(&uneven.cluster), &is_over));
        let over = SetOnDrop(&is_over);
        moves();
        drop(over);
        writer.join().unwrap()
    });
    assert_nothing_is_lost(&uneven.cluster, &written);
}

#[test]
fn primaries_of_redis_7_0_come_and_go() {
    two_of_four_are_removed(Kind::Installed, "setslot");
    an_added_primary_gets_its_part(Kind::Installed, "setslot");
}

#[test]
fn primaries_of_redis_7_4_come_and_go() {
    two_of_four_are_removed(Kind::Redis74, "auto");
}

#[test]
fn primaries_of_redis_8_2_come_and_go() {
    an_added_primary_gets_its_part(Kind::Redis82, "auto");
}

#[test]
fn primaries_of_valkey_come_and_go() {
    two_of_four_are_removed(Kind::Valkey91, "auto");
    an_added_primary_gets_its_part(Kind::Valkey91, "auto");
}
