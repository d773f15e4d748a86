//! whatif as a user runs it: both sides are reports of analyze; and the first examples that people read.

use slotscope::source::collection::load::{LoadEntry, MonitorEntry, MonitorNode};
use slotscope::source::collection::manifest::example;
use testkit::dumps::mixed_keys;
use testkit::prelude::*;

fn with_dump() -> Scratch {
    Scratch::with("dump.keys", mixed_keys().join(&b'\n'))
}

fn ratio(value: &Value) -> f64 {
    value["max_over_mean"].float()
}

#[test]
fn nodes_are_shown_with_their_bytes_before_and_after_and_as_a_table() {
    let scratch = Scratch::new();
    let rows: String = (0..2000).map(|key| format!("k{key},100,2\n")).collect();
    scratch.file("dump.csv", format!("key,size,ops\n{rows}"));
    let line = "whatif dump.csv --nodes 2 --to-nodes 4 --maxmemory 100kb";
    let text = scratch.text(line);
    text.says("memory before")
        .says("ops before")
        .says("of limit");
    text.says("limit: 100.00 KiB a node").lacks("Gini");
    let full = scratch.text(&format!("{line} --full"));
    full.says("nodes: Gini").says("independent units");
    let found = scratch.report(&format!("{line} --json"));
    let sum = |side: &str| -> u64 {
        let nodes = found[side]["list"].list().iter();
        nodes.map(|node| node["bytes"].whole()).sum()
    };
    assert_eq!([sum("before"), sum("after")], [200_000; 2]);
    assert_eq!(found["maxmemory"], 102_400);
    let table = scratch.text(&format!("{line} --csv"));
    table.begins("node,metric,before,after\n");
    let after = |metric: &str| -> u64 {
        let of_metric = format!(",{metric},");
        let rows = table.lines().filter(|row| row.contains(&of_metric));
        let after = rows.map(|row| row.rsplit_once(',').unwrap().1);
        after.map(|load| load.parse::<u64>().unwrap()).sum()
    };
    let loads = ["keys", "bytes", "ops"].map(after);
    assert_eq!(loads, [2000, 200_000, 4000]);
    assert_eq!(table.lines().count(), 1 + 4 * 3);
    // A node that is new has nothing before.
    table.says("even-4,keys,,");
}

#[test]
fn both_sides_are_what_analyze_says() {
    let scratch = with_dump();
    let found = scratch.report("whatif dump.keys --json --nodes 3 --to-nodes 7");
    assert_eq!(found["schema"], "slotscope.whatif/2");
    for (side, nodes) in [("before", "3"), ("after", "7")] {
        let line = format!("analyze dump.keys --json --one-pass --nodes {nodes}");
        let analyzed = scratch.report(&line);
        // Steps are for the present cluster.
        let mut verdict = analyzed["verdict"].clone();
        for (member, none) in [
            ("steps", json!([])),
            ("left", json!([])),
            ("actionable", json!(false)),
        ] {
            verdict[member] = none;
        }
        for found in verdict["findings"].as_array_mut().unwrap() {
            found["steps"] = json!([]);
        }
        assert_eq!(found[side]["verdict"], verdict);
        assert_eq!(found[side]["nodes"], analyzed["nodes"]["keys"]);
        assert_eq!(found[side]["slots"], analyzed["slots"]["stats"]["keys"]);
    }
    // Slots stay in place, keys do not.
    found.has(json!({"moved": {"keys": 0}, "parted_tags": 0}));
    // Three of the seven nodes are unchanged, so about 4 of 7 keys move.
    let moved = found["changed_node"]["keys"].whole() as f64;
    let keys = found["input"]["keys"].whole() as f64;
    assert!((0.4..0.75).contains(&(moved / keys)), "{moved} of {keys}");
    assert!(found["moved"].get("bytes").is_none());
}

#[test]
fn a_split_of_the_hot_tag_evens_the_nodes() {
    let scratch = with_dump();
    let found = scratch.report("whatif dump.keys --json --split 'common = 64'");
    let [before, after] = ["before", "after"].map(|side| ratio(&found[side]["nodes"]));
    assert!(before > 1.2 && after < 1.1, "{before} {after}");
    found.has(json!({"parted_tags": 1, "tag_sample": {"exact": true}}));
    assert_eq!(found["renamed"], 4000);
    assert_eq!(scratch.entries(""), ["dump.keys"]);
    let mut tags = found["top_tags"].list().iter();
    assert!(tags.all(|tag| tag["keys"].whole() < 200), "{found}");
    let sentence = found["sentence"].text();
    sentence.begins("better: ").says("one tag is split");
    scratch
        .text("whatif dump.keys --split 'common = 64' --full")
        .says("nodes: max/mean")
        .says("tags whose keys end up in different slots: 1")
        .says("The heaviest hash tags afterwards")
        .lacks("\u{0}")
        .lacks("\u{fffd}");
}

#[test]
fn rules_that_no_key_matches_are_named() {
    let scratch = with_dump();
    for [flag, rule, said] in rows(
        r#"--split | nosuch = 4 | no key has the tag {nosuch}; a single key cannot be split here
         --split | /no.*/ = 4 | no key has a tag that matches /no.*/; a single key cannot be split here
         --retag | ^nosuch => x | no key matches --retag "^nosuch => x""#,
    ) {
        let output = scratch.run(&["whatif", "dump.keys", "--json", flag, rule]);
        assert_eq!(code(&output), 2, "{rule}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["without_keys"], json!([said]));
        let sentence = found["sentence"].text();
        sentence.begins(&format!("{said}; no better and no worse: "));
        assert_eq!(found["before"]["nodes"], found["after"]["nodes"]);
    }
    let matching = scratch.report("whatif dump.keys --json --split 'common = 4'");
    assert_eq!(matching["without_keys"], json!([]));
}

#[test]
fn nodes_keep_what_they_have_where_only_their_number_changes() {
    let scratch = with_dump();
    let topology = slotscope::topology::Topology::even(3, String::new()).unwrap();
    let line = |(at, node): (usize, &slotscope::topology::Node)| {
        let (first, last) = node.ranges[0];
        format!("id{at} 10.0.0.{at}:1@2 master - 0 0 {at} connected {first}-{last}\n")
    };
    let listing: String = topology.nodes.iter().enumerate().map(line).collect();
    scratch.file("three.nodes", listing);
    let changed = |flags: &str| {
        let found = scratch.report(&format!("whatif dump.keys --json {flags}"));
        let keys = found["input"]["keys"].float();
        (found["changed_node"]["keys"].float() / keys, found)
    };
    for flags in [
        "--topology three.nodes --to-nodes 3",
        "--nodes 3 --to-topology three.nodes",
    ] {
        assert_eq!(changed(flags).0, 0.0, "{flags}");
    }
    let (half, found) = changed("--topology three.nodes --to-nodes 6");
    assert!((0.3..0.7).contains(&half), "{half}");
    // From three nodes to six: compared by shares of the total, as fair shares differ in size.
    let sentence = found["sentence"].text();
    sentence.begins("less on the fullest node: the fullest of 6 nodes holds ");
    let share = |side: &str| found[side]["fullest_share"].float();
    assert!(share("after") < share("before"));
    assert!(ratio(&found["after"]["nodes"]) > ratio(&found["before"]["nodes"]));
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_tag_brings_the_favourites_of_the_document_to_one_slot() {
    let scratch = Scratch::new();
    let keys = (1..=10).map(|i| format!("favorites:123:news{i:03}"));
    let keys: Vec<String> = keys.collect();
    scratch.file("dump.keys", keys.join("\n"));
    let rule = r"^favorites:(?<user>\d+):(.*)$ => favorites:{fav:${user}}:$2";
    let found = scratch.report(&["whatif", "dump.keys", "--json", "--retag", rule]);
    found.has(json!({"before": {"slots": {"max": 1}}, "after": {"slots": {"max": 10}}}));
    found.has(json!({"top_tags": [{"tag": "fav:123"}], "moved": {"keys": 10}}));
    // The rule proposed by advise for such batches of many users has the same effect.
    let batch = |user: usize| keys.join(" ").replace("123", &user.to_string()) + "\n";
    let batches: String = (123..223).map(batch).collect();
    scratch.file("batches", batches);
    let advice = scratch.report("advise --batches batches --json");
    let rule = advice["rules"][0].text();
    let found = scratch.report(&["whatif", "dump.keys", "--json", "--retag", rule]);
    found.has(json!({"after": {"slots": {"max": 10}}, "top_tags": [{"tag": "favorites:123"}]}));
}

#[test]
fn another_policy_moves_keys_and_leaves_out_those_without_a_slot() {
    let scratch = Scratch::with(
        "dump.csv",
        b"key,size\na{'1':{'i32':1}},100\nuser-session:1234,10\nuser-profile:1234,20\n",
    );
    let found = scratch.report("whatif dump.csv --json --to-policy enterprise");
    found["moved"].has(json!({"keys": 1, "bytes": 100}));
    assert_eq!(found["top_tags"][0]["slot"], 12350);
    let users = "regex:/user-.*:(?<tag>.+)/";
    let line = format!("whatif dump.csv --json --by bytes --to-policy {users}");
    let found = scratch.report(&line);
    found["unplaced"].has(json!({"keys": 1, "bytes": 100}));
    found.has(json!({"after": {"slots": {"max": 30}}, "by": "bytes"}));
    found["sentence"].text().says("1 have no slot any more");
    // Back under `oss`, the keys with such a tag, which has no braces, are spread over different slots.
    let line = format!("whatif dump.csv --json --policy {users} --to-policy oss");
    let back = scratch.report(&line);
    back.has(json!({"parted_tags": 1, "input": {"rejected": {"count": 1}}}));
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let scratch = with_dump();
    scratch.refuses(
        "whatif dump.keys | nothing changes: name what to try: --to-nodes
         whatif dump.keys --to-nodes 0 | --to-nodes 0: the number of nodes
         whatif dump.keys --to-policy x | --to-policy x: no such policy
         whatif dump.keys --retag a | --retag a: is not 'REGEX => TEMPLATE'
         whatif dump.keys --to-nodes 4 --by ops | --by ops: the input has no ops of its keys; it has: keys
         whatif dump.keys --to-topology no.such | no.such: no such file",
    );
}

/// A collection of one node with 40 keys of the tag `hot`, CPU time by slot, and three commands on each of these keys.
fn collected_with_load() -> Scratch {
    let capture = "1.127.0.0.1-7001.monitor";
    let mut manifest = example(&["a.csv"]);
    manifest.cluster = false;
    manifest.nodes[0].keys = 100;
    manifest.load = Some(LoadEntry {
        secs: 9.0,
        nodes_by_slot: 1,
        monitor: Some(MonitorEntry {
            secs: 9.0,
            nodes: vec![MonitorNode {
                name: "127.0.0.1:7001".into(),
                file: capture.into(),
                commands: 120,
                secs: 9.0,
                ..MonitorNode::default()
            }],
        }),
        ..LoadEntry::default()
    });
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("c")).unwrap();
    scratch.file("c/collect.json", serde_json::to_string(&manifest).unwrap());
    let hot = |key: usize| format!("{{hot}}:{key}");
    let keys = (0..40)
        .map(hot)
        .chain((40..100).map(|key| format!("user:{key}")));
    let rows: String = keys.map(|key| format!("{key},100\n")).collect();
    scratch.file("c/a.csv", format!("key,memory\n{rows}"));
    let commands = (0..120).map(|at| {
        let key = hot(at % 40);
        format!("1700000000.{at:06} [0 127.0.0.1:5] \"GET\" \"{key}\"\n")
    });
    scratch.file(&format!("c/{capture}"), commands.collect::<String>());
    let series = |second: u32, cpu: u32| {
        format!(
            "{{\"time\":\"2026-11-22T10:00:{second:02}Z\",\"node\":\"127.0.0.1:7001\",\"slots\":[[7,{{\"key-count\":1,\"cpu-usec\":{cpu}}}]]}}\n"
        )
    };
    scratch.file("c/slot-stats.json", series(0, 1) + &series(9, 90));
    scratch
}

#[test]
fn a_collection_with_load_is_whole_where_keys_are_renamed() {
    let scratch = collected_with_load();
    for change in [
        ["--split", "hot = 4"],
        ["--retag", r"\{hot\} => {other}"],
        ["--to-policy", "enterprise"],
    ] {
        let line = [
            "whatif", "c", "--nodes", "3", "--json", change[0], change[1],
        ];
        let found = scratch.report(&line);
        let input = &found["input"];
        assert_eq!(input["incomplete"], json!([]), "{change:?}");
        assert!(input["files"].lists("format", "slot-stats"), "{input}");
        assert_ne!(found["after"]["verdict"]["state"], "suspicious");
        input["notes"]
            .to_string()
            .says("CPU time by slot is left out");
    }
    std::fs::remove_file(scratch.path("c/slot-stats.json")).unwrap();
    let output = scratch.run("whatif c --nodes 3 --split 'hot = 4'");
    assert_eq!(code(&output), 2, "a file that is gone is still missed");
}

#[test]
fn commands_on_a_key_are_no_keys() {
    let scratch = collected_with_load();
    let line = "whatif c --nodes 3 --split 'hot = 4' --by ops";
    let found = scratch.report(&format!("{line} --json"));
    assert_eq!(found["renamed"], 40);
    let tags = found["top_tags"].list().iter();
    let ops: Vec<u64> = tags.map(|tag| tag["ops"].whole()).collect();
    assert_eq!(ops.iter().sum::<u64>(), 120, "{ops:?}");
    scratch.text(line).says("another name: 40 keys");
    let capture = "whatif c/1.127.0.0.1-7001.monitor --nodes 3 --split 'hot = 4'";
    scratch.text(capture).says("another name: 120 operations");
}
