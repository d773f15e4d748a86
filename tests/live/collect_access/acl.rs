//! `collect --acl`: every server accepts the line printed for it, and the collector needs no other permission.

use std::process::Output;

use crate::collect_access::{collect, manifest};
use testkit::cluster::call_ok;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Reply, Server};

/// Creates a key of every type that the servers have.
fn fill(server: &Server) -> usize {
    let commands = "SET string x, RPUSH list x, SADD set x, ZADD zset 1 x, HSET hash f x";
    let commands: Vec<&str> = commands.split(", ").chain(["XADD stream * f x"]).collect();
    for command in &commands {
        let reply = server.connect().call(&words(command));
        assert!(!matches!(reply, Reply::Error(_)), "{command}: {reply:?}");
    }
    commands.len()
}

/// Creates the user that `collect --acl FLAGS` prints; `change` has the line.
fn allow(server: &Server, flags: &str, change: impl Fn(String) -> String) {
    let printed = Scratch::new().text(&format!("collect --acl {flags}"));
    let line = change(printed.trim_end().replace("PASSWORD", "a-secret"));
    assert_eq!(line.lines().count(), 1, "{line}");
    call_ok(&mut server.connect(), &words(&line));
}

/// Collects as this user.
fn collect_as_user(scratch: &Scratch, server: &Server, flags: &str) -> Output {
    scratch.file("password", "a-secret\n");
    let url = format!("redis://slotscope@{}", server.address());
    collect(scratch, &url, &format!("--password-file password {flags}"))
}

#[test]
fn every_server_takes_its_line_and_the_collector_needs_no_other_right() {
    let versions = ["redis-8.10", "valkey-9.1"];
    let given = Kind::given().map(|kind| (kind, versions[usize::from(kind.is_valkey())]));
    let kinds = [
        (Kind::Installed, "redis-7.0"),
        (Kind::Redis74, "7.4.1"),
        (Kind::Redis82, "redis-8.2.3"),
        (Kind::Valkey90, "valkey-9.0"),
        (Kind::Valkey91, "valkey-9.1.2"),
    ];
    at_once(3, kinds.into_iter().chain(given), |(kind, version)| {
        let server = kind.start(&["--cluster-node-timeout", "1000"]);
        server.own_all_slots();
        let keys = fill(&server);
        allow(&server, version, |line| line);
        for level in ["", "--keys", "--slots-only"] {
            println!("{kind:?} {level}");
            let scratch = Scratch::new();
            let manifest = manifest(&scratch, collect_as_user(&scratch, &server, level));
            // Counts by slot have no file of keys.
            let found = match level {
                "--slots-only" => &manifest["nodes"][0]["counted"],
                _ => &manifest["keys"],
            };
            assert_eq!(*found, keys, "{manifest}");
            let skipped = manifest["skipped"].list().iter();
            // Redis 7.0 does not know it yet.
            let is_new = |what: &&Value| !what.text().contains("NO-TOUCH");
            assert_eq!(skipped.filter(is_new).count(), 0, "{manifest}");
        }

        if kind != Kind::Installed && kind != Kind::Redis74 {
            let scratch = Scratch::new();
            let series = "--slots-only --every 100ms --for 300ms";
            let manifest = manifest(&scratch, collect_as_user(&scratch, &server, series));
            assert_eq!(manifest["incomplete"], false, "{manifest}");
            let lines = scratch.read("all/slot-stats.json");
            assert!(lines.lines().count() > 1, "{lines}");
        }

        let mut limited = server.connect();
        call_ok(&mut limited, &["AUTH", "slotscope", "a-secret"]);
        let refused = "GET string, SET string y, KEYS *, CONFIG GET *, LRANGE list 0 -1, DEL string, \
             DUMP string, CLUSTER RESET, ACL LIST, MONITOR, CLIENT KILL TYPE normal, OBJECT HELP";
        for command in refused.split(", ") {
            match limited.call(&words(command)) {
                Reply::Error(said) => assert!(said.starts_with("NOPERM"), "{said}"),
                other => panic!("{kind:?} {command}: {other:?}"),
            }
        }
    });
}

#[test]
fn a_right_that_is_missing_is_named_and_the_one_to_monitor_is_printed_where_it_is_wanted() {
    let scratch = Scratch::new();
    let server = Kind::Installed.start(&["--cluster-enabled", "no"]);
    fill(&server);
    let refused = |flags: &str, parts: &str| {
        let run = collect_as_user(&scratch, &server, flags);
        assert_ne!(code(&run), 0);
        assert_contains(stderr(&run), &parts.split(" | ").collect::<Vec<_>>());
    };
    allow(&server, "redis-7.0", |line| line.replace(" +scan ", " "));
    refused("", "SCAN is refused | --acl");
    allow(&server, "redis-7.0", |line| line);
    let monitor = "--load 100ms --monitor --force";
    refused(monitor, "collect --acl SERVER --monitor");
    allow(&server, "redis-7.0 --monitor", |line| line);
    succeeded(collect_as_user(&scratch, &server, monitor));
    scratch.refuses(&format!(
        "collect {} --monitor | --monitor: | --load 10s
         collect --acl 5.0 | --acl 5.0 | no users",
        server.address()
    ));
    let old = scratch.text("collect --acl redis-6.0");
    assert_eq!(old.lines().count(), 1);
}
