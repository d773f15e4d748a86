//! `collect --acl`: every server accepts the line printed for it, and the collector needs no other permission.

use crate::collect_access::{collect, manifest};
use testkit::cluster::call_ok;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Client, Reply};

/// Creates a key of every type that the servers have.
fn fill(client: &mut Client) -> usize {
    let commands = [
        "SET string x",
        "RPUSH list x",
        "SADD set x",
        "ZADD zset 1 x",
        "HSET hash f x",
        "XADD stream * f x",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        assert!(!matches!(client.call(&words), Reply::Error(_)), "{command}");
    }
    commands.len()
}

#[test]
fn every_server_takes_its_line_and_the_collector_needs_no_other_right() {
    let downloaded = [
        (Kind::Installed, "redis-7.0"),
        (Kind::Redis74, "7.4.1"),
        (Kind::Redis82, "redis-8.2.3"),
        (Kind::Valkey90, "valkey-9.0"),
        (Kind::Valkey91, "valkey-9.1.2"),
    ];
    let given = Kind::given().map(|kind| {
        let is_valkey = kind.is_valkey();
        (
            kind,
            if is_valkey {
                "valkey-9.1"
            } else {
                "redis-8.10"
            },
        )
    });
    for (kind, version) in downloaded.into_iter().chain(given) {
        let scratch = Scratch::new();
        let printed = succeeded(scratch.run(&["collect", "--acl", version]));
        let printed = String::from_utf8(printed).unwrap();
        let line = printed.trim_end().replace("PASSWORD", "a-secret");
        assert_eq!(line.lines().count(), 1, "{line}");

        let server = kind.start(&["--cluster-node-timeout", "1000"]);
        let mut client = server.connect();
        call_ok(&mut client, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
        testkit::redis::wait_for(|| {
            let info = client.call(&["CLUSTER", "INFO"]).text();
            info.contains("cluster_state:ok").then_some(()).ok_or(info)
        });
        let keys = fill(&mut client);
        let words: Vec<&str> = line.split(' ').collect();
        call_ok(&mut client, &words);

        let url = format!("redis://slotscope@127.0.0.1:{}", server.port);
        for level in [&[][..], &["--keys"], &["--slots-only"]] {
            let scratch = Scratch::new();
            let run = collect(&scratch, &url, Some("a-secret"), level);
            let manifest = manifest(&scratch, &run);
            // Counts by slot have no file of keys.
            let found = match level {
                ["--slots-only"] => &manifest["nodes"][0]["counted"],
                _ => &manifest["keys"],
            };
            assert_eq!(*found, keys, "{kind:?} {level:?}: {manifest}");
            let skipped = manifest["skipped"].list().iter();
            // Redis 7.0 does not know it yet.
            let is_new = |what: &&Value| !what.text().contains("NO-TOUCH");
            assert_eq!(skipped.filter(is_new).count(), 0, "{kind:?}: {manifest}");
        }

        if kind != Kind::Installed && kind != Kind::Redis74 {
            let series = ["--slots-only", "--every", "100ms", "--for", "300ms"];
            let scratch = Scratch::new();
            let run = collect(&scratch, &url, Some("a-secret"), &series);
            let manifest = manifest(&scratch, &run);
            assert_eq!(manifest["incomplete"], false, "{kind:?}: {manifest}");
            let lines = scratch.read("all/slot-stats.json");
            assert!(lines.lines().count() > 1, "{kind:?}: {lines}");
        }

        let mut limited = server.connect();
        call_ok(&mut limited, &["AUTH", "slotscope", "a-secret"]);
        for refused in [
            &["GET", "string"][..],
            &["SET", "string", "y"],
            &["KEYS", "*"],
            &["CONFIG", "GET", "*"],
            &["LRANGE", "list", "0", "-1"],
            &["DEL", "string"],
            &["DUMP", "string"],
            &["CLUSTER", "RESET"],
            &["ACL", "LIST"],
            &["MONITOR"],
            &["CLIENT", "KILL", "TYPE", "normal"],
            &["OBJECT", "HELP"],
        ] {
            match limited.call(refused) {
                Reply::Error(said) => {
                    assert!(said.starts_with("NOPERM"), "{kind:?} {refused:?}: {said}")
                }
                other => panic!("{kind:?} {refused:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_right_that_is_missing_is_named() {
    let scratch = Scratch::new();
    let server = Kind::Installed.start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    fill(&mut client);
    let line = succeeded(scratch.run(&["collect", "--acl", "redis-7.0"]));
    let line = String::from_utf8(line)
        .unwrap()
        .replace("PASSWORD", "a-secret")
        .replace(" +scan ", " ");
    call_ok(&mut client, &line.trim_end().split(' ').collect::<Vec<_>>());
    let url = format!("redis://slotscope@127.0.0.1:{}", server.port);
    let run = collect(&scratch, &url, Some("a-secret"), &[]);
    let said = testkit::run::stderr(&run);
    assert_contains(said, &["SCAN is refused", "--acl"]);
    assert_ne!(run.status.code(), Some(0));
}

#[test]
fn a_version_without_users_is_refused() {
    let scratch = Scratch::new();
    scratch.refuses("collect --acl 5.0 | --acl 5.0 | no users");
    assert_eq!(
        stdout(&scratch.run(&["collect", "--acl", "redis-6.0"]))
            .lines()
            .count(),
        1
    );
}

#[test]
fn the_right_to_monitor_is_printed_where_it_is_wanted() {
    let scratch = Scratch::new();
    let server = Kind::Installed.start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    fill(&mut client);
    let url = format!("redis://slotscope@127.0.0.1:{}", server.port);
    let monitor = ["--load", "100ms", "--monitor"];
    let mut collect_with = |flags: &[&str]| {
        let args = [&["collect", "--acl", "redis-7.0"], flags].concat();
        let line = String::from_utf8(succeeded(scratch.run(&args))).unwrap();
        let line = line.trim_end().replace("PASSWORD", "a-secret");
        call_ok(&mut client, &line.split(' ').collect::<Vec<_>>());
        collect(&Scratch::new(), &url, Some("a-secret"), &monitor)
    };
    let refused = collect_with(&[]);
    let said = testkit::run::stderr(&refused);
    assert_ne!(refused.status.code(), Some(0));
    assert!(said.contains("collect --acl SERVER --monitor"), "{said}");
    succeeded(collect_with(&["--monitor"]));
    assert_fails(
        &scratch.run(&["collect", &url, "--monitor"]),
        &["--monitor: ", "--load 10s"],
    );
}
