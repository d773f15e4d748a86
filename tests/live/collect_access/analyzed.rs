//! Directories of `collect`, and servers, are analyzed without flags: the nodes are those of the cluster.

use std::fs;

use crate::collect_access::collected;
use testkit::cluster::Cluster;
use testkit::prelude::*;
use testkit::redis::Server;
/// A key and its value: a sixth of the keys has one tag.
pub(crate) fn carts_and_users(id: usize) -> (String, String) {
    let name = match id % 6 {
        0 => format!("cart:{{hot}}:{id}"),
        _ => format!("user:{id}"),
    };
    (name, "x".repeat(id % 100))
}

/// Three primaries with 6,000 keys, a sixth of which have one tag.
fn cluster() -> Cluster {
    let cluster = Cluster::even(3);
    cluster.set_all((0..6000).map(carts_and_users));
    cluster
}

#[test]
fn a_collection_has_its_nodes_and_every_command_takes_them() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let manifest = collected(&scratch, &cluster.address(0), "--max-load 100");
    assert_eq!(manifest["keys"], 6000);

    let found = scratch.report("analyze all --json --fail-on 'nodes.keys.max_over_mean > 9'");
    assert_eq!(found["nodes"]["source"], "all/cluster.nodes");
    for (i, server) in cluster.servers.iter().enumerate() {
        let keys = server.connect().call(&["DBSIZE"]).int();
        found["nodes"]["list"][i].has(json!({"address": server.address(), "keys": keys}));
    }
    found["tags"]["top"][0].has(json!({"tag": "hot", "keys": 1000}));
    assert_eq!(found["input"]["weights"]["bytes"], 6000);
    assert!(found["input"]["written"].is_u64(), "{}", found["input"]);
    let notes = found["input"]["notes"].to_string();
    notes.says("collected from running servers");
    assert!(found["input"].get("sample_percent").is_none());
    let commands = found["verdict"]["steps"].to_string();
    commands.says("slotscope plan all").lacks("--topology");

    // The same from the listing and the files by name.
    let mut names = scratch.entries("all");
    names.retain(|name| name.ends_with(".csv.zst"));
    assert_eq!(names.len(), 3);
    let files = format!("all/{} all/{} all/{}", names[0], names[1], names[2]);
    let alike = scratch.report(&format!(
        "analyze {files} --topology all/cluster.nodes --json"
    ));
    // Only the collection has server readings.
    let [alike, found] = [alike, found].map(|report| {
        let mut report = without_origin(report);
        report["input"] = Value::Null;
        report["verdict"] = report["verdict"]["roles"].take();
        for node in report["nodes"]["list"].as_array_mut().unwrap() {
            node.as_object_mut().unwrap().remove("policy");
        }
        report
    });
    assert_eq!(alike, found);

    let node = cluster.address(1);
    scratch.text("plan all --commands setslot").says("MIGRATE");
    scratch
        .text("keyslot --topology all user:1")
        .says("127.0.0.1:");
    scratch
        .text(&format!("find-tag --topology all --node {node}"))
        .says("\n");
    let args = ["fanout", "-", "--topology", "all", "--json"];
    let run = scratch.piped(&args, b"MGET user:1 user:2 user:3\n");
    assert_eq!(report(&run)["crossslot"], 1);
}
#[test]
fn servers_are_analyzed_as_their_collection_is_and_nothing_is_left_unless_kept() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    fs::create_dir(scratch.path("tmp")).unwrap();
    let run = |line: String| {
        let mut command = scratch.command(&words(&line));
        let run = command.env("TMPDIR", scratch.path("tmp")).output().unwrap();
        assert!(scratch.entries("tmp").is_empty(), "{line}");
        String::from_utf8(succeeded(run)).unwrap()
    };
    let report = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let url = format!("redis://{} --max-load 100", cluster.address(1));
    run(format!("collect {url} -o all"));
    let collected = report(&run("analyze all --json".into()));
    let live = run(format!("analyze {url} --json"));
    let kept = run(format!("analyze {url} --json --keep kept"));
    for live in [&live, &kept] {
        let live = report(live);
        for part in ["slots", "tags", "patterns", "types"] {
            assert_eq!(live[part], collected[part], "{part}");
        }
        assert_eq!(live["nodes"]["list"], collected["nodes"]["list"]);
    }
    live.lacks("tmp").says("--keep DIR");
    let live = report(&live);
    assert_eq!(live["nodes"]["source"], "cluster.nodes");
    kept.says("slotscope plan kept");
    assert_eq!(scratch.entries("all").len(), scratch.entries("kept").len());

    // A deleted collection is collected again before planning.
    let command = live["verdict"]["steps"][0]["command"].text();
    command.says("--max-load 100 --force && slotscope plan");
    for _ in 0..2 {
        succeeded(scratch.shell(command));
    }
    scratch.read("moves.sh").says("MIGRATE");

    let redacted = run(format!("analyze {url} --json --redact"));
    redacted.lacks("slotscope collect").lacks("127.0.0.1");

    // The report is named after the server.
    run(format!("analyze {} --max-load 100", cluster.address(1)));
    let name = cluster.address(1).replace(':', "-");
    assert!(
        scratch
            .path(&format!("reports/{name}/report.html"))
            .is_file()
    );
    let mixed = scratch.run(&format!("analyze {url} all"));
    stderr(&mixed).says("a file next to servers");
    let there = scratch.run(&format!("analyze {url} --keep kept"));
    stderr(&there).says("kept");
}
#[test]
fn what_is_missing_from_a_collection_is_in_the_verdict_and_the_exit_code() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let mut manifest = collected(&scratch, &cluster.address(0), "--keys --max-load 100");
    let node = &mut manifest["nodes"][2];
    let file = node["file"].take();
    node["complete"] = false.into();
    node["error"] = "no answer within 10 s".into();
    manifest["incomplete"] = true.into();
    fs::remove_file(scratch.path(&format!("all/{}", file.text()))).unwrap();
    scratch.file("all/collect.json", manifest.to_string());

    let run = scratch.run("analyze all --json");
    assert_eq!(code(&run), 2);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(found["verdict"]["state"], "suspicious");
    let reason = found["input"]["incomplete"].to_string();
    let name = cluster.address(2);
    reason.says(&name).says("no answer within");
    stderr(&scratch.run("plan all")).says(&name);
    // A redacted report contains no name of a node.
    let run = scratch.run("analyze all --json --redact");
    stdout(&run).lacks("127.0.0.1");
}
#[test]
fn a_sample_says_so_and_is_not_taken_for_a_damaged_dump() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let manifest = collected(&scratch, &cluster.address(0), "--sample 5 --max-load 100");
    let found = scratch.report("analyze all --json");
    found["input"].has(json!({"keys": manifest["keys"], "sample_percent": 5.0}));
    let warnings = found["input"]["warnings"].to_string();
    warnings.says("a sample, 5.0% of the slots");
    let verdict = &found["verdict"];
    assert_ne!(verdict["state"], "suspicious", "{verdict}");
    for line in ["plan all", "plan all --force"] {
        let plan = scratch.run(line);
        assert_eq!(code(&plan), 2);
        stderr(&plan).says("collect without --sample");
    }
}
#[test]
fn a_lone_server_is_one_node_and_its_limit_comes_first() {
    let options = ["--cluster-enabled", "no", "--maxmemory", "12mb"];
    let (server, scratch) = (Server::start(&options), Scratch::new());
    let value = "v".repeat(1000);
    for from in (0..).step_by(100) {
        let rows: Vec<_> = (from..from + 100)
            .map(|i| (format!("page:{i}"), &value))
            .collect();
        server.connect().set_all(&rows);
        if server.used_memory() > (12 << 20) / 100 * 93 {
            break;
        }
    }
    let address = server.address();
    let text = scratch.text(&format!("analyze {address} --no-files"));
    text.begins(&format!("FULL  {address} uses "))
        .says("one node, ");
    // Without a cluster, no replica can take over.
    text.lacks("has a replica");
    // The same for a part of the directory, and with other nodes if flags name them.
    scratch.text(&format!("collect {address} -o out"));
    scratch.text("tally out -o a.tally");
    for (line, nodes) in [
        ("analyze a.tally --json", 1),
        ("analyze out --nodes 3 --json", 3),
    ] {
        let found = scratch.report(line);
        assert_eq!(
            found["nodes"]["list"].list().len(),
            nodes,
            "{}",
            found["nodes"]
        );
    }
}
