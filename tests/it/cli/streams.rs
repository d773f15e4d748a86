//! Output to the terminal and to pipes, including closed and full ones.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use super::waiting;
use testkit::prelude::*;

#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    let dump = scratch.piped("generate --keys 200k", b"").stdout;
    for args in [
        &["generate", "--keys", "100G"][..],
        &["keyslot"],
        &["analyze", "--json"],
    ] {
        let mut child = waiting(scratch.command(args));
        let mut stdin = child.stdin.take().unwrap();
        let dump = dump.clone();
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&dump)));
        let mut first = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        if args[0] != "analyze" {
            reader.read_line(&mut first).unwrap();
            assert!(!first.is_empty());
        }
        drop(reader);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
        feeder.join().unwrap();
        let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        assert_eq!(message, "");
    }
}

#[test]
fn files_are_written_where_the_reader_closes_standard_output() {
    let scratch = Scratch::with("a.csv", b"key,size,type,expiry\n{a}1,7,string,\n");
    let mut command = scratch.command("analyze a.csv --out out");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    scratch.run("analyze a.csv --out read");
    let files = scratch.entries("out");
    assert!(files.contains(&"report.html".into()), "{files:?}");
    assert_eq!(files, scratch.entries("read"));
}

#[test]
fn a_giant_tag_does_not_flood_the_terminal() {
    let scratch = Scratch::new();
    let tag = "t".repeat(1 << 20);
    scratch.file(
        "giant.keys",
        format!("{{{tag}}}1\n{{{tag}}}2\n{{{tag}}}3\na\nb\n").as_bytes(),
    );
    // When a program reads the output, names are complete up to a length that suits logs.
    for (columns, most) in [(Some("100"), 5000), (None, 40_000)] {
        let mut command = scratch.command("analyze giant.keys --no-files");
        command.envs(columns.map(|columns| ("COLUMNS", columns)));
        let output = command.output().unwrap();
        let text = stdout(&output);
        assert!(text.contains("ttt…"), "{}", &text[..200]);
        assert!(text.len() < most, "{} characters", text.len());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_failing_standard_error_is_no_panic() {
    let scratch = Scratch::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = scratch.command("analyze missing");
    assert_eq!(command.stderr(full).status().unwrap().code(), Some(2));
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_does_not_fit_is_a_failure() {
    let scratch = Scratch::new();
    for line in ["--help", "--version", "analyze --help", "help formats"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = scratch.command(line);
        let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(code(&output), 2, "{line}");
        stderr(&output).says("standard output: no space left");
    }
}

#[test]
fn color_is_for_terminals_unless_asked_for() {
    let scratch = Scratch::with("a.keys", b"a\n");
    for (flags, no_color, is_coloured) in [
        ("", None, false),
        ("--color never", None, false),
        ("", Some("1"), false),
        ("--color always", None, true),
        ("--color always", Some("1"), true),
    ] {
        let mut command = scratch.command(&format!("analyze a.keys --no-files {flags}"));
        command.envs(no_color.map(|it| ("NO_COLOR", it)));
        let text = succeeded(command.output().unwrap());
        assert_eq!(text.contains(&0x1b), is_coloured, "{flags} {no_color:?}");
    }
}
