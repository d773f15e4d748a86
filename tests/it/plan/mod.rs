//! `slotscope plan` as a user runs it: what it says, what it refuses, the JSON and the scripts. The laws of plans, and
//! plans carried out on a real cluster, are in the other modules of this folder.

mod follower;
mod laws;
mod live;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::support::run::{Scratch, fails, report, stderr, stdout};
use serde_json::json;

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

#[test]
fn people_read_what_moves_and_what_that_brings() {
    let scratch = fixture();
    let output = plan(&scratch, &[]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        text.starts_with("move ") && text.contains("no plan gets it below 1.000"),
        "{text}"
    );
    assert!(
        text.contains("  10.0.0.1:7000 -> 10.0.0.2:7000: "),
        "{text}"
    );
    assert!(
        text.contains("on their way to another node stay out of the plan: 1, slot 13000"),
        "{text}"
    );
    let again = plan(&scratch, &["--tolerance", "500"]);
    assert!(
        stdout(&again).starts_with("nothing to move: "),
        "{}",
        stdout(&again)
    );
    let scratch = Scratch::new();
    let piped = scratch.piped(
        &["plan", "--nodes", "2", "--add", "1"],
        b"a\n{hot}1\n{hot}2\n{hot}3\n",
    );
    assert!(
        stdout(&piped).contains("the tag {hot}, 100.0 % of slot "),
        "{}",
        stdout(&piped)
    );
}

#[test]
fn the_json_has_the_fields_of_the_contract() {
    let plan = report(&plan(
        &fixture(),
        &["--json", "--by", "bytes=2,ops=1", "--exclude", "0-5,77"],
    ));
    assert_eq!(
        (&plan["schema"], &plan["by"]),
        (
            &json!("slotscope.plan/1"),
            &json!({"bytes": 2.0, "ops": 1.0})
        )
    );
    let (before, after) = (
        &plan["before"]["max_over_mean"],
        &plan["after"]["max_over_mean"],
    );
    assert!(
        before.as_f64() > Some(1.5) && after.as_f64() <= Some(1.0100001),
        "{before} {after}"
    );
    assert_eq!(
        (&plan["floor"], &plan["floor_unit"]),
        (&json!(1.0), &json!(null))
    );
    let moves = plan["moves"].as_array().unwrap();
    let sum = |field: &str| {
        moves
            .iter()
            .map(|of| of[field].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(
        (&plan["slots_moved"], &plan["bytes_moved"]),
        (&json!(sum("slots")), &json!(sum("bytes")))
    );
    assert!(
        sum("keys") > 0
            && moves
                .iter()
                .all(|of| of["ranges"][0][0].is_u64() && of["from"] != of["to"])
    );
    let excluded = |of: &serde_json::Value| {
        of["ranges"]
            .as_array()
            .unwrap()
            .iter()
            .any(|range| range[0].as_u64() < Some(6))
    };
    assert!(!moves.iter().any(excluded), "{moves:?}");
    for metric in ["keys", "bytes", "ops", "slots"] {
        let sum = |when: &str| {
            plan["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .map(|node| node[metric][when].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(sum("before"), sum("after"), "{metric}");
    }
}

#[test]
fn nodes_come_and_go_and_bear_what_they_can() {
    let plan = report(&plan(
        &fixture(),
        &[
            "--json",
            "--add",
            "2",
            "--remove",
            "10.0.0.1:7000",
            "--weight",
            "new-1=3",
        ],
    ));
    let nodes = plan["nodes"].as_array().unwrap();
    assert_eq!(
        nodes
            .iter()
            .map(|node| node["weight"].as_f64().unwrap())
            .collect::<Vec<_>>(),
        [0.0, 1.0, 1.0, 3.0, 1.0]
    );
    assert_eq!(nodes[0]["slots"]["after"], 0);
    let over = |at: usize| nodes[at]["over_fair"]["after"].as_f64();
    assert!(
        (1..5).all(|at| over(at) <= Some(1.0100001)) && over(3) > Some(0.9),
        "{nodes:?}"
    );
    assert_eq!(nodes[0]["over_fair"], json!(null));
}

/// Flags for the fixture that are refused, and what the refusal contains.
const REFUSED: &[(&[&str], &[&str])] = &[
    (&["--by", "size"], &["--by size", "bytes=2,ops=1"]),
    (&["--by", "keys,keys=2"], &["each once"]),
    (&["--by", "keys=0"], &["above 0"]),
    (
        &["--weight", "x=1"],
        &[
            "--weight x=1",
            "there is no such node; the nodes are: 10.0.0.1:7000",
        ],
    ),
    (&["--weight", "aaaa=0"], &["--remove"]),
    (&["--weight", "aaaa"], &["ID=W"]),
    (
        &["--remove", "aaaa", "--remove", "bbbb", "--remove", "c"],
        &["no node would be left"],
    ),
    (
        &["--remove", "bbbb"],
        &["slot 13000", "--exclude", "on its way"],
    ),
    (&["--remove", "aaaa", "--exclude", "9,8"], &["slot 8"]),
    (&["--exclude", "16384"], &["0-5,77"]),
    (&["--exclude", "5-0"], &["--exclude 5-0"]),
    (&["--tolerance=-1"], &["percent"]),
    (&["--max-bytes", "1x"], &["512mb"]),
    (&["--add", "16384"], &["16384"]),
];

/// The same for dumps without weights.
const REFUSED_DUMPS: &[(&[&str], &[&str])] = &[
    (&["a.keys"], &["--topology", "--nodes"]),
    (&["empty.keys", "--nodes", "3"], &["no load", "rebalance"]),
    (
        &["a.keys", "--nodes", "3", "--by", "ops"],
        &["--by ops", "it has: keys"],
    ),
    (
        &["a.keys", "--nodes", "3", "--max-bytes", "1"],
        &["--max-bytes", "it has: keys"],
    ),
];

#[test]
fn a_refusal_names_the_flag_and_the_way_out() {
    let scratch = fixture();
    scratch.file("empty.keys", "");
    scratch.file("a.keys", "a\n");
    let with_fixture = REFUSED
        .iter()
        .map(|(args, parts)| (args, plan(&scratch, args), parts));
    let with_dumps = REFUSED_DUMPS
        .iter()
        .map(|(args, parts)| (args, scratch.run(&[&["plan"], *args].concat()), parts));
    let wrong: Vec<String> = with_fixture
        .chain(with_dumps)
        .filter_map(|(args, output, parts)| {
            let complaint = fails(&output, parts).err()?;
            Some(format!("{args:?}: {complaint}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_script_is_sound_and_no_name_in_it_is_run() {
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let scratch = fixture();
        let output = plan(&scratch, &["--commands", kind, "--add", "1"]);
        let script = stdout(&output);
        assert!(
            script.contains("host[1]='10.0.0.1' port[1]=7000 id[1]='aaaa0"),
            "{script}"
        );
        assert!(
            script.contains("host[4]='' port[4]='' id[4]=''  # new-1: fill in"),
            "{script}"
        );
        assert!(script.contains("\nmove "), "{script}");
        scratch.file("move.sh", script.as_bytes());
        // A redis-cli that only notes what it is asked for: a lookup of a host that does not exist takes long.
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
        // Only the node with the hostile address is asked.
        let asks = script
            .replace("host[1]=", "#")
            .replace("host[2]=", "#")
            .replace("host[4]=", "#");
        scratch.file("ask.sh", asks.as_bytes());
        let asked = bash(&["ask.sh"]);
        assert_eq!(asked.status.code(), Some(1), "{kind}");
        assert!(
            stderr(&asked).contains("does not tell its id"),
            "{kind}: {}",
            stderr(&asked)
        );
        let words = fs::read_to_string(scratch.path("asked")).unwrap();
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
