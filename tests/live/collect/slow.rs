//! `collect --load`: the commands that servers log meanwhile as slow or large.

use std::thread;

use crate::collect::collected::manifest;
use crate::collect::load::start;
use slotscope::slot::slot;
use slotscope::source::collection::load::CommandLogKind;
use testkit::cluster::Cluster;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::wait_for;

/// Takes longer than the 10 ms above which servers log a command, on any machine.
const BUSY: &str = "local sum = 0; for i = 1, 10000000 do sum = sum + i end; return sum";

/// Runs a slow command with this key, and a large one.
fn work(cluster: &Cluster, key: &str) {
    let mut client = cluster.owner_of(key.as_bytes());
    client.call(&["EVAL", BUSY, "1", key]);
    client.call(&["SET", key, &"x".repeat(2 << 20)]);
}

/// Collects, and runs the commands once the owner's logs were first read.
fn collected(cluster: &Cluster, key: &str, flags: &[&str]) -> Scratch {
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let mut owner = cluster.owner_of(key.as_bytes());
    thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(|| {
                let info = owner.call(&["INFO", "commandstats"]).text();
                let logs = ["cmdstat_slowlog|get:", "cmdstat_commandlog|get:"];
                let is_read = logs.iter().any(|log| info.contains(log));
                is_read.then_some(()).ok_or(info)
            });
            work(cluster, key);
            work(cluster, key);
        });
        let args = [&["collect", &address, "-o", "out", "--load", "4s"], flags].concat();
        succeeded(scratch.run(&args));
    });
    scratch
}

#[test]
fn slow_commands_of_the_interval_are_listed_with_node_and_key() {
    for kind in [Kind::Installed, Kind::Redis82, Kind::Valkey91] {
        let cluster = start(kind);
        work(&cluster, "user:before");
        let key = "user:\u{1b}[2J";
        let scratch = collected(&cluster, key, &[]);
        let load = manifest(&scratch.path("out")).load.unwrap();
        let logged = load.logged.unwrap();
        let slow = &logged.commands[0];
        assert_eq!(
            (slow.log, &*slow.command, slow.entries, slow.slot),
            (CommandLogKind::Slow, "eval", 2, Some(slot(key.as_bytes()))),
            "{kind:?}: {logged:#?}"
        );
        assert_eq!(slow.name, cluster.owner_address(key.as_bytes()));
        assert!(slow.most >= 10_000 && slow.amount > slow.most, "{slow:?}");
        assert_eq!((logged.nodes, logged.logs_cut), (3, 0));
        assert!(!format!("{logged:?}").contains("before"), "{logged:#?}");
        let large = logged
            .commands
            .iter()
            .filter(|of| of.log == CommandLogKind::LargeRequest);
        let large: Vec<_> = large
            .map(|of| (&*of.command, of.entries, of.most >> 20))
            .collect();
        let expected = [("set", 2, 2)];
        assert_eq!(large, &expected[..usize::from(kind == Kind::Valkey91)]);

        let output = scratch.run(&["analyze", "out", "--no-files", "--full"]);
        let text = stdout(&output);
        assert!(text.contains("Slow commands during the load"), "{text}");
        let line = text.lines().find(|line| line.contains(" eval "));
        let line = line.expect(text);
        assert_contains(line, &[r"user:\x1b[2J"]);
        // On a busy machine they take seconds.
        assert!(line.contains(" ms") || line.contains(" s"), "{line}");
        let redacted = scratch.report(&["analyze", "out", "--json", "--redact"]);
        let logged = &redacted["logged"]["commands"];
        assert!(
            logged[0]["command"] == "eval" && !logged.to_string().contains("user"),
            "{logged:#}"
        );
    }
}

#[test]
fn a_user_without_the_right_is_told_and_has_the_rest() {
    let cluster = start(Kind::Valkey91);
    let scratch = Scratch::new();
    let line = succeeded(scratch.run(&["collect", "--acl", "valkey-9.1"]));
    let line = String::from_utf8(line).unwrap();
    for server in &cluster.servers {
        let rights = line.trim().replace("PASSWORD", "secret");
        let rights = rights
            .replace(" +slowlog|get", "")
            .replace(" +commandlog|get", "");
        let words: Vec<&str> = rights.split(' ').collect();
        assert_eq!(server.connect().call(&words).text(), "OK");
    }
    let address = cluster.address(0);
    let line = format!("collect {address} -o out --load 1s --user slotscope");
    let args = words(&line);
    let mut command = scratch.command(&args);
    succeeded(command.env("REDISCLI_AUTH", "secret").output().unwrap());
    let of = manifest(&scratch.path("out"));
    let skipped: Vec<&String> = of.skipped.iter().collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    assert!(
        skipped[0].starts_with("slow commands: ") && skipped[0].contains("collect --acl"),
        "{skipped:?}"
    );
    let load = of.load.unwrap();
    assert_eq!((load.logged, load.nodes.len()), (None, 3));
    let report = scratch.report(&["analyze", "out", "--json"]);
    assert_eq!(report.get("logged"), None::<&Value>);
}
