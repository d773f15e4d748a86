//! A hot shard of a running cluster, as a collection of it shows: which key burns the core, and what helps.

use std::iter::repeat_n;

use slotscope::source::collection::load::{
    CommandWork, HotKey, HotSlotKeys, LoadEntry, MonitorEntry, MonitorNode, NodeWork, Refused,
    RefusedWork,
};
use slotscope::source::collection::servers::ServerReading;
use testkit::prelude::*;

use crate::verdict::scene::{Scene, address, light, of_node, readings, slot_of};

const KEYS: usize = 6000;
/// In slot 6598, of the second node.
const BOARD: &str = "board:global";

/// Commands of ten seconds.
type Commands = Vec<(&'static str, String)>;

/// Even reads; on the second node a board whose reads are slow, and a tag with `writes` writes.
fn commands(reads: usize, writes: usize) -> [Commands; 3] {
    let topology = Scene::even(3).topology();
    let mut of = [0, 1, 2].map(|node| -> Commands {
        let own = of_node(&topology, node, 3000, "get").into_iter();
        own.flat_map(|read| repeat_n(read, reads)).collect()
    });
    of[1].extend(repeat_n(("zrevrange", BOARD.into()), 2000));
    let item = |at: usize| format!("{{flash-sale}}:item:{}", at % 3000);
    of[1].extend((0..writes).map(|at| ("hincrby", item(at))));
    of
}

/// The load of three primaries that use these fractions of a core, and what commands take.
pub(super) fn load(cpu: [Option<f64>; 3], costs: &[(&str, f64)]) -> LoadEntry {
    let cost = |(command, usec): &(&str, f64)| CommandWork {
        name: (*command).into(),
        calls_per_sec: 100.0,
        usec_per_call: *usec,
        share: 0.5,
    };
    let work = |(at, cpu): (usize, Option<f64>)| NodeWork {
        id: Some(format!("node{at}")),
        name: address(at),
        secs: 10.0,
        ops_per_sec: Some(2000.0),
        cpu,
        commands: costs.iter().map(cost).collect(),
        ..NodeWork::default()
    };
    LoadEntry {
        secs: 10.0,
        nodes: cpu.into_iter().enumerate().map(work).collect(),
        ..LoadEntry::default()
    }
}

/// The same of servers that count CPU time by slot.
fn load_by_slot(cpu: [f64; 3], costs: &[(&str, f64)]) -> LoadEntry {
    LoadEntry {
        nodes_by_slot: 3,
        ..load(cpu.map(Some), costs)
    }
}

/// The collection of a cluster with this load.
pub(super) fn shop(load: LoadEntry) -> Scene {
    Scene::even(3)
        .keys("key,size", light(KEYS, ",100"))
        .and([format!("{BOARD},5000")])
        .servers([0; 3].map(|_| ServerReading::default()))
        .collected(|manifest| (manifest.cluster, manifest.load) = (true, Some(load)))
}

/// The same with captures.
fn captured(mut load: LoadEntry, captures: [Commands; 3]) -> Scratch {
    let node = |at: usize| MonitorNode {
        name: address(at),
        file: format!("{}.monitor", address(at).replace(':', "-")),
        secs: 10.0,
        ..MonitorNode::default()
    };
    load.monitor = Some(MonitorEntry {
        secs: 10.0,
        nodes: (0..3).map(node).collect(),
    });
    let of_node =
        |scene: Scene, (at, commands): (usize, &Commands)| scene.monitor(at, 10, commands);
    captures
        .iter()
        .enumerate()
        .fold(shop(load), of_node)
        .written()
}

/// The same with the CPU time of slots in ten seconds: of every slot this much, and of slot 6598 that much.
fn by_slot(load: LoadEntry, each: u64, hot: u64) -> Scratch {
    let used = |slot: u16| if slot == 6598 { hot } else { each };
    let scene = shop(load).slot_stats(&readings(10, &|_| 0, &used));
    scene.written()
}

/// The sentences of the steps.
fn steps(scratch: &Scratch) -> String {
    let found = scratch.report("analyze shop --json");
    found["verdict"]["steps"].each("sentence").to_string()
}

fn shown(scratch: &Scratch) -> String {
    on_one_line(stdout(&scratch.run("analyze shop --no-files")))
}

const COSTS: [(&str, f64); 3] = [("zrevrange", 350.0), ("hincrby", 2.0), ("get", 2.5)];

#[test]
fn captured_commands_weigh_what_they_take_so_the_slow_key_is_blamed_and_not_the_busy_tag() {
    let scratch = captured(load([0.01, 0.4, 0.01].map(Some), &COSTS), commands(1, 3500));
    let text = shown(&scratch);
    text.begins("HOT 10.0.0.2 uses 2.9")
        .says("because of key board:global")
        .says("; estimated by command")
        .says("1 now: cache key board:global")
        .says("-> idle");
    let found = scratch.report("analyze shop --json");
    assert_eq!(found["verdict"]["roles"][1]["metric"], "cpu");
    // The cache leaves next to nothing of the load, and no slot moves for that.
    let steps = &found["verdict"]["steps"];
    assert_eq!(steps.list().len(), 1, "{steps}");
    assert_eq!(steps[0]["after"]["load"]["state"], "unjudged");
    // 2,000 calls of 350 µs, and the size in the dump.
    let key = &found["keys"]["top"][0];
    key.has(json!({"key": BOARD, "bytes": 5000}));
    near(key["cpu"].float(), 700_000.0, 5000.0);
}

#[test]
fn what_no_list_shows_of_a_key_is_not_0() {
    let mut captures = commands(1, 0);
    captures[1].extend(repeat_n(("get", "{new}:key".into()), 9000));
    let scratch = captured(load([Some(0.4); 3], &[]), captures);
    let found = scratch.report("analyze shop --json");
    found["keys"]["top"][0].has(json!({"key": "{new}:key", "bytes": null}));
}

#[test]
fn a_tag_that_is_written_is_not_cached_however_much_others_are_read() {
    for writes in [3500, 25_000] {
        // Most operations of the cluster are reads.
        let mut captures = commands(6, writes);
        captures[1].retain(|(command, _)| *command != "zrevrange");
        let scratch = captured(load([Some(0.4); 3], &[]), captures);
        let text = shown(&scratch);
        text.says("hash tag {flash-sale}")
            .lacks("cache hash tag")
            .lacks("operations are reads");
        let is_split = text.contains("split hash tag {flash-sale}");
        assert_eq!(is_split, writes == 25_000, "{text}");
        let says_why = steps(&scratch).contains("a cache does not help: it is mostly written");
        assert_eq!(says_why, is_split, "{text}");
    }
}

#[test]
fn a_tag_that_is_read_by_many_keys_is_cached_with_its_own_reads() {
    let mut captures = commands(1, 9000);
    for (commands, verb) in captures.iter_mut().zip(["set", "hget", "set"]) {
        commands.iter_mut().for_each(|(command, _)| *command = verb);
    }
    let scratch = captured(load([Some(0.4); 3], &[]), captures);
    let cached = "cache hash tag {flash-sale} in the client (100.0% of its operations are reads)";
    steps(&scratch).says(cached);
}

#[test]
fn a_hot_process_has_its_busiest_command_and_a_step_that_names_the_key() {
    let load = load([0.01, 0.6, 0.01].map(Some), &[("zrevrange", 900.0)]);
    let step = "1 find the hot slots and keys: MONITOR for a few seconds names them slotscope analyze \
        redis://10.0.0.1:6379 --load 10s --monitor";
    shown(&shop(load).written())
        .says("60.0% of a core; ZREVRANGE takes 50.0% of it")
        .says(step);
}

#[test]
fn a_hot_slot_without_a_name_has_a_step_that_finds_its_key_and_names_the_largest() {
    let mut load = load_by_slot([0.02, 0.4, 0.02], &[]);
    let listed = [(BOARD, 5000), ("user:1", 100)].map(|(key, bytes)| HotKey {
        key: key.into(),
        bytes: Some(bytes),
    });
    load.hot_slots = vec![HotSlotKeys {
        slot: 6598,
        cpu_share: 0.9,
        keys: 4,
        listed: listed.to_vec(),
    }];
    let step = "1 find the hot key of slot 6598: MONITOR for a few seconds names it; of its 4 keys the \
        largest is board:global (4.88 KiB) slotscope analyze redis://10.0.0.1:6379 --load 10s --monitor";
    shown(&by_slot(load, 10, 4_000_000)).says(step);
}

#[test]
fn a_cluster_that_uses_less_than_2_percent_of_a_core_is_idle_by_slots_too() {
    for (hot, cpu, state) in [(21_000, 0.015, "balanced"), (4_000_000, 0.4, "skewed")] {
        let scratch = by_slot(load_by_slot([0.01, cpu, 0.01], &[]), 0, hot);
        let found = scratch.report("analyze shop --json");
        assert_eq!(found["verdict"]["state"], state, "{hot}");
    }
}

#[test]
fn time_of_scripts_is_in_no_slot_and_nodes_are_then_judged_by_their_processes() {
    let found = |cpu: [f64; 3]| {
        // Slots of the second node: a tenth of a core, 1.57 shares.
        let scratch = by_slot(load_by_slot(cpu, &[("eval", 900.0)]), 90, 600_000);
        let text = shown(&scratch);
        let planned = scratch.run("plan shop");
        (text, stdout(&planned).to_owned())
    };
    let (text, planned) = found([0.08, 0.5, 0.08]);
    let expected = "HOT 10.0.0.2 uses 2.27× its share of CPU time, 50.0% of a core; EVAL takes 50.0% of it; \
        78.2% of the CPU time is in no slot (scripts, transactions, network)";
    text.says(expected).lacks("move ");
    planned.says("nothing to move");
    // Network and parsing follow the commands.
    found([0.3, 0.65, 0.3]).0.lacks("in no slot");
}

#[test]
fn a_primary_that_came_back_empty_may_have_lost_its_data_and_no_dump_is_missing() {
    let topology = Scene::even(3).topology();
    let shown = |incomplete: bool| {
        let kept = light(KEYS, ",100").filter(|row| topology.owner(slot_of(row)) != Some(2));
        let scene = shop(load([Some(0.1); 3], &[])).keys("key,size", kept);
        shown(&scene.collected(|of| of.incomplete = incomplete).written())
    };
    shown(false)
        .says("SUSPICIOUS 10.0.0.3:6379 is empty: it may have lost its data")
        .lacks("take the dump again")
        .lacks("dump is missing")
        .says("restore them from its last backup");
    // An incomplete collection may lack the keys itself.
    shown(true).says("take the dump again");
}

#[test]
fn a_primary_that_failed_and_lost_its_slots_is_down_and_not_empty() {
    let scratch = shop(load([Some(0.1); 3], &[])).written();
    let listing = scratch.read("shop/cluster.nodes");
    let dead = "d 10.0.0.9:6379@1 master,fail - 1 1 9 disconnected\n";
    scratch.file("shop/cluster.nodes", listing + dead);
    shown(&scratch)
        .says("10.0.0.9 is down; it owns no slots, as after a failover")
        .lacks("primary 10.0.0.9");
}

#[test]
fn what_servers_refuse_is_a_risk_as_no_capture_shows_it() {
    let mut load = load([Some(0.2); 3], &[]);
    let refused = |name: &str, per_sec: f64| Refused {
        name: name.into(),
        per_sec,
    };
    load.nodes[1].refused = RefusedWork {
        errors: vec![refused("MOVED", 900.0), refused("CROSSSLOT", 480.2)],
        commands: vec![refused("mget", 300.0), refused("sunionstore", 180.0)],
    };
    let risk = "10.0.0.2 refuses 480 commands a second with CROSSSLOT: MGET, SUNIONSTORE";
    shown(&shop(load).written()).says(risk).lacks("MOVED");
}

#[test]
fn a_capture_of_an_idle_node_is_not_a_failure_of_redis_cli() {
    let mut captures = commands(1, 100);
    captures[0].clear();
    let scratch = captured(load([Some(0.2); 3], &[]), captures);
    scratch
        .prose("analyze shop --no-files --full")
        .says("MONITOR saw no command on a key in 10 s")
        .lacks("is empty")
        .lacks("captured");
    let nodes = &scratch.report("analyze shop --json")["nodes"]["list"];
    assert!(nodes.each("ops").list().contains(&0.into()), "{nodes}");
}
