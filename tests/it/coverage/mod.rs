//! The unseen is not even: inputs that lack a part that matters are named, not judged, and nothing is planned for them.

mod directories;
mod left_out;

use slotscope::slot::slot;
use slotscope::source::collection::load::LoadEntry;
use slotscope::source::collection::manifest::example;
use testkit::dumps::gzip;
use testkit::prelude::*;

const NODES: &str = "a 127.0.0.1:7000@1 master - 0 0 1 connected 0-5460\n\
    b 127.0.0.1:7001@1 master - 0 0 2 connected 5461-10922\n\
    c 127.0.0.1:7002@1 master - 0 0 3 connected 10923-16383\n";
const RANGES: [(u16, u16); 3] = [(0, 5460), (5461, 10_922), (10_923, 16_383)];

/// The reply of a primary to CLUSTER SLOT-STATS, of slots `from` to `to`.
fn reply((from, to): (u16, u16)) -> String {
    let rows = (from..=to).map(|slot| format!("[{slot},{{\"key-count\":{}}}]", 90 + slot % 7));
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

/// The state, and the first line; `--fail-on` does not pass.
#[track_caller]
fn first_line(scratch: &Scratch, inputs: &str) -> (String, String) {
    let line = format!("analyze {inputs} --json --fail-on verdict>=watch");
    let output = scratch.run(&line);
    assert_eq!(code(&output), 2, "{inputs}: {}", stdout(&output));
    let report: Value = serde_json::from_str(stdout(&output)).unwrap();
    let verdict = &report["verdict"];
    let moves = verdict["steps"].as_array().unwrap().iter();
    assert_eq!(
        moves.filter(|step| step["kind"] == "move").count(),
        0,
        "{inputs}"
    );
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&verdict["state"]), text(&verdict["sentence"]))
}

#[test]
fn counts_by_slot_of_a_part_of_the_cluster_are_not_judged() {
    let scratch = Scratch::with("three.nodes", NODES);
    let most = |(from, _)| (from, from + 99);
    for (at, range) in RANGES.into_iter().enumerate() {
        scratch.file(&format!("{}.json", 7000 + at), reply(range));
        scratch.file(&format!("top-{}.json", 7000 + at), reply(most(range)));
    }
    let whole =
        scratch.report("analyze 7000.json 7001.json 7002.json --topology three.nodes --json");
    assert_eq!(
        whole["verdict"]["state"], "balanced",
        "{}",
        whole["verdict"]["sentence"]
    );
    assert_eq!(
        whole["coverage"]["roles"][0]["nodes"][2],
        json!({"node": "c", "seen": "whole"})
    );
    for (inputs, says) in [
        (
            "7000.json --topology three.nodes",
            "127.0.0.1:7001, 127.0.0.1:7002 of 3 nodes were not read",
        ),
        (
            "7000.json --nodes 3",
            "even-2, even-3 of 3 nodes were not read",
        ),
        (
            "7000.json 7002.json --topology three.nodes",
            "127.0.0.1:7001 of 3 nodes was not read",
        ),
        (
            "7000.json 7002.json",
            "5,462 slots are in none of the replies",
        ),
        (
            "top-7000.json 7001.json 7002.json --topology three.nodes",
            "only 100 of 5,461 slots of 127.0.0.1:7000 were read",
        ),
        (
            "top-7000.json top-7001.json top-7002.json --topology three.nodes",
            "only 100 of 5,461 slots of 127.0.0.1:7000 were read, and only some of 2 other nodes",
        ),
    ] {
        let (state, sentence) = first_line(&scratch, inputs);
        assert_eq!(state, "unjudged", "{inputs}: {sentence}");
        sentence.says(says);
    }
    let plan = "plan 7000.json 7002.json --topology three.nodes";
    let refused = scratch.run(plan);
    refused
        .refused("the dump does not look whole | 127.0.0.1:7001 of 3 nodes was not read | --force");
    let forced = scratch.prose(&format!("{plan} --force"));
    forced.says("by --force, although 127.0.0.1:7001 of 3 nodes was not read");
    forced.says("move ");
}

#[test]
fn a_forced_plan_is_that_of_the_loads_and_not_of_the_doubt() {
    let scratch = Scratch::with(
        "nodes",
        "a 10.0.0.1:1@2 master - 0 0 1 connected 0-9999\n\
        b 10.0.0.2:1@2 master - 0 0 2 connected 10000-13000\n\
        c 10.0.0.3:1@2 master - 0 0 3 connected 13001-16383\n",
    );
    let rows = (0..60_000).map(|i| format!("key:{i},{}\n", 100 + i % 50));
    let table = format!("key,size\n{}", rows.collect::<String>());
    // The last bytes of a compressed file are missing.
    let whole = gzip(table.as_bytes());
    scratch.file("dump.csv.gz", &whole[..whole.len() / 2]);
    let moved = |flags: &str| {
        let plan = format!("plan dump.csv.gz --topology nodes --force --json {flags}");
        let plan = scratch.report(&plan);
        (plan["slots_moved"].as_u64().unwrap(), plan["moves"].clone())
    };
    assert!(moved("").0 > 3000);
    assert_eq!(moved(""), moved("--by bytes"));
}

/// MONITOR of these commands, evenly over ten seconds, after the reply to MONITOR itself.
fn monitor(commands: &[String]) -> String {
    let line = |(at, command): (usize, &String)| {
        let time = 1_795_216_373_000 + 10_000 * at / commands.len();
        format!(
            "{}.{:03}000 [0 10.0.0.7:40001] {command}\n",
            time / 1000,
            time % 1000
        )
    };
    let lines = commands.iter().enumerate().map(line);
    format!("OK\n{}", lines.collect::<String>())
}

/// This many reads of keys of each node.
fn reads(each: usize) -> [Vec<String>; 3] {
    let mut of = [(); 3].map(|()| Vec::new());
    for number in 0.. {
        let key = format!("user:{number}");
        let slot = slot(key.as_bytes());
        let node = RANGES.iter().position(|(_, last)| slot <= *last).unwrap();
        if of[node].len() < each {
            of[node].push(format!("\"GET\" \"{key}\""));
        }
        if of.iter().all(|own| own.len() == each) {
            break;
        }
    }
    of
}

const CAPTURES: &str = "7000.monitor 7001.monitor 7002.monitor --topology three.nodes";

#[test]
fn work_that_has_no_slot_is_that_of_the_node_that_did_it() {
    for (name, command) in [
        ("PUBLISH", "\"PUBLISH\" \"events:all\" \"x\""),
        ("KEYS", "\"KEYS\" \"*\""),
        ("CLUSTER SLOTS", "\"CLUSTER\" \"SLOTS\""),
        ("SCAN", "\"SCAN\" \"0\""),
        ("PING", "\"PING\""),
        ("EVAL", "\"EVAL\" \"return 1\" \"0\""),
        ("commands with unknown names", "\"FT.SOMETHING\" \"x\""),
    ] {
        let scratch = Scratch::with("three.nodes", NODES);
        let mut of = reads(3000);
        of[1].extend((0..27_000).map(|_| command.to_owned()));
        for (at, own) in of.iter().enumerate() {
            scratch.file(&format!("{}.monitor", 7000 + at), monitor(own));
        }
        let report = scratch.report(&format!("analyze {CAPTURES} --json"));
        let verdict = &report["verdict"];
        assert_eq!(
            verdict["state"], "skewed",
            "{name}: {}",
            verdict["sentence"]
        );
        let sentence = verdict["sentence"].as_str().unwrap();
        sentence.says("127.0.0.1:7001 runs 2.50× its share of commands, 83.3% of all");
        sentence.says(&format!("{name} 90.0% of them"));
        if name != "commands with unknown names" {
            sentence.says("from 10.0.0.7");
        }
        assert_eq!(report["nodes"]["list"][1]["commands"], 30_000, "{name}");
        // In one file nobody knows which node ran them.
        scratch.file("all.monitor", monitor(&of.concat()));
        let (state, sentence) = first_line(&scratch, "all.monitor --topology three.nodes");
        assert_eq!(state, "unjudged", "{sentence}");
        sentence.says("27,000 of 36,000 commands have no key, and no file is named after the node");
    }
    // A few of them do not count.
    let scratch = Scratch::with("three.nodes", NODES);
    let mut of = reads(3000);
    of[1].extend((0..300).map(|_| "\"PING\"".to_owned()));
    for (at, own) in of.iter().enumerate() {
        scratch.file(&format!("{}.monitor", 7000 + at), monitor(own));
    }
    let report = scratch.report(&format!("analyze {CAPTURES} --json"));
    assert_eq!(
        report["verdict"]["state"], "balanced",
        "{}",
        report["verdict"]["sentence"]
    );
    assert!(report["nodes"]["list"][1].get("commands").is_none());
}

/// A channel of sharded Pub/Sub has a slot and no value.
#[test]
fn a_channel_is_not_a_key() {
    let mut commands = reads(2000).concat();
    commands.extend((0..6000).map(|_| "\"SPUBLISH\" \"events:all\" \"x\"".to_owned()));
    let scratch = Scratch::with("all.monitor", monitor(&commands));
    let report = scratch.report("analyze all.monitor --nodes 3 --json");
    let says = report["verdict"].to_string();
    says.says("because of channel events:all (1.50×)");
    says.says("split channel events:all into 15 channels (in the application)");
    says.says("channel events:all is 1.50× a node's share of operations");
    says.lacks("key events:all")
        .lacks("cache")
        .lacks("replicas (");
}

#[test]
fn the_capture_of_an_idle_node_is_zero_and_a_missing_one_is_not_seen() {
    let scratch = Scratch::with("three.nodes", NODES);
    let of = reads(3000);
    scratch.file("7000.monitor", monitor(&of[0]));
    scratch.file("7001.monitor", monitor(&of[1]));
    for idle in ["OK\n", "OK\n1795216373.100000 [0 10.0.0.7:5] \"PING\"\n"] {
        scratch.file("7002.monitor", idle);
        let report = scratch.report(&format!("analyze {CAPTURES} --json"));
        let verdict = &report["verdict"];
        assert_eq!(verdict["state"], "watch", "{idle}: {}", verdict["sentence"]);
        assert_eq!(report["input"]["keys"], 0, "OK is no key");
        assert_eq!(report["coverage"]["roles"][0]["nodes"][2]["seen"], "whole");
    }
    // redis-cli prints OK before anything else.
    scratch.file("7002.monitor", "");
    for inputs in [CAPTURES, "7000.monitor 7001.monitor --topology three.nodes"] {
        let (state, sentence) = first_line(&scratch, inputs);
        assert_eq!(state, "unjudged", "{sentence}");
        sentence.says("127.0.0.1:7002 of 3 nodes was not captured");
    }
}

#[test]
fn a_column_of_numbers_that_was_not_read_is_told_first() {
    let scratch = Scratch::new();
    let size = |number: usize| {
        if number == 7 {
            18_000_000
        } else {
            80 + number * 7919 % 2900
        }
    };
    let rows = |header: &str| {
        let rows = (0..4000).map(|number| format!("user:{number}:profile,{}\n", size(number)));
        format!("key,{header}\n{}", rows.collect::<String>())
    };
    for header in [
        "serializedlength",
        "_col1",
        "Value #A",
        "Real",
        "Access Frequency",
    ] {
        scratch.file("dump.csv", rows(header));
        let (state, sentence) = first_line(&scratch, "dump.csv --nodes 3");
        assert_eq!(state, "unjudged", "{header}: {sentence}");
        sentence.says(&format!(
            "the numbers in the column {header} of dump.csv were not read: --size-column "
        ));
        let flags = format!("--nodes 3 --json --size-column '{header}'");
        let read = stdout(&scratch.shell(format!("slotscope analyze dump.csv {flags}"))).to_owned();
        let read: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(read["verdict"]["state"], "skewed", "{header}");
        let none = scratch.report("analyze dump.csv --nodes 3 --json --size-column none");
        assert_eq!(
            none["verdict"]["state"], "balanced",
            "{header}: {}",
            none["verdict"]["sentence"]
        );
    }
    for header in [
        "内存大小",
        "占用内存",
        "メモリ",
        "크기",
        "mémoire",
        "Speicher",
    ] {
        scratch.file("dump.csv", rows(header));
        let read = scratch.report("analyze dump.csv --nodes 3 --json");
        assert_eq!(read["verdict"]["state"], "skewed", "{header}");
    }
    // Ids, dates, row numbers, slots and TTLs are not sizes.
    let columns: [fn(usize) -> String; 4] = [
        |number| number.to_string(),
        |number| (1_795_000_000 + number * 37).to_string(),
        |number| (number % 5).to_string(),
        |number| {
            if number % 3 == 0 {
                "-1".into()
            } else {
                (number * 31).to_string()
            }
        },
    ];
    for column in columns {
        let rows = (0..4000).map(|number| format!("user:{number}:profile,{}\n", column(number)));
        scratch.file(
            "dump.csv",
            format!("key,thing\n{}", rows.collect::<String>()),
        );
        let read = scratch.report("analyze dump.csv --nodes 3 --json");
        assert_eq!(
            read["verdict"]["state"], "balanced",
            "{}",
            read["verdict"]["sentence"]
        );
    }
}

#[test]
fn counts_by_slot_are_a_table_too() {
    let scratch = Scratch::with("three.nodes", NODES);
    let table = |columns: &str, row: &dyn Fn(u32) -> String| {
        let rows = (0..16_384).map(|slot| format!("{slot},{}\n", row(slot)));
        format!("slot,{columns}\n{}", rows.collect::<String>())
    };
    let many = |slot: u32| if slot <= 200 { 4000 } else { slot % 40 };
    scratch.file("counts.csv", table("count", &|slot| many(slot).to_string()));
    let report = scratch.report("analyze counts.csv --topology three.nodes --json");
    assert_eq!(report["input"]["files"][0]["format"], "slot-stats");
    assert_eq!(report["slots"]["keys"][200], 4000);
    assert_eq!(
        report["verdict"]["state"], "skewed",
        "{}",
        report["verdict"]["sentence"]
    );
    scratch.file(
        "all.csv",
        table("keys,bytes,ops", &|slot| {
            format!("10,{},7", 1000 * many(slot))
        }),
    );
    let report = scratch.report("analyze all.csv --topology three.nodes --json");
    assert_eq!(report["slots"]["bytes"][200], 4_000_000);
    assert_eq!(report["slots"]["ops"][3], 7);
    for (rows, says) in [
        ("0,1\n0,2\n", "line 3: slot 0 is there twice"),
        ("16384,1\n", "line 2: 16384 is not a slot"),
        ("1,x\n", "line 2 is not a slot and 1 count"),
    ] {
        scratch.file("bad.csv", format!("slot,count\n{rows}"));
        scratch
            .run("analyze bad.csv --nodes 3")
            .refused(&format!("bad.csv | {says}"));
    }
    scratch.file("part.csv", "slot,count\n0,100000\n1,9\n");
    let (state, sentence) = first_line(&scratch, "part.csv --topology three.nodes");
    assert_eq!(state, "unjudged", "{sentence}");
}

/// A collection of one node whose load was measured by slot.
fn collection() -> Scratch {
    let scratch = Scratch::new();
    let mut manifest = example(&["a.csv"]);
    manifest.cluster = false;
    manifest.nodes[0].keys = 2;
    manifest.load = Some(LoadEntry {
        secs: 2.0,
        spread_secs: 0.0,
        nodes_by_slot: 1,
        nodes: Vec::new(),
        hot_slots: Vec::new(),
        hot_keys: None,
        logged: None,
        monitor: None,
    });
    std::fs::create_dir(scratch.path("c")).unwrap();
    scratch.file("c/collect.json", serde_json::to_string(&manifest).unwrap());
    scratch.file("c/a.csv", "key,memory\nuser:1,100\nuser:2,50\n");
    let series = |second: u32, cpu: u32| {
        format!(
            "{{\"time\":\"2026-11-22T10:00:{second:02}Z\",\"node\":\"127.0.0.1:7001\",\"slots\":[[7,{{\"key-count\":1,\"cpu-usec\":{cpu}}}]]}}\n"
        )
    };
    scratch.file("c/slot-stats.json", series(0, 1) + &series(9, 90));
    assert_eq!(code(&scratch.run("analyze c --no-files")), 0);
    scratch
}

#[test]
fn a_collection_without_a_file_that_it_says_was_written_is_not_whole() {
    let scratch = collection();
    for garbage in [Some("garbage"), Some("{\"a\":1}"), Some(""), None] {
        match garbage {
            Some(text) => drop(scratch.file("c/slot-stats.json", text)),
            None => std::fs::remove_file(scratch.path("c/slot-stats.json")).unwrap(),
        }
        let output = scratch.run("analyze c --no-files");
        assert_eq!(code(&output), 2, "{garbage:?}");
        stdout(&output).says("SUSPICIOUS");
        on_one_line(stdout(&output))
            .says("collect.json says that counts by slot were written to it");
    }
}

#[cfg(unix)]
#[test]
fn no_file_of_a_collection_leads_out_of_it() {
    for name in ["collect.json", "slot-stats.json", "a.csv", "cluster.nodes"] {
        let scratch = collection();
        let path = scratch.path(&format!("c/{name}"));
        if name == "cluster.nodes" {
            let json = scratch.read("c/collect.json");
            scratch.file(
                "c/collect.json",
                json.replace("\"cluster\":false", "\"cluster\":true"),
            );
            scratch.file("secret", "root:SECRET:1:2\n");
        } else {
            std::fs::rename(&path, scratch.path("secret")).unwrap();
        }
        std::os::unix::fs::symlink("../secret", &path).unwrap();
        let output = scratch.run("analyze c --no-files");
        assert_eq!(code(&output), 2, "{name}");
        stderr(&output)
            .says(name)
            .says("is a link out of its directory")
            .lacks("SECRET");
    }
}
