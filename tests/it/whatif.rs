//! whatif as a user meets it: both sides are what analyze says of each; and the examples that people read first.

use crate::support::dumps::mixed_keys;
use crate::support::run::{Scratch, assert_fails, report, stdout};
use serde_json::Value;

fn with_dump() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("dump.keys", mixed_keys().join(&b'\n'));
    scratch
}

fn ratio(value: &Value) -> f64 {
    value["max_over_mean"].as_f64().unwrap()
}

#[test]
fn both_sides_are_what_analyze_says() {
    let scratch = with_dump();
    let found = report(&scratch.run(&[
        "whatif",
        "dump.keys",
        "--json",
        "--nodes",
        "3",
        "--to-nodes",
        "7",
    ]));
    assert_eq!(found["schema"], "slotscope.whatif/1");
    for (side, nodes) in [("before", "3"), ("after", "7")] {
        let analyzed = report(&scratch.run(&[
            "analyze",
            "dump.keys",
            "--json",
            "--one-pass",
            "--nodes",
            nodes,
        ]));
        // Remedies are for the cluster as it is.
        let mut verdict = analyzed["verdict"].clone();
        verdict["by_metric"][0]["remedies"] = Value::Array(Vec::new());
        assert_eq!(found[side]["verdict"], verdict);
        assert_eq!(found[side]["nodes"], analyzed["nodes"]["keys"]);
        assert_eq!(found[side]["slots"], analyzed["slots"]["stats"]["keys"]);
    }
    // Slots stay where they are, keys do not.
    assert_eq!(
        (&found["moved"]["keys"], &found["parted_tags"]),
        (&0.into(), &0.into())
    );
    assert!(found["changed_node"]["keys"].as_u64().unwrap() > 5000);
    assert!(found["moved"].get("bytes").is_none());
}

#[test]
fn a_split_of_the_hot_tag_evens_the_nodes() {
    let scratch = with_dump();
    let found = report(&scratch.run(&["whatif", "dump.keys", "--json", "--split", "common = 64"]));
    let [before, after] = ["before", "after"].map(|side| ratio(&found[side]["nodes"]));
    assert!(before > 1.2 && after < 1.1, "{before} {after}");
    assert_eq!(
        (&found["parted_tags"], &found["parted"]["exact"]),
        (&1.into(), &true.into())
    );
    assert_eq!(found["renamed"], 4000);
    assert_eq!(scratch.entries(""), ["dump.keys"]);
    assert!(
        found["top_tags"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tag| tag["keys"].as_u64().unwrap() < 200)
    );
    let sentence = found["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("better: ") && sentence.contains("one tag is parted"),
        "{sentence}"
    );
    let text = scratch.run(&["whatif", "dump.keys", "--split", "common = 64"]);
    for part in [
        "nodes: max/mean",
        "tags whose keys end up in different slots: 1",
        "The heaviest hash tags afterwards",
    ] {
        assert!(
            stdout(&text).contains(part),
            "no {part:?} in {}",
            stdout(&text)
        );
    }
    assert!(!stdout(&text).contains('\u{0}') && !stdout(&text).contains('\u{fffd}'));
}

#[test]
fn a_tag_brings_the_favourites_of_the_document_to_one_slot() {
    let scratch = Scratch::new();
    let keys: Vec<String> = (1..=10)
        .map(|i| format!("favorites:123:news{i:03}"))
        .collect();
    scratch.file("dump.keys", keys.join("\n").as_bytes());
    let rule = r"^favorites:(?<user>\d+):(.*)$ => favorites:{fav:${user}}:$2";
    let found = report(&scratch.run(&["whatif", "dump.keys", "--json", "--retag", rule]));
    assert_eq!(
        (
            &found["before"]["slots"]["max"],
            &found["after"]["slots"]["max"]
        ),
        (&1.into(), &10.into())
    );
    assert_eq!(
        (&found["top_tags"][0]["tag"], &found["moved"]["keys"]),
        (&"fav:123".into(), &10.into())
    );
    // The rule that fanout proposes does the same.
    let fanout = report(&scratch.piped(&["fanout", "--json"], keys.join(" ").as_bytes()));
    let rule = fanout["worst"][0]["suggestion"]["rules"][0]
        .as_str()
        .unwrap();
    let found = report(&scratch.run(&["whatif", "dump.keys", "--json", "--retag", rule]));
    assert_eq!(
        (
            &found["after"]["slots"]["max"],
            &found["top_tags"][0]["tag"]
        ),
        (&10.into(), &"favorites:123".into())
    );
}

#[test]
fn another_policy_moves_keys_and_leaves_out_those_without_a_slot() {
    let scratch = Scratch::new();
    scratch.file(
        "dump.csv",
        b"key,size\na{'1':{'i32':1}},100\nuser-session:1234,10\nuser-profile:1234,20\n",
    );
    let found =
        report(&scratch.run(&["whatif", "dump.csv", "--json", "--to-policy", "enterprise"]));
    assert_eq!(
        (&found["moved"]["keys"], &found["moved"]["bytes"]),
        (&1.into(), &100.into())
    );
    assert_eq!(found["top_tags"][0]["slot"], 12350);
    let users = "regex:/user-.*:(?<tag>.+)/";
    let found = report(&scratch.run(&[
        "whatif",
        "dump.csv",
        "--json",
        "--by",
        "bytes",
        "--to-policy",
        users,
    ]));
    assert_eq!(
        (&found["unplaced"]["keys"], &found["unplaced"]["bytes"]),
        (&1.into(), &100.into())
    );
    assert_eq!(
        (&found["after"]["slots"]["max"], &found["by"]),
        (&30.into(), &"bytes".into())
    );
    assert!(
        found["sentence"]
            .as_str()
            .unwrap()
            .contains("1 have no slot any more")
    );
    // The keys of a tag of that policy, which is not one of braces, end up in different slots on the way back.
    let back = report(&scratch.run(&[
        "whatif",
        "dump.csv",
        "--json",
        "--policy",
        users,
        "--to-policy",
        "oss",
    ]));
    assert_eq!(
        (&back["parted_tags"], &back["input"]["rejected"]["count"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let scratch = with_dump();
    let whatif = |flags: &[&str]| scratch.run(&[&["whatif", "dump.keys"], flags].concat());
    assert_fails(
        &whatif(&[]),
        &["nothing changes: name what to try: --to-nodes"],
    );
    assert_fails(
        &whatif(&["--to-nodes", "0"]),
        &["--to-nodes 0: the number of nodes"],
    );
    assert_fails(
        &whatif(&["--to-policy", "x"]),
        &["--to-policy \"x\": no such policy"],
    );
    assert_fails(
        &whatif(&["--retag", "a"]),
        &["--retag \"a\": is not 'REGEX => TEMPLATE'"],
    );
    assert_fails(
        &whatif(&["--to-nodes", "4", "--by", "ops"]),
        &["--by ops: the input has no ops of its keys; it has: keys"],
    );
    assert_fails(
        &whatif(&["--to-topology", "no.such"]),
        &["no.such: no such file"],
    );
}
