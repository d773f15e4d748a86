//! The effects of flags, and the values they reject.

use std::fs;
use std::path::Path;

use testkit::prelude::*;

#[test]
fn flags_out_of_range_are_refused() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    for (args, parts) in [
        (["--nodes", "0"], ["--nodes 0", "from 1 to 16384"]),
        (["--nodes", "16385"], ["--nodes 16385", "from 1 to 16384"]),
        (["--threads", "0"], ["--threads 0", "from 1 to 1024"]),
        (["--kernel", "abacus"], ["--kernel", "table"]),
        (["--format", "morse"], ["--format", "lines"]),
    ] {
        assert_fails(
            &scratch.run(&["analyze", "a.keys", args[0], args[1]]),
            &parts,
        );
    }
    assert_eq!(scratch.entries("."), ["a.keys"]);
}

#[test]
fn topologies_that_make_no_sense_are_refused() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    let twice = b"aa 10.0.0.1:1@2 master - 0 0 1 connected 0-100\nbb 10.0.0.2:1@2 master - 0 0 1 connected 100-16383\n";
    scratch.file("twice.nodes", twice);
    scratch.file("noise.nodes", b"what is this\n");
    scratch.refuses(
        "analyze a.keys --topology twice.nodes | twice.nodes | slot 100 | aa | bb
         analyze a.keys --topology noise.nodes | noise.nodes | line 1
         analyze a.keys --topology none.nodes | none.nodes: no such file",
    );
    let both = scratch.run(&words("analyze a.keys --topology twice.nodes --nodes 3"));
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_topology_names_the_nodes() {
    let scratch = Scratch::new();
    let nodes =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/seed-cluster.nodes")).unwrap();
    scratch.file("cluster.nodes", &nodes);
    scratch.file("a.keys", b"name\nname1\nname2\nname3\n");
    let json = scratch.report(&["analyze", "a.keys", "--json", "--topology", "cluster.nodes"]);
    let list: Vec<_> = json["nodes"]["list"].list().iter().collect();
    let loads: Vec<_> = list
        .iter()
        .map(|node| (node["address"].text(), node["keys"].whole()))
        .collect();
    assert_eq!(
        loads,
        [
            ("172.26.0.6:6379", 2),
            ("172.26.0.5:6379", 1),
            ("172.26.0.4:6379", 1)
        ]
    );
    assert_eq!(json["nodes"]["source"], "cluster.nodes");
    assert!(!json["verdict"]["sentence"].text().starts_with("on "));
}

#[test]
fn a_kernel_is_chosen_by_a_flag_or_a_variable() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "a\nb\n");
    let analyze = ["analyze", "--json", "a.keys"];
    for kernel in hashslot::available() {
        let made = scratch.report(&[&analyze[..], &["--kernel", kernel.name]].concat());
        assert_eq!(made["run"]["kernel"], kernel.name);
    }
    let mut command = scratch.command(&analyze);
    let output = command.env("SLOTSCOPE_KERNEL", "table").output().unwrap();
    assert_eq!(report(&output)["run"]["kernel"], "table");
}

#[test]
fn without_tags_the_report_has_no_table_of_tags() {
    let scratch = Scratch::new();
    scratch.file("hot", "{hot}\n".repeat(1000).as_bytes());
    let text = scratch.run(&["analyze", "hot", "--no-files", "--only", "slots"]);
    stdout(&text).begins("SKEWED").says("tags were not counted");
}

#[test]
fn columns_can_be_named_in_csv_and_json_lines() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", b"id,weight\n\"a,{b}\",7\nc,8\n");
    scratch.file("dump.jsonl", b"{\"id\":\"a\",\"weight\":7}\n");
    for (dump, format, keys) in [("dump.csv", "csv", 2), ("dump.jsonl", "jsonl", 1)] {
        let output = scratch.run(&words(&format!(
            "analyze {dump} --json --key-column id --size-column weight"
        )));
        let json = report(&output);
        json["input"].has(json!({"files": [{"format": format}], "keys": keys}));
    }
}

#[test]
fn a_missing_column_is_an_error_that_lists_the_columns() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", b"id,size\na,1\n");
    let output = scratch.run(&["analyze", "dump.csv", "--format", "csv"]);
    output.refused("slotscope: dump.csv: no column \"key\"; columns are: \"id\", \"size\"");
    let output = scratch.run(&["analyze", "dump.csv", "--key-column", "name"]);
    output.refused("slotscope: dump.csv: no column \"name\"; columns are: \"id\", \"size\"");
    let output = scratch.run(&words("analyze dump.csv --format lines --key-column id"));
    output.refused("--key-column: lines has no columns to choose from; csv and jsonl have");
}

#[test]
fn a_flag_of_another_tool_gets_the_word_of_this_one() {
    let scratch = Scratch::new();
    for (args, tip) in [
        (
            &["collect", "--host", "h", "--port", "1"][..],
            "redis://HOST:PORT",
        ),
        (&["plan", "a.keys", "--to", "4"], "--add N"),
        (&["collect", "-u", "redis://h"], "redis://HOST:PORT"),
        (&["whatif", "a.keys", "--add", "1"], "--to-nodes N"),
    ] {
        let output = scratch.run(args);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains("  tip: ") && said.contains(tip), "{said}");
    }
    for flag in ["--verbose", "-v"] {
        let output = scratch.run(&["analyze", flag, "a.keys"]);
        assert_eq!(code(&output), 2);
        stderr(&output).lacks("--version");
    }
}

#[test]
fn a_host_after_h_is_not_a_wish_for_help() {
    let scratch = Scratch::new();
    for (args, url) in [
        (
            &["collect", "-h", "localhost"][..],
            "redis://localhost:6379",
        ),
        (&["-h", "10.0.0.1", "-p", "7000"], "redis://10.0.0.1:7000"),
    ] {
        assert_fails(&scratch.run(args), &["-h is the help", url]);
    }
    for args in [&["-h"][..], &["analyze", "-h"], &["-h", "analyze"]] {
        assert_eq!(code(&scratch.run(args)), 0, "{args:?}");
    }
}

#[test]
fn a_slip_in_a_value_says_what_was_meant() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "a\nb\n");
    let analyze = ["analyze", "a.keys", "--nodes", "3"];
    for (args, part) in [
        (&["--maxmemory", "4"], "4 bytes? write 4gb"),
        (
            &["--fail-on", "skew>2"],
            "a report has no \"skew\"; it has: ",
        ),
    ] {
        assert_fails(&scratch.run(&[&analyze[..], args].concat()), &[part]);
    }
    scratch.refuses("analyze *.rdb | *.rdb: no file matches");
    let split = ["whatif", "a.keys", "--nodes", "3", "--split", "nosuch = 3"];
    let output = scratch.run(&split);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stdout(&output).contains("no key has the tag {nosuch}"));
}
