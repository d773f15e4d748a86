//! `collect --load`: the commands that servers log meanwhile as slow or large.

use std::process::Stdio;

use crate::collect::collected::manifest;
use crate::collect::load::start;
use slotscope::slot::slot;
use slotscope::source::collection::load::CommandLogKind;
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;

/// Takes longer than the 10 ms above which servers log a command, on any machine.
const BUSY: &str = "local sum = 0; for i = 1, 10000000 do sum = sum + i end; return sum";

/// Runs a slow command with this key, and a large one.
fn work(cluster: &Cluster, key: &str) {
    let mut client = cluster.owner_of(key.as_bytes());
    client.call(&["EVAL", BUSY, "1", key]);
    client.call(&["SET", key, &"x".repeat(2 << 20)]);
}

/// Collects, and runs the commands once all logs were first read. Meanwhile the run is stopped, so that it does not read
/// them again before, however long the commands take.
fn collected(cluster: &Cluster, key: &str) -> Scratch {
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let mut command = scratch.command(&format!("collect {address} -o out --load 4s"));
    let mut run = command.stdout(Stdio::null()).spawn().unwrap();
    for server in &cluster.servers {
        server.until("INFO commandstats", "log|get:");
    }
    while_stopped(&run, || {
        work(cluster, key);
        work(cluster, key);
    });
    assert!(run.wait().unwrap().success());
    scratch
}
#[test]
fn slow_commands_of_the_interval_are_listed_with_node_and_key() {
    at_once(
        3,
        [Kind::Installed, Kind::Redis82, Kind::Valkey91],
        |kind| {
            println!("{kind:?}");
            let cluster = start(kind);
            work(&cluster, "user:before");
            let key = "user:\u{1b}[2J";
            let scratch = collected(&cluster, key);
            let logged = manifest(&scratch).load.unwrap().logged.unwrap();
            let slow = &logged.commands[0];
            let found = (slow.log, &*slow.command, slow.entries, slow.slot);
            let expected = (CommandLogKind::Slow, "eval", 2, Some(slot(key.as_bytes())));
            assert_eq!(found, expected, "{logged:#?}");
            assert_eq!(slow.name, cluster.owner_address(key.as_bytes()));
            assert!(slow.most >= 10_000 && slow.amount > slow.most, "{slow:?}");
            assert_eq!((logged.nodes, logged.logs_cut), (3, 0));
            format!("{logged:?}").lacks("before");
            let large = logged.commands.iter();
            let large = large.filter(|of| of.log == CommandLogKind::LargeRequest);
            let large = large.map(|of| (&*of.command, of.entries, of.most >> 20));
            let expected = [("set", 2, 2)]
                .into_iter()
                .filter(|_| kind == Kind::Valkey91);
            assert!(large.eq(expected), "{logged:#?}");

            let text = scratch.text("analyze out --no-files --full");
            text.says("Slow commands during the load");
            let line = text.lines().find(|line| line.contains(" eval "));
            let line = line.expect(&text);
            line.says(r"user:\x1b[2J");
            // On a busy machine they take seconds.
            assert!(line.contains(" ms") || line.contains(" s"), "{line}");
            let redacted = scratch.report("analyze out --json --redact");
            let logged = &redacted["logged"]["commands"];
            assert_eq!(logged[0]["command"], "eval");
            logged.to_string().lacks("user");
        },
    );
}

#[test]
fn a_user_without_the_right_is_told_and_has_the_rest() {
    let (cluster, scratch) = (start(Kind::Valkey91), Scratch::new());
    let line = scratch
        .text("collect --acl valkey-9.1")
        .replace("PASSWORD", "secret");
    let rights = line
        .replace(" +slowlog|get", "")
        .replace(" +commandlog|get", "");
    cluster.tell_all(rights.trim());
    let line = format!(
        "collect {} -o out --load 1s --user slotscope",
        cluster.address(0)
    );
    let mut command = scratch.command(&words(&line));
    succeeded(command.env("REDISCLI_AUTH", "secret").output().unwrap());
    let of = manifest(&scratch);
    assert_eq!(of.skipped.len(), 1, "{:?}", of.skipped);
    of.skipped[0]
        .begins("slow commands: ")
        .says("collect --acl");
    let load = of.load.unwrap();
    assert_eq!((load.logged, load.nodes.len()), (None, 3));
    let report = scratch.report("analyze out --json");
    assert_eq!(report.get("logged"), None::<&Value>);
}
