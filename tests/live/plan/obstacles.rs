//! Obstacles to a script, and failures while it runs: a clear line beforehand, or a clean stop after which each open
//! slot is named.

use std::time::{Duration, Instant};

use super::uneven::{Uneven, jobs};
use testkit::cluster::call_ok;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Server, wait_for};
/// Available servers that move slots atomically: Redis 8.4 only if REDIS_SERVER names one.
fn atomic() -> impl Iterator<Item = (Kind, &'static str)> {
    let kinds = [Some(Kind::Valkey91), Kind::given()].into_iter().flatten();
    kinds.map(|kind| (kind, "auto"))
}

/// Servers for every way to move slots.
fn all() -> impl Iterator<Item = (Kind, &'static str)> {
    std::iter::once((Kind::Installed, "setslot")).chain(atomic())
}

/// Runs a script that names the obstacle and moves nothing; the parts of the message are separated by ` | `.
#[track_caller]
fn refused(uneven: &Uneven, line: &str, expected: &str) {
    let output = uneven.run(line);
    let said = stderr(&output);
    assert_eq!(code(&output), 2, "{said}");
    for expected in expected.split(" | ") {
        said.says(expected);
    }
    said.says("nothing was moved");
    uneven.is_as_before();
}
/// Makes the scripts log in as user `mover` with password `p`.
fn log_in(uneven: &Uneven) {
    let script = uneven.scratch.read("move.sh");
    let as_mover = script.replace("\nuser=''", "\nuser='mover'; export REDISCLI_AUTH=p");
    uneven.scratch.file("move.sh", as_mover.as_bytes());
}

#[test]
fn a_target_without_room_is_refused() {
    at_once(3, all(), |(kind, commands)| {
        let uneven = Uneven::new(kind, commands, &[]);
        let names = jobs(&uneven.plan(""));
        let cluster = &uneven.cluster;
        let limit = cluster.servers[1].used_memory() + 200_000;
        cluster.tell_all("CONFIG SET maxmemory-policy noeviction");
        assert_eq!(names.len(), 2, "a job for each of two targets");
        for server in &cluster.servers[1..] {
            let words = ["CONFIG", "SET", "maxmemory", &limit.to_string()];
            call_ok(&mut server.connect(), &words);
        }
        // Both targets, each on a line of its own.
        let expected = "would refuse writes | fix 2 of the above";
        refused(&uneven, "move.sh --check", expected);
        cluster.tell_all("CONFIG SET maxmemory-policy allkeys-lru");
        refused(&uneven, "move.sh", "it would EVICT KEYS (allkeys-lru)");
    });
}
#[test]
fn a_node_that_is_reachable_only_under_its_announced_name_is_named() {
    let announced = ["--cluster-announce-hostname", "localhost"];
    let uneven = Uneven::new(Kind::Installed, "setslot", &announced);
    // Nothing listens there.
    let moved = uneven
        .plan("")
        .replacen("host[2]='127.0.0.1'", "host[2]='127.0.0.2'", 1);
    uneven.scratch.file("move.sh", moved);
    let expected = "does not answer at 127.0.0.2: | only under the name that it announces: write host[2]='localhost'";
    refused(&uneven, "move.sh", expected);
}

#[test]
fn a_node_that_is_failing_over_is_named() {
    let mut uneven = Uneven::with_replicas(Kind::Installed, "setslot");
    let script = uneven.plan("");
    let target = uneven.node(&script, jobs(&script)[0].1);
    uneven.cluster.lose(target);
    let output = uneven.run("move.sh --check");
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    let address = uneven.cluster.address(target);
    stderr(&output)
        .says(&format!("{address} does not answer at {address}"))
        .says(&format!(
            "sees that {address} is failed, or is failing over to a replica"
        ));
}

#[test]
fn a_node_that_loads_its_keys_is_named() {
    let debug = ["--enable-debug-command", "yes"];
    let uneven = Uneven::new(Kind::Installed, "setslot", &debug);
    let script = uneven.plan("");
    let server = &uneven.cluster.servers[uneven.node(&script, jobs(&script)[0].1)];
    // Microseconds for each key: it loads as long as the test lasts, and answers meanwhile.
    let slow = "CONFIG SET key-load-delay 20000 loading-process-events-interval-bytes 1024";
    call_ok(&mut server.connect(), &words(slow));
    let mut client = server.connect();
    std::thread::scope(|threads| {
        threads.spawn(|| client.call(&["DEBUG", "RELOAD"]));
        server.until("INFO persistence", "loading:1");
        let output = uneven.run("move.sh --check");
        call_ok(&mut server.connect(), &words("CONFIG SET key-load-delay 0"));
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        stderr(&output)
            .says(&format!("{} ", server.address()))
            .says("is loading its keys: wait");
    });
}

#[test]
fn what_leaves_a_node_before_makes_room_in_it() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    let script = uneven.plan("");
    let mut lines = script.lines();
    let first = lines.find(|line| line.starts_with("    '1 2 ")).unwrap();
    let words: Vec<&str> = first.trim().trim_matches('\'').split(' ').collect();
    let bytes: u64 = words[3].parse().unwrap();
    let back = format!("    '2 1 0 {} 13191-13191'", bytes - 1);
    let server = &uneven.cluster.servers[0];
    let limit = (server.used_memory() + 100_000).to_string();
    assert!(bytes > 300_000, "{bytes}");
    call_ok(
        &mut server.connect(),
        &["CONFIG", "SET", "maxmemory", &limit],
    );
    let with = |jobs: String| {
        uneven.scratch.file("jobs.sh", script.replace(first, &jobs));
    };
    with(format!("{first}\n{back}"));
    succeeded(uneven.run("jobs.sh --check"));
    with(format!("{back}\n{first}"));
    refused(
        &uneven,
        "jobs.sh --check",
        " MiB more, but its maxmemory is ",
    );
}
#[test]
fn rights_that_keys_need_to_get_across_are_asked_for() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    uneven.plan("");
    log_in(&uneven);
    let tell = |line| uneven.cluster.tell_all(line);
    tell("ACL SETUSER mover on >p ~* +@all -migrate");
    refused(&uneven, "move.sh", "refuses MIGRATE");
    tell("ACL SETUSER mover +migrate -restore-asking");
    refused(&uneven, "move.sh", "refuses RESTORE-ASKING");
}

#[test]
fn servers_without_migrate_are_named_before_a_slot_is_open() {
    let options = ["--rename-command", "MIGRATE", "OFF"];
    let uneven = Uneven::new(Kind::Installed, "setslot", &options);
    uneven.plan("");
    refused(&uneven, "move.sh --chek", "unknown argument \"--chek\"");
    refused(&uneven, "move.sh", "refuses MIGRATE");
}

#[test]
fn a_module_that_does_not_let_slots_move_is_named() {
    let modules = Kind::Redis74.modules();
    let options = [modules[0].as_str(), modules[1].as_str()];
    let uneven = Uneven::new(Kind::Valkey91, "auto", &options);
    uneven.plan("");
    refused(&uneven, "move.sh --check", "module | --commands setslot");
}

#[test]
fn a_replication_user_without_rights_is_named() {
    at_once(3, atomic(), |(kind, commands)| {
        let uneven = Uneven::new(kind, commands, &[]);
        uneven.plan("");
        let tell = |line| uneven.cluster.tell_all(line);
        tell("ACL SETUSER weak on >p +ping");
        tell("CONFIG SET masteruser weak masterauth p");
        if !kind.is_valkey() {
            // Redis moves slots over connections of its own.
            succeeded(uneven.run("move.sh"));
            return;
        }
        refused(
            &uneven,
            "move.sh",
            "would refuse the replication user | weak",
        );
        // A caller without permission to query the user learns it from the servers, which then move nothing.
        tell("ACL SETUSER mover on >p ~* +@all -config");
        log_in(&uneven);
        let output = uneven.run("move.sh");
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        stderr(&output).says("do not leave");
        uneven.is_as_before();
    });
}

/// A plan whose script pauses after each slot.
fn slowly(uneven: &Uneven, more: &str) -> String {
    let plan = uneven.plan(more);
    let script = plan.replace("pause_ms=0 ", "pause_ms=20 ");
    assert_ne!(script, plan);
    uneven.scratch.file("move.sh", &script);
    script
}

#[test]
fn a_target_that_dies_ends_the_script() {
    at_once(3, all(), |(kind, commands)| {
        let mut uneven = Uneven::new(kind, commands, &[]);
        let script = slowly(&uneven, "--max-job-bytes 40kb");
        let target = uneven.node(&script, jobs(&script)[0].1);
        let ended = uneven.disturbed(|cluster| cluster.servers[target].stop());
        names_open_slots(&uneven, ended);
    });
}

/// Has a replica take over from its primary, which runs. Servers give an attempt up after five seconds, which may be too few
/// on a busy machine.
fn takes_over(replica: &Server) {
    let (mut client, mut begun) = (replica.connect(), None::<Instant>);
    wait_for(|| {
        let info = client.call(&["INFO", "replication"]).text();
        if info.contains("role:master") {
            return Ok(());
        }
        if begun.is_none_or(|at| at.elapsed() > Duration::from_secs(6)) {
            call_ok(&mut client, &["CLUSTER", "FAILOVER"]);
            begun = Some(Instant::now());
        }
        Err(info)
    });
}

#[test]
fn a_source_that_is_failed_over_ends_the_script() {
    at_once(3, all(), |(kind, commands)| {
        let mut uneven = Uneven::with_replicas(kind, commands);
        let script = slowly(&uneven, "--max-job-bytes 40kb");
        let source = uneven.node(&script, jobs(&script)[0].0);
        let ended = uneven.disturbed(|cluster| {
            takes_over(&cluster.servers[3 + source]);
        });
        names_open_slots(&uneven, ended);
    });
}

#[test]
fn a_target_that_is_failed_over_needs_a_new_plan_and_no_reset() {
    let mut uneven = Uneven::with_replicas(Kind::Installed, "setslot");
    let script = slowly(&uneven, "");
    let target = uneven.node(&script, jobs(&script)[0].1);
    let replica = 3 + target;
    let right = "ACL SETUSER default -migrate";
    let (code, said) = uneven.disturbed(|cluster| cluster.tell_all(right));
    assert_eq!(code, Some(1), "{said}");
    uneven.cluster.tell_all("ACL SETUSER default +migrate");
    takes_over(&uneven.cluster.servers[replica]);
    uneven.cluster.all_mark(target, "slave");
    uneven.cluster.all_mark(replica, "master");
    let [old, new] = [target, replica].map(|node| uneven.cluster.address(node));
    let failed_over = format!("{old} is now a replica of {new}, which took over its slots");
    for script in ["move.sh", "back.sh"] {
        let output = uneven.run(script);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        said.says(&format!("{failed_over}: make a new plan"))
            .lacks("RESET");
        let is_counted = said.contains("slots had left their nodes before");
        assert!(is_counted || script == "back.sh", "{said}");
    }
}
/// Asserts that a script failed and every open slot is named.
fn names_open_slots(uneven: &Uneven, (code, said): (Option<i32>, String)) {
    assert_eq!(code, Some(1), "{said}");
    let servers = uneven.cluster.servers.iter().enumerate();
    for (node, _) in servers.filter(|(_, server)| !server.is_stopped()) {
        let listing = uneven.cluster.nodes(node);
        for line in listing.lines().filter(|line| line.contains("->-")) {
            let open = line.split('[').nth(1).unwrap().split('-').next().unwrap();
            said.says(&format!("slot {open} is open"));
        }
    }
}

#[test]
fn a_migration_that_runs_already_is_waited_for() {
    let uneven = Uneven::new(Kind::Valkey91, "auto", &[]);
    let script = uneven.plan("");
    let (from, to, ranges) = jobs(&script).remove(0);
    let [from, to] = [from, to].map(|node| uneven.node(&script, node));
    let ranges = ranges
        .iter()
        .map(|(first, last)| format!(" {first} {last}"));
    let (ranges, to) = (ranges.collect::<String>(), &uneven.cluster.ids[to]);
    let line = format!("CLUSTER MIGRATESLOTS SLOTSRANGE{ranges} NODE {to}");
    call_ok(&mut uneven.cluster.servers[from].connect(), &words(&line));
    succeeded(uneven.run("move.sh"));
    uneven.cluster.settles_on(&uneven.promised(&script));
}
