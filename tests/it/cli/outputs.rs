//! Output files: their content, their place, and the state of the disk afterwards.

use super::waiting;
use std::fs;
use std::io::Write;
use testkit::prelude::*;

#[test]
fn a_dump_gives_text_and_files_in_reports_unless_no_files_are_wanted() {
    let scratch = Scratch::with("node-1.keys.txt", "a\n{b}1\n{b}2\n");
    scratch.text("analyze --no-files node-1.keys.txt");
    assert_eq!(scratch.entries("."), ["node-1.keys.txt"]);
    let output = scratch.run("analyze node-1.keys.txt");
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    let said = stdout(&output);
    said.says("3 keys read. Full report (--full prints it here): ")
        .says("reports/node-1/");
    let json = scratch.json("reports/node-1/report.json");
    json.has(json!({"schema": "slotscope.report/3", "tags": {"top": [{"keys": 2}]}}));
    assert_eq!(scratch.entries("reports/node-1"), files_of(&json));
}

#[test]
fn json_goes_to_standard_output_and_no_file_is_written() {
    let scratch = Scratch::new();
    let json = report(&scratch.piped("analyze --json", b"user::10086\n{user}::10086\n"));
    json["input"].has(json!({"keys": 2, "files": [{"name": "-"}]}));
    let slots = json["slots"]["keys"].list();
    assert_eq!(
        (slots.len(), &slots[14982], &slots[5474]),
        (16384, &1.into(), &1.into())
    );
    assert!(scratch.entries(".").is_empty());
    report(&scratch.piped("analyze --json --out here", b"a\n"));
    assert!(scratch.entries("here").contains(&"report.json".into()));
}

#[test]
fn an_output_directory_that_cannot_be_made_fails_before_the_scan() {
    let scratch = Scratch::with("a.keys", b"a\n");
    scratch.file("taken", b"a file");
    scratch.refuses("analyze a.keys --out taken/deeper | taken/deeper: not a directory");
    assert_eq!(fs::read(scratch.path("taken")).unwrap(), b"a file");
    // The same with an endless input: it must fail at once even so.
    let mut child = waiting(scratch.command("analyze - --out taken"));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_run_and_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let scratch = Scratch::new();
        let mut child = waiting(scratch.command("analyze - --out new/out"));
        child.stdin.as_mut().unwrap().write_all(b"a\nb\n").unwrap();
        // The files are opened before the first byte is read: once they exist, the scan is running.
        let out = scratch.path("new/out");
        let files = slotscope::report::files().count();
        while !out.exists() || scratch.entries("new/out").len() < files {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        testkit::signals::signal(child.id(), signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(scratch.entries("."), [""; 0]);
    }
}

#[test]
fn a_directory_in_the_way_leaves_nothing_in_place() {
    let scratch = Scratch::with("a.keys", b"a\n");
    fs::create_dir_all(scratch.path("out/nodes.csv")).unwrap();
    let output = scratch.run("analyze a.keys --out out");
    assert_eq!(code(&output), 2);
    stderr(&output).says("nodes.csv");
    assert_eq!(scratch.entries("out"), ["nodes.csv"]);
}
