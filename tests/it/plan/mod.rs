//! `slotscope plan` as a user runs it: text, refusals, JSON and scripts. The properties of plans, and plans executed on
//! a real cluster, are in the other modules of this folder.

mod arithmetic;
mod bounds;
mod campaign;
mod clusters;
mod gate;
mod laws;
mod refusals;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use testkit::prelude::*;

/// Three nodes, the first with most slots; the third has a hostile name and address.
const LISTING: &[u8] = b"aaaa000000000000000000000000000000000001 10.0.0.1:7000@17000 master - 0 0 1 connected 0-9999\n\
    bbbb000000000000000000000000000000000002 10.0.0.2:7000@17000 master - 0 0 2 connected 10000-13191 [13000->-aaaa000000000000000000000000000000000001]\n\
    c';touch${IFS}pwned;' $(touch${IFS}pwned)'`touch${IFS}pwned`:7000@17000 master - 0 0 3 connected 13192-16383\n";

/// A listing and a dump with sizes and operations.
fn fixture() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("cluster.nodes", LISTING);
    let keys: String = (0..30_000)
        .map(|i| format!("key:{i},{},{}\n", 10 + i % 7, i % 3))
        .collect();
    scratch.file("dump.csv", format!("key,size,ops\n{keys}"));
    scratch
}

/// A plan for the dump.
fn plan(scratch: &Scratch, args: &[&str]) -> Output {
    scratch.run(&[&["plan", "dump.csv", "--topology", "cluster.nodes"], args].concat())
}

/// The text or script of a plan.
fn said(scratch: &Scratch, args: &[&str]) -> String {
    let output = plan(scratch, args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output).to_owned()
}

/// The text with its lines joined.
fn prose(text: &str) -> String {
    text.replace("\n# ", " ").replace('\n', " ")
}

#[test]
fn people_read_what_moves_and_what_that_brings() {
    let scratch = fixture();
    let output = plan(&scratch, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    text.begins("move ").says("judged by ops, then by bytes");
    assert!(text.contains("  10.0.0.1 -> 10.0.0.2: "), "{text}");
    text.says("1 slot on the way to another node, left out of the plan: 13000");
    let again = plan(&scratch, &["--by", "bytes", "--tolerance", "500"]);
    stdout(&again).begins("nothing to move: ");
    let added = said(&scratch, &["--add", "2"]);
    let empty = "fair shares are those with primaries that own no slots today: new-1, new-2";
    assert!(prose(&added).contains(empty), "{added}");
    assert!(!text.contains("own no slots"), "{text}");
    let scratch = Scratch::new();
    let piped = scratch.piped(
        &["plan", "--nodes", "2", "--add", "1"],
        b"a\n{hot}1\n{hot}2\n{hot}3\n",
    );
    assert_contains(stdout(&piped), &["the tag {hot}, 100.0% of slot "]);
}

#[test]
fn the_json_has_the_fields_of_the_contract() {
    let plan = report(&plan(
        &fixture(),
        &["--json", "--by", "bytes=2,ops=1", "--exclude", "0-5,77"],
    ));
    assert_eq!(plan["schema"], json!("slotscope.plan/2"));
    for (at, (metric, role, target)) in [("bytes", "memory", 1.03), ("ops", "load", 1.1)]
        .into_iter()
        .enumerate()
    {
        let goal = &plan["goals"][at];
        goal.has(json!({"metric": metric, "role": role, "target": target, "met": true}));
        let ratio = |when: &str| plan[when][metric]["max_over_mean"].as_f64();
        assert!(
            ratio("before") > Some(1.5) && ratio("after") <= Some(target + 1e-9),
            "{goal}"
        );
        assert_eq!(
            (goal["after"].as_f64(), &goal["reason"]),
            (ratio("after"), &json!(null))
        );
    }
    let moves = plan["moves"].list();
    let sum = |field: &str| moves.iter().map(|of| of[field].whole()).sum::<u64>();
    plan.has(json!({"slots_moved": sum("slots"), "bytes_moved": sum("bytes")}));
    assert!(
        sum("keys") > 0
            && moves
                .iter()
                .all(|of| of["ranges"][0][0].is_u64() && of["from"] != of["to"])
    );
    let excluded = |of: &serde_json::Value| {
        of["ranges"]
            .list()
            .iter()
            .any(|range| range[0].as_u64() < Some(6))
    };
    assert!(!moves.iter().any(excluded), "{moves:?}");
    for metric in ["keys", "bytes", "ops", "slots"] {
        let sum = |when: &str| {
            plan["nodes"]
                .list()
                .iter()
                .map(|node| node[metric][when].whole())
                .sum::<u64>()
        };
        assert_eq!(sum("before"), sum("after"), "{metric}");
    }
}

#[test]
fn nodes_come_and_go_and_bear_what_they_can() {
    let plan = report(&plan(
        &fixture(),
        &words("--json --add 2 --remove 10.0.0.1:7000 --weight new-1=3"),
    ));
    let nodes = plan["nodes"].list();
    assert_eq!(
        nodes
            .iter()
            .map(|node| node["weight"].float())
            .collect::<Vec<_>>(),
        [0.0, 1.0, 1.0, 3.0, 1.0]
    );
    assert_eq!(nodes[0]["slots"]["after"], 0);
    let over = |at: usize| nodes[at]["over_fair"]["after"].as_f64();
    assert!(
        (1..5).all(|at| over(at) <= Some(1.1000001)) && over(3) > Some(0.9),
        "{nodes:?}"
    );
    assert_eq!(nodes[0]["over_fair"], json!(null));
}

#[test]
fn text_and_comments_fit_80_columns() {
    let scratch = fixture();
    let wide = |text: &str| {
        let mut lines = text.lines();
        lines
            .find(|line| line.chars().count() > 80)
            .map(String::from)
    };
    for more in [&[][..], &["--by", "bytes=2,ops=1", "--weight", "aaaa=2"]] {
        let args = [&["plan", "dump.csv", "--topology", "cluster.nodes"], more].concat();
        let output = scratch
            .command(&args)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        let text = stdout(&output);
        assert_eq!(wide(text), None, "{text}");
        assert!(text.contains("× fair") && text.contains(" → "), "{text}");
    }
    let script = said(&scratch, &["--commands", "setslot", "--add", "1"]);
    let comments: Vec<&str> = script
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    assert_eq!(wide(&comments.join("\n")), None, "{script}");
}

#[test]
fn a_plan_says_what_it_is_judged_by_and_what_is_not_known() {
    let scratch = fixture();
    let keys: String = (0..3000).map(|i| format!("key:{i}\n")).collect();
    scratch.file("a.keys", keys);
    let args = ["plan", "a.keys", "--topology", "cluster.nodes"];
    let script = [&args[..], &["--commands", "setslot"]].concat();
    for output in [scratch.run(&args), scratch.run(&script)] {
        let text = prose(stdout(&output));
        text.says("judged by keys only: the dump has no sizes, so memory is unknown")
            .says("--commands setslot takes about ")
            .says("5 ms a slot, 70 µs a key, 25 µs above 100 keys a slot, 100 MiB/s");
    }
    let text = said(&scratch, &["--by", "bytes"]);
    assert!(text.contains("\njudged by bytes\n"), "{text}");
    let text = said(&scratch, &["--by", "keys"]);
    assert_contains(&text, &["\njudged by keys; --by bytes plans for memory\n"]);
}

#[test]
fn a_node_that_limits_keep_from_being_emptied_is_named() {
    let scratch = fixture();
    let args = ["--remove", "10.0.0.1:7000"];
    let whole = prose(&said(&scratch, &args));
    whole.begins("empty 10.0.0.1:7000: move 10,000 slots in ");
    assert_contains(&whole, &[": the fullest of the nodes that stay goes from "]);
    assert!(!whole.contains("is not emptied"), "{whole}");
    let part = prose(&said(
        &scratch,
        &[&args[..], &["--max-slots", "1000"]].concat(),
    ));
    let left = "10.0.0.1:7000 is not emptied: the limits leave it 9,000 slots with ";
    part.says(left);
    // The moved slots go to all remaining nodes, the emptiest first, and not to a single one.
    let json = report(&plan(
        &scratch,
        &[&args[..], &["--max-slots", "6000", "--json"]].concat(),
    ));
    let loads = json["nodes"].list()[1..].iter();
    let loads: Vec<u64> = loads.map(|node| node["keys"]["after"].whole()).collect();
    let (most, least) = (loads.iter().max().unwrap(), loads.iter().min().unwrap());
    assert!(
        json["slots_moved"] == 6000 && *most as f64 <= 1.02 * *least as f64,
        "{loads:?}"
    );
    // Before and after are figures for the remaining nodes.
    let json = report(&plan(&scratch, &[&args[..], &["--json"]].concat()));
    let nodes = json["nodes"].list();
    for when in ["before", "after"] {
        let most = nodes[1..]
            .iter()
            .filter_map(|node| node["keys"][when].as_u64())
            .max();
        assert_eq!(json[when]["keys"]["max"].as_u64(), most, "{when}");
    }
}

#[test]
fn a_script_is_sound_and_no_name_in_it_is_run() {
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let scratch = fixture();
        let output = plan(&scratch, &["--commands", kind, "--add", "1"]);
        let script = stdout(&output);
        script.says("name[1]='10.0.0.1:7000' host[1]='10.0.0.1' port[1]=7000 id[1]='aaaa0");
        script.says("\nname[4]='new-1' host[4]='' port[4]='' id[4]='' keys_after[4]=");
        assert!(script.contains("\njobs=(\n    '1 "), "{script}");
        scratch.file("move.sh", script.as_bytes());
        // A redis-cli that only records its arguments: looking up a nonexistent host takes long.
        let note = scratch.file("redis-cli", b"#!/bin/sh\nprintf '<%s>\\n' \"$@\" >>asked\n");
        fs::set_permissions(&note, fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!(
            "{}:{}",
            scratch.path("").display(),
            std::env::var("PATH").unwrap()
        );
        let bash = |args: &[&str]| {
            Command::new("bash")
                .args(args)
                .current_dir(scratch.path(""))
                .env("PATH", &path)
                .output()
                .unwrap()
        };
        let checked = bash(&["-n", "move.sh"]);
        assert!(checked.status.success(), "{kind}: {}", stderr(&checked));
        // Only the node with the hostile address is queried.
        let asks = script
            .replace("host[1]=", "#")
            .replace("host[2]=", "#")
            .replace("host[4]=", "#");
        scratch.file("ask.sh", asks.as_bytes());
        let asked = bash(&["ask.sh"]);
        assert_eq!(asked.status.code(), Some(2), "{kind}");
        assert!(
            stderr(&asked).contains("does not give its id"),
            "{kind}: {}",
            stderr(&asked)
        );
        let words = scratch.read("asked");
        let host = "$(touch${IFS}pwned)'`touch${IFS}pwned`";
        assert_eq!(
            words,
            format!("<-h>\n<{host}>\n<-p>\n<7000>\n<CLUSTER>\n<MYID>\n"),
            "{kind}"
        );
        assert_eq!(
            scratch.entries("."),
            [
                "ask.sh",
                "asked",
                "cluster.nodes",
                "dump.csv",
                "move.sh",
                "redis-cli"
            ],
            "{kind}"
        );
    }
}

#[test]
fn a_plan_that_moves_nothing_says_on_the_terminal_by_what_it_was_made() {
    let scratch = Scratch::new();
    let rows = (0..3000).map(|i| format!("user:{i},10\n"));
    let dump: String = std::iter::once("key,bytes\ngiant,90000\n".to_owned())
        .chain(rows)
        .collect();
    scratch.file("dump.csv", dump);
    let listing = "a 10.0.0.1:1@2 master - 0 0 1 connected 0-8191\n\
                   b 10.0.0.2:1@2 master - 0 0 2 connected 8192-16383\n";
    scratch.file("cluster.nodes", listing);
    let asked = words("plan dump.csv --topology cluster.nodes --by keys --tolerance 10");
    let output = scratch.run(&[&asked[..], &["--commands", "setslot"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let said = stderr(&output);
    said.says("nothing to move").says("judged by keys");
    said.says("--by bytes").says("× its share of");
}
