//! The effects of flags, and the values they reject.

use std::fs;

use slotscope::cli::program;
use testkit::prelude::*;

#[test]
fn values_that_make_no_sense_are_refused_and_leave_nothing_behind() {
    let scratch = Scratch::with("a.keys", "a\n");
    scratch.refuses(
        "analyze a.keys --nodes 0 | --nodes 0 | from 1 to 16384
         analyze a.keys --nodes 16385 | --nodes 16385 | from 1 to 16384
         analyze a.keys --threads 0 | --threads 0 | from 1 to 1024
         analyze a.keys --kernel abacus | --kernel | table
         analyze a.keys --format morse | --format | lines
         analyze a.keys --nodes 3 --maxmemory 4 | 4 bytes? write 4gb
         analyze a.keys --nodes 3 --maxmemory 1gb --used-memory even-1 | --used-memory even-1 | ID=SIZE
         analyze a.keys --nodes 3 --fail-on skew>2 | a report has no \"skew\"; it has:
         analyze *.rdb | *.rdb: no file matches",
    );
    assert_eq!(scratch.entries("."), ["a.keys"]);
    let output = scratch.run("whatif a.keys --nodes 3 --split 'nosuch = 3'");
    assert_eq!(code(&output), 2);
    stdout(&output).says("no key has the tag {nosuch}");
}

#[test]
fn topologies_that_make_no_sense_are_refused() {
    let scratch = Scratch::with("a.keys", "a\n");
    let node = |id, slots| format!("{id} 10.0.0.1:1@2 master - 0 0 1 connected {slots}\n");
    scratch.file(
        "twice.nodes",
        node("aa", "0-100") + &node("bb", "100-16383"),
    );
    scratch.file("noise.nodes", "what is this\n");
    scratch.refuses(
        "analyze a.keys --topology twice.nodes | twice.nodes | slot 100 | aa | bb
         analyze a.keys --topology noise.nodes | noise.nodes | line 1
         analyze a.keys --topology none.nodes | none.nodes: no such file",
    );
    let both = scratch.run("analyze a.keys --topology twice.nodes --nodes 3");
    assert_eq!(code(&both), 2);
}

#[test]
fn a_topology_names_the_nodes() {
    let scratch = Scratch::with("a.keys", "name\nname1\nname2\nname3\n");
    let nodes = fs::read(root().join("samples/seed-cluster.nodes")).unwrap();
    scratch.file("cluster.nodes", nodes);
    let json = scratch.report("analyze a.keys --json --topology cluster.nodes");
    let loads = json!([
        ["172.26.0.6:6379", 2],
        ["172.26.0.5:6379", 1],
        ["172.26.0.4:6379", 1]
    ]);
    assert_eq!(json["nodes"]["list"].each("address keys"), loads);
    assert_eq!(json["nodes"]["source"], "cluster.nodes");
    assert!(!json["verdict"]["sentence"].text().starts_with("on "));
}

#[test]
fn a_kernel_is_chosen_by_a_flag_or_a_variable() {
    let scratch = Scratch::with("a.keys", "a\nb\n");
    for kernel in hashslot::available() {
        let made = scratch.report(&format!("analyze --json a.keys --kernel {}", kernel.name));
        assert_eq!(made["run"]["kernel"], kernel.name);
    }
    let mut command = scratch.command("analyze --json a.keys");
    let output = command.env("SLOTSCOPE_KERNEL", "table").output().unwrap();
    assert_eq!(report(&output)["run"]["kernel"], "table");
}

#[test]
fn without_tags_the_report_has_no_table_of_tags() {
    let scratch = Scratch::with("hot", "{hot}\n".repeat(1000).as_bytes());
    let text = scratch.run("analyze hot --no-files --only slots");
    stdout(&text).begins("SKEWED").says("tags were not counted");
}

#[test]
fn columns_can_be_named_and_a_missing_one_is_an_error_that_lists_them() {
    let scratch = Scratch::with("dump.csv", "id,weight\n\"a,{b}\",7\nc,8\n");
    scratch.file("dump.jsonl", "{\"id\":\"a\",\"weight\":7}\n");
    for (dump, format, keys) in [("dump.csv", "csv", 2), ("dump.jsonl", "jsonl", 1)] {
        let line = format!("analyze {dump} --json --key-column id --size-column weight");
        let input = &scratch.report(&line)["input"];
        input.has(json!({"files": [{"format": format}], "keys": keys}));
    }
    scratch.refuses(
        "analyze dump.csv --format csv | dump.csv: no column \"key\"; columns are: \"id\", \"weight\"
         analyze dump.csv --key-column name | dump.csv: no column \"name\"; columns are: \"id\"
         analyze dump.csv --format lines --key-column id | lines has no columns to choose from; csv",
    );
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_flag_of_another_tool_gets_the_word_of_this_one() {
    let scratch = Scratch::new();
    for [line, tip] in rows(
        "collect --host h --port 1 | redis://HOST:PORT
         plan a.keys --to 4 | --add N
         whatif a.keys --add 1 | --to-nodes N",
    ) {
        let output = scratch.run(line);
        assert_eq!(code(&output), 2, "{line}");
        stderr(&output).says("  tip: ").says(tip);
    }
    for flag in ["--verbose", "-v"] {
        let output = scratch.run(&["analyze", flag, "a.keys"]);
        assert_eq!(code(&output), 2);
        stderr(&output).lacks("--version");
    }
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_host_after_h_is_not_a_wish_for_help() {
    let scratch = Scratch::new();
    scratch.refuses(
        "collect -h localhost | -h is the help | redis://localhost:6379
         -h 10.0.0.1 -p 7000 | -h is the help | redis://10.0.0.1:7000",
    );
    for line in ["-h", "analyze -h", "-h analyze"] {
        assert_eq!(code(&scratch.run(line)), 0, "{line}");
    }
}

/// A flag that reads the beginning of its value would take `1=2` for 1, or `keys=2` for keys.
#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn values_are_read_whole() {
    /// Values that are not names, texts or files.
    const READ: &str = "N N,... TIME SIZE PERCENT WHEN WHICH KIND METRIC METRICS K/N K M S TYPES SLOTS PART GROWTH DATE FORM POLICY";
    let scratch = Scratch::with("a.keys", "a\nb\n");
    scratch.run("analyze a.keys --nodes 3 --out r --no-files --json");
    let mut refused = 0;
    for (name, line) in [
        ("analyze", "analyze a.keys --nodes 3"),
        ("plan", "plan a.keys --nodes 3"),
        ("whatif", "whatif a.keys --nodes 3 --to-nodes 4"),
        ("advise", "advise a.keys"),
        ("lint", "lint a.keys"),
        ("timeline", "timeline a.keys"),
        ("capacity", "capacity r/report.json"),
        ("collect", "collect 127.0.0.1:1 --out c"),
        ("bench", "bench"),
        ("generate", "generate"),
    ] {
        let program = program();
        let command = program.find_subcommand(name).unwrap();
        for arg in command.get_arguments() {
            let value = arg.get_value_names().unwrap_or_default().join(" ");
            let is_read = READ.split(' ').any(|read| read == value);
            let Some(flag) = arg.get_long().filter(|_| is_read) else {
                continue;
            };
            for value in ["1=2", "keys=2"] {
                let said = scratch.run(&format!("{line} --{flag}={value}"));
                assert_eq!(code(&said), 2, "{name} --{flag}={value}: {}", stdout(&said));
                stderr(&said).says(&format!("--{flag}"));
                refused += 1;
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
