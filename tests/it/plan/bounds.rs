//! Bounds of a plan other than its goals: unknown keys, keys that block a node, memory of nodes.

use super::{fixture, line, planned, prose, said};
use slotscope::source::collection::manifest::example;
use testkit::prelude::*;

#[test]
fn of_a_capture_alone_keys_are_unknown_and_not_none() {
    let scratch = fixture();
    let line = |i| {
        format!(
            "1700000000.{i:06} [0 127.0.0.1:1] \"GET\" \"key:{}\"\n",
            i % 900
        )
    };
    scratch.file("busy.monitor", (0..40_000).map(line).collect::<String>());
    prose(&scratch.text("plan busy.monitor --topology cluster.nodes"))
        .says("judged by ops: captures do not say which keys there are")
        .lacks("0 keys");
    let json = scratch.report("plan busy.monitor --topology cluster.nodes --json");
    json.has(json!({"keys_moved": null, "moves": [{"keys": null}], "nodes": [{"keys": null}]}));
    assert_eq!(json["before"].get("keys"), None);
}

#[test]
fn slots_whose_largest_key_would_block_a_node_stay_and_are_named() {
    let scratch = fixture();
    let small: String = (0..30_000).map(|i| format!("key:{i},1000\n")).collect();
    let big = 8 << 20;
    scratch.file("dump.csv", format!("key,size\n{small}big:{{k7}},{big}\n"));
    let json = planned(&scratch, "");
    let slot = slotscope::slot::slot(b"{k7}");
    json["pinned"][0].has(json!({"key": "big:{k7}", "slot": slot, "block_ms": 106}));
    let longest = json["longest_block_ms"].as_f64();
    assert!(longest.is_none_or(|millis| millis < 100.0), "{json}");
    said(&scratch, "")
        .says("Slots that stay")
        .says("53 to 210 ms");
    said(&scratch, "--commands setslot")
        .says("# Slots that stay")
        .says("big:{k7}");
    for flags in ["--move-big", "--max-block 2s"] {
        assert_eq!(planned(&scratch, flags)["pinned"], json!([]), "{flags}");
    }
    said(&scratch, "--commands valkey").lacks("Slots that stay");
    // A small value beside large collections blocks no node.
    let small: String = (0..30_000)
        .map(|i| format!("key:{i},string,1000,\n"))
        .collect();
    let large = format!("big:{{k7}},hash,{big},400000\n");
    scratch.file(
        "dump.csv",
        format!("key,type,size,elements\n{small}{large}"),
    );
    assert_eq!(
        planned(&scratch, "")["pinned"].each("key"),
        json!(["big:{k7}"])
    );
}

#[test]
fn servers_that_move_slots_as_a_whole_have_no_line_on_blocked_nodes() {
    let scratch = fixture();
    std::fs::create_dir(scratch.path("shop")).unwrap();
    std::fs::copy(scratch.path("dump.csv"), scratch.path("shop/a.csv")).unwrap();
    let keys = scratch.read("dump.csv").lines().count() as u64 - 1;
    for (server, is_copied) in [("valkey 8.1.0", true), ("valkey 9.0.0", false)] {
        let mut manifest = example(&["a.csv"]);
        (manifest.keys, manifest.nodes[0].keys) = (keys, keys);
        manifest.nodes[0].server = Some(server.into());
        scratch.file("shop/collect.json", json!(manifest).to_string());
        let text = prose(&scratch.text("plan shop --topology cluster.nodes"));
        text.begins("move ");
        let is_told = text.contains("setslot takes about");
        assert_eq!(is_told, is_copied, "{server}: {text}");
    }
}

#[test]
fn no_node_is_planned_above_its_memory() {
    let scratch = fixture();
    let goal = |size: &str| {
        let json = planned(&scratch, &format!("--maxmemory {size}"));
        let limit = json["goals"].find("limit", "maxmemory").clone();
        (limit, json["slots_moved"].whole())
    };
    let (roomy, moved) = goal("1mb");
    assert!(roomy["met"] == true && moved > 0, "{roomy}");
    // If no plan can suffice, at least no node is filled further.
    let (tight, _) = goal("100kb");
    let reason = "all nodes together can hold less than there is";
    tight.has(json!({"met": false, "reason": reason}));
    assert!(tight["after"].float() <= tight["before"].float(), "{tight}");
}

#[test]
fn giant_keys_are_named_before_they_move() {
    let scratch = fixture();
    let small: String = (0..3000)
        .map(|i| format!("key:{i},{}\n", 1 << 20))
        .collect();
    let (giant, almost) = (100 << 20, 99 << 20);
    let csv = format!("key,size\n{small}\"big\u{1b}:{{k7}}\",{giant}\nalmost:{{k7}},{almost}\n");
    scratch.file("dump.csv", csv);
    // The slot of the tag belongs to the first node, which is emptied.
    assert!(slotscope::slot::slot(b"{k7}") < 10_000);
    let name = r"big\x1b:{k7}";
    let refused = scratch.run(&line("--remove aaaa"));
    assert_eq!(code(&refused), 2);
    prose(stderr(&refused)).says("--move-big moves it");
    let moved = "--remove aaaa --move-big";
    said(&scratch, moved)
        .says("MIGRATE blocks both nodes")
        .says(name);
    let script = said(&scratch, &format!("{moved} --commands setslot"));
    let (before, _) = script.split_once("\npreflight\n").expect(&script);
    before.says(&format!(
        "\nsay 'warning: MIGRATE blocks both nodes for about 670 ms to 2.7 s while it copies the key {name} of"
    ));
    let keys = planned(&scratch, moved)["big_keys"].each("bytes");
    assert_eq!(keys, json!([giant, almost]));
}
