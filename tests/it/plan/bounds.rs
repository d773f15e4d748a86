//! Bounds of a plan other than its goals: unknown keys, keys that block a node, memory of nodes.

use super::{fixture, plan, prose, said};
use slotscope::source::collection::manifest::example;
use testkit::prelude::*;

#[test]
fn of_a_capture_alone_keys_are_unknown_and_not_none() {
    let scratch = fixture();
    let lines = (0..40_000).map(|i| {
        format!(
            "1700000000.{i:06} [0 127.0.0.1:1] \"GET\" \"key:{}\"\n",
            i % 900
        )
    });
    scratch.file("busy.monitor", lines.collect::<String>());
    let args = ["plan", "busy.monitor", "--topology", "cluster.nodes"];
    let output = scratch.run(&args);
    let text = prose(stdout(&output));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    text.says("judged by ops: captures do not say which keys there are");
    assert!(!text.contains("0 keys"), "{text}");
    let json = scratch.report(&[&args[..], &["--json"]].concat());
    let move_keys = &json["moves"][0]["keys"];
    assert_eq!(
        (&json["keys_moved"], move_keys),
        (&json!(null), &json!(null))
    );
    assert_eq!(json["nodes"][0]["keys"], json!(null));
    assert_eq!(json["before"].get("keys"), None);
}

#[test]
fn slots_whose_largest_key_would_block_a_node_stay_and_are_named() {
    let scratch = fixture();
    let small: String = (0..30_000).map(|i| format!("key:{i},1000\n")).collect();
    scratch.file(
        "dump.csv",
        format!("key,size\n{small}big:{{k7}},{}\n", 8 << 20),
    );
    let json = report(&plan(&scratch, &["--json"]));
    let pinned = &json["pinned"][0];
    let found = (&pinned["key"], &pinned["slot"], &pinned["block_ms"]);
    let slot = slotscope::slot::slot(b"{k7}");
    assert_eq!(found, (&json!("big:{k7}"), &json!(slot), &json!(106)));
    assert!(
        json["longest_block_ms"].as_u64() < Some(100),
        "{}",
        json["longest_block_ms"]
    );
    let text = said(&scratch, &[]);
    assert_contains(&text, &["Slots that stay", "53 to 210 ms"]);
    let script = prose(&said(&scratch, &["--commands", "setslot"]));
    script.says(&format!("slot {slot} stays: moving its key big:{{k7}}"));
    for args in [&["--move-big"][..], &["--max-block", "2s"]] {
        let json = report(&plan(&scratch, &[args, &["--json"]].concat()));
        assert_eq!(json["pinned"], json!([]), "{args:?}");
    }
    let atomic = said(&scratch, &["--commands", "valkey"]);
    assert!(!atomic.contains("stays: moving"), "{atomic}");
}

#[test]
fn a_small_value_beside_large_collections_blocks_no_node() {
    let scratch = fixture();
    let small: String = (0..30_000)
        .map(|i| format!("key:{i},string,1000,\n"))
        .collect();
    let large = format!("big:{{k7}},hash,{},400000\n", 8 << 20);
    scratch.file(
        "dump.csv",
        format!("key,type,size,elements\n{small}{large}"),
    );
    let json = report(&plan(&scratch, &["--json"]));
    let pinned = json["pinned"].list();
    assert_eq!((pinned.len(), &pinned[0]["key"]), (1, &json!("big:{k7}")));
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
        scratch.file(
            "shop/collect.json",
            serde_json::to_string(&manifest).unwrap(),
        );
        let output = scratch.run(&["plan", "shop", "--topology", "cluster.nodes"]);
        let text = prose(stdout(&output));
        assert!(text.starts_with("move "), "{text}{}", stderr(&output));
        assert_eq!(
            text.contains("setslot takes about"),
            is_copied,
            "{server}: {text}"
        );
    }
}

#[test]
fn no_node_is_planned_above_its_memory() {
    let scratch = fixture();
    let goal = |size: &str| {
        let json = report(&plan(&scratch, &["--json", "--maxmemory", size]));
        let goals = json["goals"].list().clone();
        let limit = goals.into_iter().find(|goal| goal["limit"] == "maxmemory");
        (limit.unwrap(), json["slots_moved"].as_u64())
    };
    let (roomy, moved) = goal("1mb");
    assert!(roomy["met"] == true && moved > Some(0), "{roomy}");
    // If no plan can suffice, at least no node is filled further.
    let (tight, _) = goal("100kb");
    assert_eq!(tight["met"], false, "{tight}");
    assert!(
        tight["after"].as_f64() <= tight["before"].as_f64(),
        "{tight}"
    );
    assert_eq!(
        tight["reason"],
        "all nodes together can hold less than there is"
    );
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
    let refused = plan(&scratch, &["--remove", "aaaa"]);
    assert_eq!(code(&refused), 2);
    assert!(
        prose(stderr(&refused)).contains("--move-big moves it"),
        "{}",
        stderr(&refused)
    );
    let args = ["--remove", "aaaa", "--move-big"];
    let with = |more: &[&'static str]| said(&scratch, &[&args[..], more].concat());
    let text = with(&[]);
    assert_contains(&text, &["MIGRATE blocks both nodes", name]);
    let script = with(&["--commands", "setslot"]);
    let said = format!(
        "\nsay 'warning: MIGRATE blocks both nodes for about 670 ms to 2.7 s while it copies the key {name} of"
    );
    let (warned, moved) = (script.find(&said), script.find("\npreflight\n"));
    assert!(warned.is_some() && warned < moved, "{script}");
    let plan = report(&plan(
        &scratch,
        &["--remove", "aaaa", "--move-big", "--json"],
    ));
    let keys = plan["big_keys"].list();
    assert_eq!(
        (keys.len(), &keys[0]["bytes"]),
        (2, &json!(giant)),
        "{keys:?}"
    );
}
