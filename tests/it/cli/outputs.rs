//! Output files: their content, their place, and the state of the disk afterwards.

use std::fs;
use std::io::Write;
use std::process::Command;

use super::waiting;
use testkit::prelude::*;

#[test]
fn a_dump_gives_text_and_files_in_reports() {
    let scratch = Scratch::new();
    scratch.file("node-1.keys.txt", b"a\n{b}1\n{b}2\n");
    let output = scratch.run(&["analyze", "node-1.keys.txt"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    stdout(&output).says("3 keys read. Full report (--full prints it here): ");
    assert_contains(stdout(&output), &["reports/node-1/"]);
    let json: Value =
        serde_json::from_slice(&fs::read(scratch.path("reports/node-1/report.json")).unwrap())
            .unwrap();
    assert_eq!(json["schema"], "slotscope.report/3");
    assert_eq!(json["tags"]["top"][0]["keys"], 2);
    assert_eq!(scratch.entries("reports/node-1"), files_of(&json));
}

#[test]
fn json_goes_to_standard_output_and_no_file_is_written() {
    let scratch = Scratch::new();
    let json = report(&scratch.piped(&["analyze", "--json"], b"user::10086\n{user}::10086\n"));
    assert_eq!(json["input"]["keys"], 2);
    assert_eq!(json["input"]["files"][0]["name"], "-");
    assert_eq!(
        (&json["slots"]["keys"][14982], &json["slots"]["keys"][5474]),
        (&1.into(), &1.into())
    );
    assert_eq!(json["slots"]["keys"].list().len(), 16384);
    assert!(scratch.entries(".").is_empty());
    report(&scratch.piped(&["analyze", "--json", "--out", "here"], b"a\n"));
    assert!(scratch.entries("here").contains(&"report.json".into()));
}

#[test]
fn no_files_means_none() {
    let scratch = Scratch::new();
    let output = scratch.piped(&["analyze", "--no-files", "-"], b"a\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(scratch.entries(".").is_empty());
}

#[test]
fn an_output_directory_that_cannot_be_made_fails_before_the_scan() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    scratch.file("taken", b"a file");
    scratch.refuses("analyze a.keys --out taken/deeper | taken/deeper: not a directory");
    assert_eq!(fs::read(scratch.path("taken")).unwrap(), b"a file");
    // The same with an endless input: it must fail at once even so.
    let mut child = waiting(scratch.command(&["analyze", "-", "--out", "taken"]));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_run_and_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let scratch = Scratch::new();
        let mut child = waiting(scratch.command(&["analyze", "-", "--out", "new/out"]));
        child.stdin.as_mut().unwrap().write_all(b"a\nb\n").unwrap();
        // The files are opened before the first byte is read: once they exist, the scan is running.
        while !scratch.path("new/out").exists()
            || scratch.entries("new/out").len() < slotscope::report::files().count()
        {
            assert!(
                child.try_wait().unwrap().is_none(),
                "ended before it was interrupted"
            );
            std::thread::yield_now();
        }
        let killed = Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(
            scratch.entries(".").is_empty(),
            "{:?}",
            scratch.entries(".")
        );
    }
}

#[test]
fn a_directory_in_the_way_leaves_nothing_in_place() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    fs::create_dir_all(scratch.path("out/nodes.csv")).unwrap();
    let output = scratch.run(&["analyze", "a.keys", "--out", "out"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("nodes.csv"), "{}", stderr(&output));
    assert_eq!(scratch.entries("out"), ["nodes.csv"]);
}
