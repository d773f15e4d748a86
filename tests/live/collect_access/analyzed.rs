//! Directories of `collect`, and servers, are analyzed without flags: the nodes are those of the cluster.

use std::fs;

use crate::collect_access::{collect, manifest};
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

fn joined(value: &Value) -> String {
    value.to_string()
}

#[test]
fn a_collection_has_its_nodes_and_every_command_takes_them() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let run = collect(&scratch, &cluster.address(0), None, &["--max-load", "100"]);
    assert_eq!(manifest(&scratch, &run)["keys"], 6000);

    let found = scratch.report(&words(
        "analyze all --json --fail-on 'nodes.keys.max_over_mean > 9'",
    ));
    assert_eq!(found["nodes"]["source"], "all/cluster.nodes");
    for (i, server) in cluster.servers.iter().enumerate() {
        let node = &found["nodes"]["list"][i];
        assert_eq!(node["address"], cluster.address(i));
        let keys = server.connect().call(&["DBSIZE"]);
        assert_eq!(format!("Int({})", node["keys"]), format!("{keys:?}"));
    }
    assert_eq!(found["tags"]["top"][0]["tag"], "hot");
    assert_eq!(found["tags"]["top"][0]["keys"], 1000);
    assert_eq!(found["input"]["weights"]["bytes"], 6000);
    assert!(found["input"]["written"].is_u64(), "{}", found["input"]);
    assert!(joined(&found["input"]["notes"]).contains("collected from running servers"));
    assert!(found["input"].get("sample_percent").is_none());
    let commands = joined(&found["verdict"]["steps"]);
    commands.says("slotscope plan all").lacks("--topology");

    // The same from the listing and the files by name.
    let listed: Vec<String> = scratch
        .entries("all")
        .into_iter()
        .filter(|name| name.ends_with(".csv.zst"))
        .collect();
    assert_eq!(listed.len(), 3);
    let files: Vec<String> = listed.iter().map(|name| format!("all/{name}")).collect();
    let mut args: Vec<&str> = files.iter().map(String::as_str).collect();
    args.extend(["--topology", "all/cluster.nodes", "--json"]);
    args.insert(0, "analyze");
    let [mut alike, mut found] = [scratch.report(&args), found].map(without_origin);
    // Only the collection has server readings.
    for report in [&mut alike, &mut found] {
        report["input"] = Value::Null;
        report["verdict"] = report["verdict"]["roles"].take();
        for node in report["nodes"]["list"].as_array_mut().unwrap() {
            node.as_object_mut().unwrap().remove("policy");
        }
    }
    assert_eq!(alike, found);

    for (args, part) in [
        (&["plan", "all", "--commands", "setslot"][..], "MIGRATE"),
        (&["keyslot", "--topology", "all", "user:1"], "127.0.0.1:"),
        (
            &[
                "find-tag",
                "--topology",
                "all",
                "--node",
                &cluster.address(1),
            ],
            "\n",
        ),
    ] {
        let run = scratch.run(args);
        assert!(stdout(&run).contains(part), "{args:?}: {run:?}");
    }
    let run = scratch.piped(
        &["fanout", "-", "--topology", "all", "--json"],
        b"MGET user:1 user:2 user:3\n",
    );
    assert_eq!(report(&run)["crossslot"], 1);
}

#[test]
fn servers_are_analyzed_as_their_collection_is_and_nothing_is_left_unless_kept() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    fs::create_dir(scratch.path("tmp")).unwrap();
    let run = |args: &[&str]| {
        let mut command = scratch.command(args);
        let run = command.env("TMPDIR", scratch.path("tmp")).output().unwrap();
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        assert!(scratch.entries("tmp").is_empty(), "{args:?}");
        run
    };
    let url = format!("redis://{}", cluster.address(1));
    run(&["collect", &url, "-o", "all", "--max-load", "100"]);
    let collected = run(&["analyze", "all", "--json"]);
    let live = run(&["analyze", &url, "--json", "--max-load", "100"]);
    let kept = run(&words(&format!(
        "analyze {url} --json --max-load 100 --keep kept"
    )));
    for run in [&live, &kept] {
        let [live, collected] = [report(run), report(&collected)];
        for part in ["slots", "tags", "patterns", "types"] {
            assert_eq!(live[part], collected[part], "{part}");
        }
        assert_eq!(live["nodes"]["list"], collected["nodes"]["list"]);
    }
    let text = stdout(&live);
    assert!(
        !text.contains("tmp") && text.contains("\"source\": \"cluster.nodes\"")
            || text.contains("\"source\":\"cluster.nodes\""),
        "{text}"
    );
    assert!(text.contains("--keep DIR"), "{text}");
    assert_contains(stdout(&kept), &["slotscope plan kept"]);
    assert_eq!(scratch.entries("all").len(), scratch.entries("kept").len());

    // A deleted collection is collected again before planning.
    let remedies = &report(&live)["verdict"]["steps"];
    let command = remedies[0]["command"].text();
    assert_contains(command, &["--max-load 100 --force && slotscope plan"]);
    for _ in 0..2 {
        let typed = scratch.shell(command);
        assert_eq!(code(&typed), 0, "{command}: {}", stderr(&typed));
    }
    assert_contains(&scratch.read("moves.sh"), &["MIGRATE"]);

    let redacted = run(&["analyze", &url, "--json", "--max-load", "100", "--redact"]);
    assert!(!stdout(&redacted).contains("slotscope collect"));
    assert!(!stdout(&redacted).contains("127.0.0.1"));

    // The report is named after the server.
    run(&["analyze", &cluster.address(1), "--max-load", "100"]);
    let name = cluster.address(1).replace(':', "-");
    assert!(
        scratch
            .path(&format!("reports/{name}/report.html"))
            .is_file()
    );
    let mixed = scratch.run(&["analyze", &url, "all"]);
    assert_contains(stderr(&mixed), &["a file next to servers"]);
    let there = scratch.run(&["analyze", &url, "--keep", "kept"]);
    assert!(stderr(&there).contains("kept"), "{}", stderr(&there));
}

#[test]
fn counts_by_slot_alone_are_a_collection_too() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let run = collect(&scratch, &cluster.address(0), None, &["--slots-only"]);
    assert_eq!(manifest(&scratch, &run)["level"], "slots");
    let found = scratch.report(&["analyze", "all", "--json"]);
    assert_eq!(found["input"]["keys"], 6000);
    assert_eq!(found["nodes"]["source"], "all/cluster.nodes");
    let keys: u64 = found["nodes"]["list"]
        .list()
        .iter()
        .map(|node| node["keys"].whole())
        .sum();
    assert_eq!(keys, 6000);
    assert_eq!(code(&scratch.run(&["plan", "all", "--json"])), 0);
}

#[test]
fn what_is_missing_from_a_collection_is_in_the_verdict_and_the_exit_code() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let run = collect(
        &scratch,
        &cluster.address(0),
        None,
        &["--keys", "--max-load", "100"],
    );
    let mut manifest = manifest(&scratch, &run);
    let node = &mut manifest["nodes"][2];
    let file = node["file"].take();
    node["complete"] = false.into();
    node["error"] = "no answer within 10 s".into();
    manifest["incomplete"] = true.into();
    fs::remove_file(scratch.path(&format!("all/{}", file.text()))).unwrap();
    scratch.file("all/collect.json", manifest.to_string());

    let run = scratch.run(&["analyze", "all", "--json"]);
    assert_eq!(code(&run), 2);
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(found["verdict"]["state"], "suspicious");
    let reason = joined(&found["input"]["incomplete"]);
    let name = cluster.address(2);
    assert_contains(&reason, &[&name, "no answer within"]);
    let plan = scratch.run(&["plan", "all"]);
    assert!(stderr(&plan).contains(&name), "{}", stderr(&plan));
    // A redacted report contains no name of a node.
    let run = scratch.run(&["analyze", "all", "--json", "--redact"]);
    assert!(!stdout(&run).contains("127.0.0.1"), "{}", stdout(&run));
}

#[test]
fn a_sample_says_so_and_is_not_taken_for_a_damaged_dump() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let run = collect(
        &scratch,
        &cluster.address(0),
        None,
        &["--sample", "5", "--max-load", "100"],
    );
    let keys = manifest(&scratch, &run)["keys"].whole();
    let found = scratch.report(&["analyze", "all", "--json"]);
    assert_eq!(found["input"]["keys"], keys);
    assert_eq!(found["input"]["sample_percent"], 5.0);
    assert!(
        joined(&found["input"]["warnings"]).contains("a sample, 5.0% of the slots"),
        "{}",
        found["input"]
    );
    assert_ne!(
        found["verdict"]["state"], "suspicious",
        "{}",
        found["verdict"]
    );
    for force in [&[][..], &["--force"]] {
        let plan = scratch.run(&[&["plan", "all"], force].concat());
        assert_eq!(code(&plan), 2);
        assert_contains(stderr(&plan), &["collect without --sample"]);
    }
}

#[test]
fn a_lone_server_is_one_node_and_its_limit_comes_first() {
    let options = ["--cluster-enabled", "no", "--maxmemory", "12mb"];
    let server = Server::start(&options);
    let mut client = server.connect();
    let value = "v".repeat(1000);
    let mut keys = 0;
    while server.used_memory() <= (12 << 20) / 100 * 93 {
        for _ in 0..100 {
            keys += 1;
            client.call(&["SET", &format!("page:{keys}"), &value]);
        }
    }
    let address = format!("127.0.0.1:{}", server.port);
    let scratch = Scratch::new();
    let output = scratch.run(&["analyze", &address, "--no-files"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    text.begins(&format!("FULL  {address} uses "));
    assert!(text.contains("one node, "), "{text}");
    // Without a cluster, no replica can take over.
    assert!(!text.contains("has a replica"), "{text}");
    // The same for a part of the directory, and with other nodes if flags name them.
    succeeded(scratch.run(&["collect", &address, "-o", "out"]));
    succeeded(scratch.run(&["tally", "out", "-o", "a.tally"]));
    let merged = scratch.report(&["analyze", "a.tally", "--json"]);
    assert_eq!(
        merged["nodes"]["list"].list().len(),
        1,
        "{}",
        merged["nodes"]
    );
    let three = scratch.report(&["analyze", "out", "--nodes", "3", "--json"]);
    assert_eq!(three["nodes"]["list"].list().len(), 3);
}
