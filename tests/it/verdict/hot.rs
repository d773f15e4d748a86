//! A hot shard of a running cluster, as a collection of it shows: which key burns the core, and what helps.

use slotscope::slot::slot;
use slotscope::source::collection::load::{
    CommandWork, HotKey, HotSlotKeys, LoadEntry, MonitorEntry, MonitorNode, NodeWork, Refused,
    RefusedWork,
};
use slotscope::source::collection::manifest::example;
use slotscope::source::collection::servers::{ServerEntry, ServerReading};
use testkit::prelude::*;

const IDS: [&str; 3] = ["a", "b", "c"];
const RANGES: [(u16, u16); 3] = [(0, 5460), (5461, 10_922), (10_923, 16_383)];
const KEYS: usize = 6000;
/// In slot 6598, of the second node.
const BOARD: &str = "board:global";

fn name(at: usize) -> String {
    format!("10.0.0.{at}:6379")
}

fn node_of(key: &str) -> usize {
    let slot = slot(key.as_bytes());
    RANGES.iter().position(|(_, last)| slot <= *last).unwrap()
}

/// Commands of ten seconds: the word, the key and how often.
type Commands = Vec<(&'static str, String, usize)>;

/// Even reads; on the second node a board that is read slowly, and a tag that is written `writes` times.
fn commands(writes: usize) -> [Commands; 3] {
    let mut of = [const { Vec::new() }; 3];
    for user in 0..3000 {
        let key = format!("user:{user}");
        of[node_of(&key)].push(("get", key, 1));
    }
    of[1].push(("zrevrange", BOARD.into(), 2000));
    for item in 0..writes {
        let key = format!("{{flash-sale}}:item:{}", item % 3000);
        of[1].push(("hincrby", key, 1));
    }
    of
}

pub(super) struct Hot {
    pub load: LoadEntry,
    captures: [Commands; 3],
}

impl Hot {
    /// Load without captures, and what commands take.
    pub(super) fn new(cpu: [f64; 3], costs: &[(&str, f64)]) -> Hot {
        let work = |(at, cpu): (usize, f64)| NodeWork {
            id: Some(IDS[at].into()),
            name: name(at),
            secs: 10.0,
            ops_per_sec: Some(2000.0),
            cpu: Some(cpu),
            commands: costs
                .iter()
                .map(|(command, usec)| CommandWork {
                    name: (*command).into(),
                    calls_per_sec: 100.0,
                    usec_per_call: *usec,
                    share: 0.5,
                })
                .collect(),
            ..NodeWork::default()
        };
        Hot {
            load: LoadEntry {
                secs: 10.0,
                nodes: cpu.into_iter().enumerate().map(work).collect(),
                ..LoadEntry::default()
            },
            captures: Default::default(),
        }
    }

    fn captured(mut self, captures: [Commands; 3]) -> Hot {
        let node = |at: usize| MonitorNode {
            name: name(at),
            file: format!("{at}.monitor"),
            secs: 10.0,
            ..MonitorNode::default()
        };
        self.load.monitor = Some(MonitorEntry {
            secs: 10.0,
            nodes: (0..3).map(node).collect(),
        });
        self.captures = captures;
        self
    }

    /// Writes it as the collection `shop`.
    pub(super) fn write(self, scratch: &Scratch) {
        std::fs::create_dir_all(scratch.path("shop")).unwrap();
        let mut manifest = example(&["a.csv"]);
        manifest.cluster = true;
        (manifest.keys, manifest.nodes[0].keys) = (KEYS as u64 + 1, KEYS as u64 + 1);
        let server = |(at, id): (usize, &str)| ServerEntry {
            after: Some(ServerReading::default()),
            ..ServerEntry::of(Some(id.into()), name(at))
        };
        manifest.servers = IDS.into_iter().enumerate().map(server).collect();
        if self.load.monitor.is_some() {
            for (at, commands) in self.captures.iter().enumerate() {
                scratch.file(&format!("shop/{at}.monitor"), lines(commands));
            }
        }
        manifest.load = Some(self.load);
        scratch.file("shop/collect.json", json!(manifest).to_string());
        let rows: String = (0..KEYS).map(|i| format!("user:{i},100\n")).collect();
        scratch.file("shop/a.csv", format!("key,size\n{BOARD},5000\n{rows}"));
        let line = |at: usize| {
            let (id, name, (first, last)) = (IDS[at], name(at), RANGES[at]);
            format!("{id} {name}@1 master - 0 0 {at} connected {first}-{last}\n")
        };
        scratch.file("shop/cluster.nodes", (0..3).map(line).collect::<String>());
    }
}

/// Lines of MONITOR, evenly over ten seconds.
fn lines(commands: &Commands) -> String {
    let count: usize = commands.iter().map(|(.., times)| times).sum();
    let each = commands.iter().flat_map(|of| std::iter::repeat_n(of, of.2));
    let lines = each.enumerate().map(|(at, (command, key, _))| {
        let ms = 10_000 * at / count.max(2).saturating_sub(1);
        let (second, ms) = (1_795_341_600 + ms / 1000, ms % 1000);
        format!("{second}.{ms:03}000 [0 127.0.0.1:5] \"{command}\" \"{key}\" \"1\"\n")
    });
    lines.collect()
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
    let scratch = Scratch::new();
    let hot = Hot::new([0.01, 0.4, 0.01], &COSTS);
    hot.captured(commands(3500)).write(&scratch);
    let text = shown(&scratch);
    text.begins("HOT 10.0.0.1 uses 2.9")
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
    let scratch = Scratch::new();
    let mut captures = commands(0);
    captures[1].push(("get", "{new}:key".into(), 9000));
    Hot::new([0.4; 3], &[]).captured(captures).write(&scratch);
    let found = scratch.report("analyze shop --json");
    found["keys"]["top"][0].has(json!({"key": "{new}:key", "bytes": null}));
}

#[test]
fn a_tag_that_is_written_is_not_cached_however_much_others_are_read() {
    for writes in [3500, 25_000] {
        let scratch = Scratch::new();
        let mut captures = commands(writes);
        // Most operations of the cluster are reads.
        for capture in &mut captures {
            capture.iter_mut().for_each(|(command, _, times)| {
                *times *= if *command == "get" { 6 } else { 1 };
            });
        }
        captures[1].retain(|(command, ..)| *command != "zrevrange");
        Hot::new([0.4; 3], &[]).captured(captures).write(&scratch);
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
    let scratch = Scratch::new();
    let mut captures = commands(9000);
    for (commands, verb) in captures.iter_mut().zip(["set", "hget", "set"]) {
        commands
            .iter_mut()
            .for_each(|(command, ..)| *command = verb);
    }
    Hot::new([0.4; 3], &[]).captured(captures).write(&scratch);
    let cached = "cache hash tag {flash-sale} in the client (100.0% of its operations are reads)";
    steps(&scratch).says(cached);
}

#[test]
fn a_hot_process_has_its_busiest_command_and_a_step_that_names_the_key() {
    let scratch = Scratch::new();
    Hot::new([0.01, 0.6, 0.01], &[("zrevrange", 900.0)]).write(&scratch);
    let step = "1 find the hot slots and keys: MONITOR for a few seconds names them slotscope analyze \
        redis://10.0.0.0:6379 --load 10s --monitor";
    shown(&scratch)
        .says("60.0% of a core; ZREVRANGE takes 50.0% of it")
        .says(step);
}

/// CPU time by slot, in two readings of ten seconds: of every slot this much, and of slot 6598 that much.
fn slot_stats(each: u64, hot: u64) -> String {
    let line = |(second, at): (u32, usize)| {
        let (first, last) = RANGES[at];
        let row = |slot| {
            let cpu = match second {
                0 => 0,
                _ if slot == 6598 => hot,
                _ => each,
            };
            json!([slot, {"key-count": 1, "cpu-usec": cpu}])
        };
        let slots: Vec<Value> = (first..=last).map(row).collect();
        let time = format!("2026-11-22T10:00:{second:02}Z");
        format!(
            "{}\n",
            json!({"time": time, "node": name(at), "slots": slots})
        )
    };
    let readings = [(0, 0), (0, 1), (0, 2), (10, 0), (10, 1), (10, 2)];
    readings.map(line).concat()
}

#[test]
fn a_hot_slot_without_a_name_has_a_step_that_finds_its_key_and_names_the_largest() {
    let scratch = Scratch::new();
    let mut hot = Hot::new([0.02, 0.4, 0.02], &[]);
    hot.load.nodes_by_slot = 3;
    let listed = [(BOARD, 5000), ("user:1", 100)].map(|(key, bytes)| HotKey {
        key: key.into(),
        bytes: Some(bytes),
    });
    hot.load.hot_slots = vec![HotSlotKeys {
        slot: 6598,
        cpu_share: 0.9,
        keys: 4,
        listed: listed.to_vec(),
    }];
    hot.write(&scratch);
    scratch.file("shop/slot-stats.json", slot_stats(10, 4_000_000));
    let step = "1 find the hot key of slot 6598: MONITOR for a few seconds names it; of its 4 keys the \
        largest is board:global (4.88 KiB) slotscope analyze redis://10.0.0.0:6379 --load 10s --monitor";
    shown(&scratch).says(step);
}

#[test]
fn a_cluster_that_uses_less_than_2_percent_of_a_core_is_idle_by_slots_too() {
    for (hot, cpu, state) in [(21_000, 0.015, "balanced"), (4_000_000, 0.4, "skewed")] {
        let scratch = Scratch::new();
        let mut collected = Hot::new([0.01, cpu, 0.01], &[]);
        collected.load.nodes_by_slot = 3;
        collected.write(&scratch);
        scratch.file("shop/slot-stats.json", slot_stats(0, hot));
        let found = scratch.report("analyze shop --json");
        assert_eq!(found["verdict"]["state"], state, "{hot}");
    }
}

#[test]
fn time_of_scripts_is_in_no_slot_and_nodes_are_then_judged_by_their_processes() {
    let found = |cpu: [f64; 3]| {
        let scratch = Scratch::new();
        let mut hot = Hot::new(cpu, &[("eval", 900.0)]);
        hot.load.nodes_by_slot = 3;
        hot.write(&scratch);
        // Slots of the second node: a tenth of a core, 1.57 shares.
        scratch.file("shop/slot-stats.json", slot_stats(90, 600_000));
        let text = shown(&scratch);
        let planned = scratch.run("plan shop");
        (text, stdout(&planned).to_owned())
    };
    let (text, planned) = found([0.08, 0.5, 0.08]);
    let expected = "HOT 10.0.0.1 uses 2.27× its share of CPU time, 50.0% of a core; EVAL takes 50.0% of it; \
        78.2% of the CPU time is in no slot (scripts, transactions, network)";
    text.says(expected).lacks("move ");
    planned.says("nothing to move");
    // Network and parsing follow the commands.
    found([0.3, 0.65, 0.3]).0.lacks("in no slot");
}

#[test]
fn a_primary_that_came_back_empty_may_have_lost_its_data_and_no_dump_is_missing() {
    let scratch = Scratch::new();
    Hot::new([0.1; 3], &[]).write(&scratch);
    let kept = (0..KEYS)
        .map(|i| format!("user:{i}"))
        .filter(|key| node_of(key) != 2);
    let rows: String = kept.map(|key| format!("{key},100\n")).collect();
    let keys = rows.lines().count();
    scratch.file("shop/a.csv", format!("key,size\n{rows}"));
    let mut manifest = scratch.json("shop/collect.json");
    (manifest["keys"], manifest["nodes"][0]["keys"]) = (keys.into(), keys.into());
    scratch.file("shop/collect.json", manifest.to_string());
    shown(&scratch)
        .says("SUSPICIOUS 10.0.0.2:6379 is empty: it may have lost its data")
        .lacks("take the dump again")
        .lacks("dump is missing")
        .says("restore them from its last backup");
    // An incomplete collection may lack the keys itself.
    manifest["incomplete"] = true.into();
    scratch.file("shop/collect.json", manifest.to_string());
    shown(&scratch).says("take the dump again");
}

#[test]
fn a_primary_that_failed_and_lost_its_slots_is_down_and_not_empty() {
    let scratch = Scratch::new();
    Hot::new([0.1; 3], &[]).write(&scratch);
    let listing = scratch.read("shop/cluster.nodes");
    let dead = "d 10.0.0.9:6379@1 master,fail - 1 1 9 disconnected\n";
    scratch.file("shop/cluster.nodes", listing + dead);
    shown(&scratch)
        .says("10.0.0.9 is down; it owns no slots, as after a failover")
        .lacks("primary 10.0.0.9");
}

#[test]
fn what_servers_refuse_is_a_risk_as_no_capture_shows_it() {
    let scratch = Scratch::new();
    let mut hot = Hot::new([0.2; 3], &[]);
    let refused = |name: &str, per_sec: f64| Refused {
        name: name.into(),
        per_sec,
    };
    hot.load.nodes[1].refused = RefusedWork {
        errors: vec![refused("MOVED", 900.0), refused("CROSSSLOT", 480.2)],
        commands: vec![refused("mget", 300.0), refused("sunionstore", 180.0)],
    };
    hot.write(&scratch);
    let risk = "10.0.0.1 refuses 480 commands a second with CROSSSLOT: MGET, SUNIONSTORE";
    shown(&scratch).says(risk).lacks("MOVED");
}

#[test]
fn a_capture_of_an_idle_node_is_not_a_failure_of_redis_cli() {
    let scratch = Scratch::new();
    let mut captures = commands(100);
    captures[0].clear();
    Hot::new([0.2; 3], &[]).captured(captures).write(&scratch);
    scratch
        .prose("analyze shop --no-files --full")
        .says("MONITOR saw no command on a key in 10 s")
        .lacks("did redis-cli fail")
        .lacks("captured");
    let nodes = &scratch.report("analyze shop --json")["nodes"]["list"];
    assert!(nodes.each("ops").list().contains(&0.into()), "{nodes}");
}
