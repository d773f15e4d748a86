//! `collect --load`: the activity of all primaries over the same seconds, planted and found again.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::carried_out::probe::SetOnDrop;
use crate::collect::collected::manifest;
use slotscope::slot::slot;
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::{Reply, wait_for};

/// Keys of the even load.
const KEYS: usize = 300;
/// Servers that count by slot only if enabled.
const COUNTS: [&str; 2] = ["--cluster-slot-stats-enabled", "yes"];
/// A busy machine can stop a server for seconds; after this timeout the others consider it failed and refuse commands.
const TIMEOUT: [&str; 2] = ["--cluster-node-timeout", "60000"];

pub(super) fn start(kind: Kind) -> Cluster {
    let counts = !matches!(kind, Kind::Installed);
    let counting = COUNTS.iter().filter(|_| counts);
    let options: Vec<String> = TIMEOUT
        .iter()
        .chain(counting)
        .map(|of| (*of).to_owned())
        .collect();
    let cluster = Cluster::made_of(kind, &even(3), |_| options.clone());
    let keys = (0..KEYS).map(|id| format!("user:{id}"));
    let keys = keys.chain([String::from("cart:{hot}:1")]);
    cluster.set_all(keys.map(|key| (key, "a secret value")));
    cluster
}

/// While `run` runs, reads all keys repeatedly from their primaries, and the hot ones many times as often.
pub(super) fn under_load<R>(cluster: &Cluster, hot: &[&str], run: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    let keys: Vec<String> = (0..KEYS).map(|id| format!("user:{id}")).collect();
    thread::scope(|scope| {
        let client = |key: &str, commands: Vec<Vec<u8>>| {
            wait_for(
                || match cluster.owner_of(key.as_bytes()).call(&["GET", key]) {
                    Reply::Error(error) => Err(format!("{error:?}")),
                    _ => Ok(()),
                },
            );
            let (mut client, stop) = (cluster.owner_of(key.as_bytes()), &stop);
            scope.spawn(move || {
                let get = |key: &'_ Vec<u8>| -> Vec<Vec<u8>> { vec![b"GET".to_vec(), key.clone()] };
                let commands: Vec<Vec<Vec<u8>>> = commands.iter().map(get).collect();
                let words = commands
                    .iter()
                    .map(|words| words.iter().map(Vec::as_slice).collect());
                let mut commands: Vec<Vec<&[u8]>> = words.collect();
                while !stop.load(Relaxed) {
                    client.pipeline(&commands);
                    // The first command includes the server's wake-up time: rotate, so that it is for another key each
                    // time.
                    commands.rotate_left(1);
                    thread::sleep(Duration::from_millis(20));
                }
            });
        };
        for primary in 0..3 {
            let own = |key: &&String| cluster.owner(slot(key.as_bytes())) == primary;
            let own: Vec<Vec<u8>> = keys
                .iter()
                .filter(own)
                .map(|key| key.clone().into_bytes())
                .collect();
            let first = String::from_utf8(own[0].clone()).unwrap();
            client(&first, own);
        }
        for key in hot {
            client(key, vec![key.as_bytes().to_vec(); 10 * KEYS]);
        }
        let _end = SetOnDrop(&stop);
        run()
    })
}

/// A collection and its report.
fn collected(cluster: &Cluster, hot: &[&str], flags: &[&str]) -> (Scratch, String, Value) {
    let scratch = Scratch::new();
    let address = cluster.address(0);
    let said = under_load(cluster, hot, || {
        let args = [&["collect", &address, "-o", "out", "--load", "2s"], flags].concat();
        succeeded(scratch.run(&args))
    });
    let report = scratch.report(&["analyze", "out", "--json"]);
    (scratch, String::from_utf8(said).unwrap(), report)
}

fn role<'r>(report: &'r Value, role: &str) -> &'r Value {
    let roles = report["verdict"]["roles"].list();
    let mut found = roles.iter().filter(|of| of["role"] == role);
    found
        .next()
        .unwrap_or_else(|| panic!("no {role}: {roles:#?}"))
}

#[test]
fn a_hot_key_is_found_by_slot_where_servers_count_so_and_all_nodes_are_read_together() {
    for kind in [Kind::Redis82, Kind::Valkey91] {
        let cluster = start(kind);
        let (scratch, said, report) = collected(&cluster, &["cart:{hot}:1"], &[]);
        let load = manifest(&scratch.path("out")).load.unwrap();
        assert_eq!((load.nodes.len(), load.nodes_by_slot), (3, 3), "{said}");
        assert!(load.spread_secs < 0.1, "{load:?}");
        assert!((1.9..4.0).contains(&load.secs), "{load:?}");
        assert!(
            load.nodes.iter().all(|node| node.ops_per_sec > Some(100.0)),
            "{load:?}"
        );
        assert_contains(&said, &["load of 3 primaries over the same 2."]);
        let found = role(&report, "load");
        found.has(json!({"metric": "cpu", "state": "skewed"}));
        let hottest = &report["slots"]["hottest"];
        let by_cpu = report["slots"]["cpu"].list();
        let most = (0..by_cpu.len())
            .max_by_key(|at| by_cpu[*at].as_u64())
            .unwrap();
        assert_eq!(most, usize::from(slot(b"{hot}")), "{kind:?}: {hottest:#}");
        let named = &report["hot_slots"][0];
        assert_eq!(named["slot"], slot(b"{hot}"), "{named:#}");
        assert_eq!(named["listed"][0]["key"], "cart:{hot}:1", "{named:#}");
        assert!(named["cpu_share"].as_f64() > Some(0.3), "{named:#}");
        let text = scratch.run(&["analyze", "out", "--no-files", "--full"]);
        let text = stdout(&text);
        assert!(text.contains("; its key: cart:{hot}:1"), "{text}");
        let redacted = scratch.run(&["analyze", "out", "--json", "--redact"]);
        let listed = &testkit::run::report(&redacted)["hot_slots"][0]["listed"];
        assert!(
            listed.is_array() && !listed.to_string().contains("hot"),
            "{listed}"
        );
    }
}

#[test]
fn an_even_load_is_balanced() {
    let cluster = start(Kind::Valkey91);
    let (_, said, report) = collected(&cluster, &[], &[]);
    let state = role(&report, "load")["state"].text();
    assert!(
        ["balanced", "watch", "unjudged"].contains(&state),
        "{state}: {said}"
    );
}

#[test]
fn a_collection_of_counts_has_no_names_of_hot_slots() {
    let cluster = start(Kind::Valkey91);
    let (scratch, _, report) = collected(&cluster, &["cart:{hot}:1"], &["--slots-only"]);
    let load = manifest(&scratch.path("out")).load.unwrap();
    assert!(
        load.hot_slots.is_empty() && load.nodes_by_slot == 3,
        "{load:?}"
    );
    assert_eq!(report.get("hot_slots"), None);
}

#[test]
fn of_a_hot_tag_the_busiest_key_is_named_first_and_the_step_is_a_change_of_the_tag() {
    let cluster = start(Kind::Redis82);
    for id in 1..=3 {
        let key = format!("cart:{{hot}}:{id}");
        let size = "x".repeat(100 * (4 - id));
        cluster.owner_of(b"{hot}").call(&["SET", &key, &size]);
    }
    let hot = ["cart:{hot}:2", "cart:{hot}:3", "cart:{hot}:3"];
    let (_, _, report) = collected(&cluster, &hot, &["--monitor"]);
    let named = &report["hot_slots"][0];
    let names: Vec<&Value> = (0..3).map(|at| &named["listed"][at]["key"]).collect();
    assert_eq!(
        names,
        ["cart:{hot}:3", "cart:{hot}:2", "cart:{hot}:1"],
        "{named:#}"
    );
    assert!(named["listed"][0]["ops"].as_u64() > named["listed"][1]["ops"].as_u64());
    let steps = report["verdict"]["steps"].list();
    let kinds: Vec<&Value> = steps.iter().map(|step| &step["kind"]).collect();
    assert!(
        kinds
            .iter()
            .any(|kind| ["split", "cache"].contains(&kind.text())),
        "{steps:#?}"
    );
}

#[test]
fn monitor_names_the_hot_key_of_servers_that_count_nothing_by_slot_and_keeps_no_value() {
    let cluster = start(Kind::Installed);
    let (scratch, said, report) = collected(&cluster, &["cart:{hot}:1"], &["--monitor"]);
    let of = manifest(&scratch.path("out"));
    let load = of.load.unwrap();
    assert_eq!(load.nodes_by_slot, 0);
    assert!(
        of.skipped
            .iter()
            .any(|what| what.starts_with("load by slot: ")),
        "{:?}",
        of.skipped
    );
    let monitor = load.monitor.unwrap();
    assert_eq!(monitor.nodes.len(), 3);
    for node in &monitor.nodes {
        assert!(node.commands > 100 && !node.is_cut, "{node:?}");
        let file = std::fs::File::open(scratch.path("out").join(&node.file)).unwrap();
        let text = std::io::read_to_string(zstd::Decoder::new(file).unwrap()).unwrap();
        assert_eq!(text.lines().count() as u64, node.commands);
        assert!(text.contains("user:") && !text.contains("secret"));
    }
    assert!(said.contains("MONITOR for 2 s: "), "{said}");
    let found = role(&report, "load");
    found.has(json!({"metric": "cpu", "state": "skewed"}));
    assert_eq!(report["input"]["keys"], KEYS + 1);
    let tag = &report["tags"]["top"][0];
    assert_eq!(tag["tag"], "hot", "{tag:#}");
    let text = scratch.run(&["analyze", "out", "--no-files"]);
    assert!(stdout(&text).contains("{hot}"), "{}", stdout(&text));
}

#[test]
fn a_primary_that_is_down_does_not_keep_monitor_from_the_others() {
    let mut cluster = start(Kind::Installed);
    cluster.servers[2].stop();
    let scratch = Scratch::new();
    let address = cluster.address(0);
    let line = format!("analyze {address} --load 1s --monitor --keep out --timeout 2s");
    let args = words(&line);
    let output = scratch.run(&args);
    let text = stdout(&output);
    assert!(
        text.contains("DOWN"),
        "{text}{}",
        testkit::run::stderr(&output)
    );
    let of = manifest(&scratch.path("out"));
    let named = |what: &String| what.starts_with("MONITOR: ") && what.contains(&cluster.address(2));
    assert!(of.skipped.iter().any(named), "{:?}", of.skipped);
    assert_eq!(of.load.unwrap().monitor.unwrap().nodes.len(), 2);
}

#[test]
fn servers_that_count_by_slot_if_told_to_have_estimates_by_command_where_they_do_not() {
    let cluster = Cluster::made_of(Kind::Redis82, &even(3), |_| {
        TIMEOUT.map(String::from).to_vec()
    });
    let (_, _, report) = collected(&cluster, &["cart:{hot}:1"], &["--monitor"]);
    let found = role(&report, "load");
    found.has(json!({"metric": "cpu", "estimated": true}));
}

#[test]
fn the_time_of_scripts_on_servers_that_count_by_slot_is_that_of_their_process() {
    let cluster = start(Kind::Redis82);
    let key = "cart:{hot}:1";
    let is_over = AtomicBool::new(false);
    let scratch = Scratch::new();
    thread::scope(|scope| {
        let scripts = scope.spawn(|| {
            let mut client = cluster.owner_of(key.as_bytes());
            let burn = "for i = 1, 200000 do end return redis.call('GET', KEYS[1])";
            while !is_over.load(Relaxed) {
                client.call(&["EVAL", burn, "1", key]);
            }
        });
        let address = cluster.address(0);
        let args = ["collect", &address, "-o", "out", "--load", "2s"];
        let output = under_load(&cluster, &[], || scratch.run(&args));
        is_over.store(true, Relaxed);
        scripts.join().unwrap();
        succeeded(output);
    });
    let text = scratch.run(&["analyze", "out", "--no-files"]);
    let text = stdout(&text);
    let hot = format!("HOT  {} ", cluster.owner_address(key.as_bytes()));
    assert_contains(text, &[&hot, "is in no slot"]);
    assert!(!text.contains(" move "), "{text}");
}

#[test]
fn a_load_that_no_server_counts_by_slot_says_what_finds_hot_slots() {
    let cluster = start(Kind::Installed);
    let says_so = |report: &Value| {
        let warnings = report["input"]["warnings"].list();
        let found = warnings.iter().filter_map(Value::as_str);
        found.filter(|of| of.contains("not by slot")).count()
    };
    let (_, _, report) = collected(&cluster, &["cart:{hot}:1"], &[]);
    assert_eq!(says_so(&report), 1, "{:#}", report["input"]["warnings"]);
    let (_, _, report) = collected(&cluster, &["cart:{hot}:1"], &["--monitor"]);
    assert_eq!(says_so(&report), 0, "{:#}", report["input"]["warnings"]);
}

#[test]
fn commands_that_a_cluster_refuses_are_counted_though_monitor_does_not_show_them() {
    let cluster = start(Kind::Installed);
    let stop = AtomicBool::new(false);
    let (scratch, said, report) = thread::scope(|scope| {
        let (mut client, stop) = (cluster.owner_of(b"user:1"), &stop);
        scope.spawn(move || {
            for _ in 0..12_000 {
                if stop.load(Relaxed) {
                    break;
                }
                client.call(&["MGET", "user:1", "user:2"]);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let found = collected(&cluster, &["cart:{hot}:1"], &["--monitor"]);
        stop.store(true, Relaxed);
        found
    });
    assert!(said.contains("CROSSSLOT (mget)"), "{said}");
    let load = manifest(&scratch.path("out")).load.unwrap();
    let refused = load.nodes.iter().flat_map(|node| &node.refused.errors);
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].per_sec > 10.0, "{refused:?}");
    let risks = report["verdict"]["findings"].list();
    let of = risks.iter().find(|of| of["kind"] == "refused").unwrap();
    let sentence = of["sentence"].text();
    assert!(sentence.ends_with("with CROSSSLOT: MGET"), "{sentence}");
    let monitor = load.monitor.unwrap();
    let capture = format!("out/{}", monitor.nodes[0].file);
    let text = scratch.run(&["fanout", &capture, "--topology", "out/cluster.nodes"]);
    let shown: Vec<&str> = stdout(&text).split_whitespace().collect();
    let shown = shown.join(" ");
    assert_contains(&shown, &["shows no command that it refuses"]);
}
