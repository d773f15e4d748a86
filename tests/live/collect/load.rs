//! `collect --load`: the activity of all primaries over the same seconds, planted and found again.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::carried_out::probe::SetOnDrop;
use crate::collect::collected::manifest;
use slotscope::slot::slot;
use testkit::cluster::{Cluster, dear_read, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Client;

/// Keys of the even load.
const KEYS: usize = 300;
/// A key with much more load, and the length of its value.
const HOT: &str = "cart:{hot}:1";
pub(super) const LONG: usize = 128;

pub(super) fn start(kind: Kind) -> Cluster {
    let cluster = Cluster::counting(kind, KEYS);
    cluster.set_all([(HOT, "v".repeat(LONG))]);
    cluster
}

/// While `run` runs, reads all keys repeatedly from their primaries, and the hot ones many times as often, and dearly. They
/// are of one tag and read in turn: a key that is named twice has twice the reads.
pub(super) fn under_load<R>(cluster: &Cluster, hot: &[&str], run: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let read = |mut client: Client, keys: Vec<String>, command: fn(&str) -> Vec<&[u8]>| {
            let stop = &stop;
            scope.spawn(move || {
                let mut reads: Vec<_> = keys.iter().map(|key| command(key)).collect();
                while !stop.load(Relaxed) {
                    client.pipeline(&reads);
                    // The first command includes the server's wake-up time: rotate, so that it is for another key each
                    // time.
                    reads.rotate_left(1);
                    thread::sleep(Duration::from_millis(20));
                }
            });
        };
        for primary in 0..3 {
            let keys = (0..KEYS).map(|id| format!("user:{id}"));
            let is_own = |key: &String| cluster.owner(slot(key.as_bytes())) == primary;
            let keys = keys.filter(is_own).collect();
            read(cluster.servers[primary].connect(), keys, |key| {
                vec![b"GET", key.as_bytes()]
            });
        }
        if let Some(first) = hot.first() {
            let keys = hot.iter().cycle().take(3 * KEYS);
            let keys = keys.map(|key| (*key).to_owned()).collect();
            read(cluster.owner_of(first.as_bytes()), keys, dear_read);
        }
        let _end = SetOnDrop(&stop);
        run()
    })
}
/// A collection and its report.
fn collected(cluster: &Cluster, hot: &[&str], flags: &str) -> (Scratch, String, Value) {
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let line = format!("collect {address} -o out --load 2s {flags}");
    let said = under_load(cluster, hot, || scratch.text(&line));
    let report = scratch.report("analyze out --json");
    (scratch, said, report)
}
fn role<'r>(report: &'r Value, role: &str) -> &'r Value {
    let roles = report["verdict"]["roles"].list();
    let found = roles.iter().find(|of| of["role"] == role);
    found.unwrap_or_else(|| panic!("no {role}: {roles:#?}"))
}
#[test]
fn a_hot_key_is_found_by_slot_where_servers_count_so() {
    for kind in [Kind::Redis82, Kind::Valkey91] {
        println!("{kind:?}");
        let cluster = start(kind);
        let begun = Instant::now();
        let (scratch, said, report) = collected(&cluster, &[HOT], "");
        let took = begun.elapsed().as_secs_f64();
        let load = manifest(&scratch).load.unwrap();
        assert_eq!((load.nodes.len(), load.nodes_by_slot), (3, 3), "{said}");
        assert!((1.9..took).contains(&load.secs), "{took} s: {load:?}");
        let mut nodes = load.nodes.iter();
        assert!(nodes.all(|node| node.ops_per_sec > Some(100.0)), "{load:?}");
        let secs = load.secs;
        said.says(&format!("load of 3 primaries over the same {secs:.1} s"));
        role(&report, "load").has(json!({"metric": "cpu", "state": "skewed"}));
        let by_cpu = report["slots"]["cpu"].list();
        let most = (0..by_cpu.len()).max_by_key(|at| by_cpu[*at].as_u64());
        assert_eq!(
            most,
            Some(slot(b"{hot}").into()),
            "{:#}",
            report["slots"]["hottest"]
        );
        let named = &report["hot_slots"][0];
        named.has(json!({"slot": slot(b"{hot}"), "listed": [{"key": HOT}]}));
        assert!(named["cpu_share"].as_f64() > Some(0.3), "{named:#}");
        scratch
            .text("analyze out --no-files --full")
            .says("; its key: cart:{hot}:1");
        let redacted = scratch.report("analyze out --json --redact");
        let listed = &redacted["hot_slots"][0]["listed"];
        assert!(listed.is_array(), "{listed}");
        listed.to_string().lacks("hot");

        // Counts have no names.
        let (scratch, _, report) = collected(&cluster, &[HOT], "--slots-only");
        let load = manifest(&scratch).load.unwrap();
        assert_eq!(
            (load.hot_slots.len(), load.nodes_by_slot),
            (0, 3),
            "{load:?}"
        );
        assert_eq!(report.get("hot_slots"), None);
    }
}

#[test]
fn of_a_hot_tag_the_busiest_key_is_named_first_and_the_step_is_a_change_of_the_tag() {
    let cluster = start(Kind::Redis82);
    let keys = [1, 2, 3].map(|id| format!("cart:{{hot}}:{id}"));
    let sizes = [300, 200, 100].map(|size| "x".repeat(size));
    cluster.set_all(keys.iter().zip(sizes));
    let [one, two, three] = keys.each_ref().map(String::as_str);
    let (_, _, report) = collected(&cluster, &[two, three, three], "--monitor");
    let listed = report["hot_slots"][0]["listed"].list();
    let names: Vec<&Value> = listed.iter().map(|of| &of["key"]).take(3).collect();
    assert_eq!(names, [three, two, one], "{listed:#?}");
    assert!(listed[0]["ops"].as_u64() > listed[1]["ops"].as_u64());
    let steps = report["verdict"]["steps"].list();
    let mut kinds = steps.iter().map(|step| step["kind"].text());
    assert!(
        kinds.any(|kind| ["split", "cache"].contains(&kind)),
        "{steps:#?}"
    );
}

/// Warnings that the load is not known by slot.
fn by_node_only(report: &Value) -> usize {
    let warnings = report["input"]["warnings"].to_string();
    warnings.matches("not by slot").count()
}

#[test]
fn monitor_names_the_hot_key_of_servers_that_count_nothing_by_slot_and_keeps_no_value() {
    let mut cluster = start(Kind::Installed);
    let (_, _, without) = collected(&cluster, &[HOT], "");
    assert_eq!(
        by_node_only(&without),
        1,
        "{:#}",
        without["input"]["warnings"]
    );
    let stop = AtomicBool::new(false);
    let (scratch, said, report) = thread::scope(|scope| {
        let (mut client, stop) = (cluster.owner_of(b"user:1"), &stop);
        // Commands that are refused are counted, though MONITOR does not show them.
        scope.spawn(move || {
            while !stop.load(Relaxed) {
                client.pipeline(&vec![vec![&b"MGET"[..], b"user:1", b"user:2"]; 50]);
                thread::sleep(Duration::from_millis(5));
            }
        });
        let _end = SetOnDrop(stop);
        collected(&cluster, &[HOT], "--monitor")
    });
    assert_eq!(
        by_node_only(&report),
        0,
        "{:#}",
        report["input"]["warnings"]
    );
    let of = manifest(&scratch);
    let load = of.load.unwrap();
    assert_eq!(load.nodes_by_slot, 0);
    of.skipped.concat().says("load by slot: ");
    let monitor = load.monitor.unwrap();
    assert_eq!(monitor.nodes.len(), 3);
    for node in &monitor.nodes {
        assert!(node.commands > 100 && !node.is_cut, "{node:?}");
        let file = std::fs::File::open(scratch.path("out").join(&node.file)).unwrap();
        let text = std::io::read_to_string(zstd::Decoder::new(file).unwrap()).unwrap();
        assert_eq!(text.lines().count() as u64, node.commands);
        text.says("user:").lacks("secret");
    }
    said.says("MONITOR for 2 s: ");
    role(&report, "load").has(json!({"metric": "cpu", "state": "skewed"}));
    assert_eq!(report["input"]["keys"], KEYS + 1);
    report["tags"]["top"][0].has(json!({"tag": "hot"}));
    scratch.text("analyze out --no-files").says("{hot}");

    let refused = load.nodes.iter().flat_map(|node| &node.refused.errors);
    let refused: Vec<_> = refused.collect();
    assert!(
        refused.len() == 1 && refused[0].per_sec > 0.0,
        "{refused:?}"
    );
    let risks = report["verdict"]["findings"].list();
    let of = risks.iter().find(|of| of["kind"] == "refused").unwrap();
    of["sentence"].text().ends("with CROSSSLOT: MGET");
    let capture = format!("out/{}", monitor.nodes[0].file);
    let text = scratch.text(&format!("fanout {capture} --topology out/cluster.nodes"));
    on_one_line(&text).says("shows no command that it refuses");

    // A primary that is down does not keep MONITOR from the others.
    cluster.servers[2].stop();
    let (scratch, address) = (Scratch::new(), cluster.address(0));
    let line = "--load 1s --monitor --keep out --timeout 60s";
    let output = scratch.run(&format!("analyze {address} {line}"));
    stdout(&output).says("DOWN");
    let of = manifest(&scratch);
    let lost = cluster.address(2);
    let is_named = |what: &String| what.starts_with("MONITOR: ") && what.contains(&lost);
    assert!(of.skipped.iter().any(is_named), "{:?}", of.skipped);
    assert_eq!(of.load.unwrap().monitor.unwrap().nodes.len(), 2);
}

#[test]
fn servers_that_count_by_slot_if_told_to_have_estimates_by_command_where_they_do_not() {
    let cluster = Cluster::of(Kind::Redis82, &even(3));
    cluster.set_all([(HOT, "v".repeat(LONG))]);
    let (_, _, report) = collected(&cluster, &[HOT], "--monitor");
    role(&report, "load").has(json!({"metric": "cpu", "estimated": true}));
}

#[test]
fn the_time_of_scripts_on_servers_that_count_by_slot_is_that_of_their_process() {
    let (cluster, scratch) = (start(Kind::Redis82), Scratch::new());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut client = cluster.owner_of(HOT.as_bytes());
            let burn = "for i = 1, 200000 do end return redis.call('GET', KEYS[1])";
            let script: Vec<&[u8]> = vec![b"EVAL", burn.as_bytes(), b"1", HOT.as_bytes()];
            while !is_over.load(Relaxed) {
                client.pipeline(&vec![script.clone(); 20]);
            }
        });
        let _end = SetOnDrop(&is_over);
        let line = format!("collect {} -o out --load 2s", cluster.address(0));
        under_load(&cluster, &[], || scratch.text(&line))
    });
    let text = scratch.text("analyze out --no-files");
    text.says(&format!("HOT  {} ", cluster.owner_address(HOT.as_bytes())));
    text.says("is in no slot").lacks(" move ");
}
