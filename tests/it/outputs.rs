//! Outputs: files they may replace, and leftovers of a run.

use std::fs::{self, File};

use testkit::prelude::*;

/// A scratch directory with two dumps.
fn dumps() -> Scratch {
    let scratch = Scratch::with("a.keys", "{a}1\n{a}2\nb\n");
    scratch.file("b.keys", "{b}1\n");
    scratch
}

#[test]
fn files_that_slotscope_did_not_write_are_neither_replaced_nor_removed() {
    let scratch = dumps();
    fs::create_dir(scratch.path("home")).unwrap();
    for name in ["tags.csv", "prefixes.csv", "tag-sizes.png", "report.json"] {
        scratch.file(&format!("home/{name}"), "mine");
        scratch.refuses(&format!(
            "analyze a.keys --only slots --out home | {name} | slotscope did not write this file | --out | --force"
        ));
        assert_eq!(scratch.entries("home"), [name], "nothing is left behind");
        assert_eq!(scratch.read(format!("home/{name}")), "mine");
        fs::remove_file(scratch.path("home").join(name)).unwrap();
    }
    scratch.file("home/tags.csv", "mine");
    scratch.text("analyze a.keys --out home --force");
    assert!(scratch.path("home/report.html").exists());
    // From here on it is a report directory.
    scratch.file("home/notes.txt", "mine");
    scratch.text("analyze a.keys --out home --only slots");
    assert!(!scratch.path("home/tags.csv").exists());
    assert_eq!(scratch.read("home/notes.txt"), "mine");
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn timeline_replaces_other_files_where_it_is_forced() {
    let scratch = dumps();
    let operation = "1700000000.000001 [0 127.0.0.1:1] \"GET\" \"a\"\n";
    scratch.file("a.monitor", operation);
    fs::create_dir(scratch.path("home")).unwrap();
    // An empty file has nothing to lose.
    scratch.file("home/timeline.json", "");
    let command = "timeline a.monitor --out home";
    scratch.text(command);
    scratch.file("home/timeline.json", "mine");
    scratch.refuses(&format!(
        "{command} | timeline.json | or replace such files with --force"
    ));
    scratch.text(&format!("{command} --force"));
    assert_ne!(scratch.read("home/timeline.json"), "mine");
}

#[test]
fn whatever_a_run_reads_is_not_replaced_by_its_report() {
    let scratch = dumps();
    let nodes = "10.0.0.1:7000 (aaaaaaaa...) -> 3 keys | 16384 slots | 0 replicas.\n";
    let listing = "aaaaaaaa 10.0.0.1:7000@17000 master - 0 0 1 connected 0-16383\n";
    scratch.text("analyze a.keys --out out");
    for (content, flags) in [
        (listing, "a.keys --topology out/nodes.csv"),
        (nodes, "a.keys --cluster-info out/nodes.csv"),
        ("k\n", "out/nodes.csv"),
        ("k\n", "-"),
        ("k\n", "link"),
    ] {
        scratch.file("out/nodes.csv", content);
        let _ = fs::hard_link(scratch.path("out/nodes.csv"), scratch.path("link"));
        let mut command = scratch.command(&format!("analyze --out out {flags}"));
        command.stdin(File::open(scratch.path("out/nodes.csv")).unwrap());
        let parts = "nodes.csv: the report would replace this input | --out";
        command.output().unwrap().refused(parts);
        assert_eq!(scratch.read("out/nodes.csv"), content, "{flags}");
    }
}

#[test]
fn single_files_replace_their_own_kind_only() {
    let scratch = dumps();
    let metrics = "analyze a.keys --openmetrics m.prom --out out";
    let plan = "plan a.keys --nodes 2 --force --commands setslot --rollback back.sh";
    for (line, file, flag, made) in [
        (
            metrics,
            "m.prom",
            "--openmetrics | --force",
            "slotscope_keys 3",
        ),
        (plan, "back.sh", "--rollback", "setslot"),
    ] {
        scratch.file(file, "rm everything\n");
        scratch.refuses(&format!(
            "{line} | {file}: slotscope did not write | {flag}"
        ));
        assert!(!scratch.path("out/report.json").exists() || line == plan);
        fs::remove_file(scratch.path(file)).unwrap();
        for _ in 0..2 {
            scratch.text(line);
            scratch.read(file).to_lowercase().says(made);
        }
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
    scratch.text("analyze --no-files a.keys a.keys");
}

#[test]
fn a_report_among_dumps_is_no_dump() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/a.keys", "a\nb\n");
    scratch.file("dumps/mine.csv", "key,size\nc,1\n");
    for _ in 0..2 {
        let read = scratch.report("analyze dumps --out dumps --json");
        assert_eq!(read["input"]["keys"], 3);
    }
    let noted = "items in a directory of dumps, passed over";
    scratch.text("analyze dumps --no-files --full").says(noted);
    // A named file is inspected, and so is one in a directory without a report: this one is a table without keys.
    succeeded(
        scratch.shell("mkdir other && cp dumps/slots.csv other && rm dumps/a.keys dumps/mine.csv"),
    );
    scratch.refuses(
        "analyze dumps/slots.csv --no-files | slots.csv: a table whose header names no key
         analyze other --no-files | slots.csv: a table whose header names no key
         analyze dumps --no-files | dumps: holds a report of slotscope and no dump",
    );
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
    scratch.refuses("analyze a.keys --out out | report.json: another run is writing it");
    drop(lock);
    scratch.text("analyze a.keys --out out");
    let there = [left, alive, other].map(|name| scratch.path(name).exists());
    assert_eq!(there, [false, false, true]);
}

#[test]
#[cfg(unix)]
fn what_a_server_replies_reaches_the_terminal_without_control_characters() {
    use std::os::unix::fs::PermissionsExt;

    let keys: String = (0..9000).map(|i| format!("k:{i}\n")).collect();
    let scratch = Scratch::with("even.keys", keys);
    let node = |id: &str, slots: &str| {
        let line = format!("{} {id}.local:7000@17000 master", id.repeat(40));
        format!("{line} - 0 0 1 connected {slots}\n")
    };
    scratch.file("nodes", node("a", "0-16000") + &node("b", "16001-16383"));
    let fake = "#!/bin/sh\nprintf 'ok\\033[2J\\302\\233hostile\\n'\n";
    let fake = scratch.file("redis-cli", fake);
    fs::set_permissions(fake, fs::Permissions::from_mode(0o755)).unwrap();
    for commands in ["setslot", "valkey", "redis-8.4"] {
        let line = format!("plan even.keys --topology nodes --commands {commands}");
        scratch.file("script", scratch.text(&line));
        let output = scratch.shell("PATH=.:$PATH bash script");
        let said = String::from_utf8_lossy(&output.stderr);
        said.says("hostile");
        let is_odd = |c: char| c.is_control() && c != '\n';
        assert!(!said.trim_end().contains(is_odd), "{said:?}");
    }
}
