//! Outputs: files they may replace, and leftovers of a run.

use std::fs::{self, File};

use testkit::prelude::*;

/// A scratch directory with two dumps.
fn dumps() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("a.keys", "{a}1\n{a}2\nb\n");
    scratch.file("b.keys", "{b}1\n");
    scratch
}

#[test]
fn files_that_slotscope_did_not_write_are_neither_replaced_nor_removed() {
    let scratch = dumps();
    fs::create_dir(scratch.path("home")).unwrap();
    for name in ["tags.csv", "prefixes.csv", "tag-sizes.png", "report.json"] {
        scratch.file(&format!("home/{name}"), "mine");
        let args = ["analyze", "a.keys", "--only", "slots", "--out", "home"];
        let line = format!("{name} 'slotscope did not write this file' --out --force");
        let parts = words(&line);
        assert_fails(&scratch.run(&args), &parts);
        assert_eq!(scratch.entries("home"), [name], "nothing is left behind");
        assert_eq!(fs::read(scratch.path("home").join(name)).unwrap(), b"mine");
        fs::remove_file(scratch.path("home").join(name)).unwrap();
    }
    scratch.file("home/tags.csv", "mine");
    succeeded(scratch.run(&["analyze", "a.keys", "--out", "home", "--force"]));
    assert!(scratch.path("home/report.html").exists());
    // From here on it is a report directory.
    scratch.file("home/notes.txt", "mine");
    succeeded(scratch.run(&["analyze", "a.keys", "--out", "home", "--only", "slots"]));
    assert!(!scratch.path("home/tags.csv").exists());
    assert_eq!(fs::read(scratch.path("home/notes.txt")).unwrap(), b"mine");
}

#[test]
fn timeline_replaces_other_files_where_it_is_forced() {
    let scratch = dumps();
    scratch.file(
        "a.monitor",
        "1700000000.000001 [0 127.0.0.1:1] \"GET\" \"a\"\n",
    );
    fs::create_dir(scratch.path("home")).unwrap();
    scratch.file("home/timeline.json", "mine");
    let args = ["timeline", "a.monitor", "--out", "home"];
    scratch
        .run(&args)
        .refused("timeline.json | or replace such files with --force");
    succeeded(scratch.run(&[&args[..], &["--force"]].concat()));
    assert_ne!(scratch.read("home/timeline.json"), "mine");
}

#[test]
fn an_empty_file_has_nothing_to_lose() {
    let scratch = dumps();
    fs::create_dir(scratch.path("out")).unwrap();
    scratch.file("out/report.html", "");
    succeeded(scratch.run(&["analyze", "a.keys", "--out", "out"]));
}

#[test]
fn whatever_a_run_reads_is_not_replaced_by_its_report() {
    let scratch = dumps();
    let nodes = "10.0.0.1:7000 (aaaaaaaa...) -> 3 keys | 16384 slots | 0 replicas.\n";
    let listing = "aaaaaaaa 10.0.0.1:7000@17000 master - 0 0 1 connected 0-16383\n";
    succeeded(scratch.run(&["analyze", "a.keys", "--out", "out"]));
    for (content, flags) in [
        (listing, &["a.keys", "--topology", "out/nodes.csv"][..]),
        (nodes, &["a.keys", "--cluster-info", "out/nodes.csv"]),
        ("k\n", &["out/nodes.csv"]),
        ("k\n", &["-"]),
        ("k\n", &["link"]),
    ] {
        scratch.file("out/nodes.csv", content);
        let _ = fs::hard_link(scratch.path("out/nodes.csv"), scratch.path("link"));
        let mut command = scratch.command(&[&["analyze", "--out", "out"], flags].concat());
        command.stdin(File::open(scratch.path("out/nodes.csv")).unwrap());
        let parts = ["nodes.csv: the report would replace this input", "--out"];
        assert_fails(&command.output().unwrap(), &parts);
        assert_eq!(
            fs::read(scratch.path("out/nodes.csv")).unwrap(),
            content.as_bytes(),
            "{flags:?}"
        );
    }
}

#[test]
fn single_files_replace_their_own_kind_only() {
    let scratch = dumps();
    let metrics = words("analyze a.keys --openmetrics m.prom --out out");
    scratch.file("m.prom", "# HELP other_metric x\n");
    let parts = [
        "m.prom: slotscope did not write",
        "--openmetrics",
        "--force",
    ];
    assert_fails(&scratch.run(&metrics), &parts);
    assert_eq!(scratch.entries("."), ["a.keys", "b.keys", "m.prom"]);
    fs::remove_file(scratch.path("m.prom")).unwrap();
    for _ in 0..2 {
        succeeded(scratch.run(&metrics));
        assert!(scratch.path("out/report.json").exists());
        let text = scratch.read("m.prom");
        assert!(text.contains("slotscope_keys 3"), "{text}");
    }
    let plan = words("plan a.keys --nodes 2 --force --commands setslot");
    let plan = [&plan[..], &["--rollback", "back.sh"]].concat();
    scratch.file("back.sh", "rm everything\n");
    scratch
        .run(&plan)
        .refused("back.sh: slotscope did not write | --rollback");
    fs::remove_file(scratch.path("back.sh")).unwrap();
    for _ in 0..2 {
        succeeded(scratch.run(&plan));
    }
}

#[test]
#[cfg(unix)]
fn a_stream_is_read_once_however_often_it_is_named() {
    let scratch = dumps();
    for names in [["-", "/dev/stdin"], ["/dev/stdin", "/dev/stdin"]] {
        let output = scratch.piped(&[&["analyze", "--no-files"][..], &names].concat(), b"k\n");
        assert_fails(&output, &["/dev/stdin: the same stream as", "name it once"]);
    }
    // A file can be read repeatedly; the report says that its keys repeat.
    let output = scratch.run(&["analyze", "--no-files", "a.keys", "a.keys"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
}

#[test]
fn a_report_among_dumps_is_no_dump() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/a.keys", "a\nb\n");
    scratch.file("dumps/mine.csv", "key,size\nc,1\n");
    for _ in 0..2 {
        let output = scratch.run(&["analyze", "dumps", "--out", "dumps", "--json"]);
        let read: Value = serde_json::from_slice(&succeeded(output)).unwrap();
        assert_eq!(read["input"]["keys"], 3);
    }
    let noted = scratch.run(&["analyze", "dumps", "--no-files", "--full"]);
    let text = String::from_utf8(succeeded(noted)).unwrap();
    text.says("files of an earlier report in a directory of dumps, passed");
    // A named file is inspected, and so is one in a directory without a report: this one is a table without keys.
    fs::create_dir(scratch.path("other")).unwrap();
    fs::copy(
        scratch.path("dumps/slots.csv"),
        scratch.path("other/slots.csv"),
    )
    .unwrap();
    for dump in ["dumps/slots.csv", "other"] {
        let output = scratch.run(&["analyze", dump, "--no-files"]);
        assert_fails(&output, &["slots.csv: a table whose header names no key"]);
    }
    fs::remove_file(scratch.path("dumps/a.keys")).unwrap();
    fs::remove_file(scratch.path("dumps/mine.csv")).unwrap();
    let only = scratch.run(&["analyze", "dumps", "--no-files"]);
    assert_fails(&only, &["dumps: holds a report of slotscope and no dump"]);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let scratch = dumps();
    fs::create_dir(scratch.path("out")).unwrap();
    let left = "out/.report.html.slotscope-part";
    let alive = "out/.report.json.slotscope-part";
    let other = "out/.mine.part";
    for name in [left, alive, other] {
        scratch.file(name, "half a report");
    }
    let lock = File::open(scratch.path(alive)).unwrap();
    lock.lock().unwrap();
    let run = ["analyze", "a.keys", "--out", "out"];
    assert_fails(
        &scratch.run(&run),
        &["report.json: another run is writing it"],
    );
    drop(lock);
    succeeded(scratch.run(&run));
    let there = [left, alive, other].map(|name| scratch.path(name).exists());
    assert_eq!(there, [false, false, true]);
}

#[test]
#[cfg(unix)]
fn what_a_server_replies_reaches_the_terminal_without_control_characters() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    let id = |digit: &str| digit.repeat(40);
    scratch.file(
        "nodes",
        format!(
            "{} 10.0.0.1:7000@17000 master - 0 0 1 connected 0-16000\n{} 10.0.0.2:7000@17000 master - 0 0 2 connected 16001-16383\n",
            id("a"),
            id("b")
        ),
    );
    scratch.file(
        "even.keys",
        (0..9000).map(|i| format!("k:{i}\n")).collect::<String>(),
    );
    let plan = ["plan", "even.keys", "--topology", "nodes", "--commands"];
    fs::create_dir(scratch.path("bin")).unwrap();
    let fake = scratch.file(
        "bin/redis-cli",
        "#!/bin/sh\nprintf 'ok\\033[2J\\302\\233hostile\\n'\n",
    );
    fs::set_permissions(fake, fs::Permissions::from_mode(0o755)).unwrap();
    for commands in ["setslot", "valkey", "redis-8.4"] {
        let script = succeeded(scratch.run(&[&plan[..], &[commands]].concat()));
        scratch.file("script", script);
        let path = format!(
            "{}:{}",
            scratch.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        let output = std::process::Command::new("bash")
            .arg(scratch.path("script"))
            .env("PATH", path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("hostile"), "{commands}: {said}");
        assert!(
            !said
                .trim_end()
                .contains(|c: char| c.is_control() && c != '\n'),
            "{said:?}"
        );
    }
}
