//! Inputs that are read, and messages about unreadable files.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::prelude::*;

#[test]
fn files_and_directories_are_counted_together() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/b.keys", b"b1\r\nb2\r\n");
    scratch.file("dumps/a.keys", b"a1\n");
    scratch.file("dumps/.part", b"not counted\n");
    scratch.file("alone", b"c");
    let json = scratch.report(&["analyze", "--json", "dumps", "alone"]);
    let files: Vec<_> = json["input"]["files"].list().iter().collect();
    let names: Vec<_> = files
        .iter()
        .map(|file| (file["name"].text(), file["keys"].whole()))
        .collect();
    assert_eq!(
        names,
        [("dumps/a.keys", 1), ("dumps/b.keys", 2), ("alone", 1)]
    );
    assert_eq!(json["input"]["bytes_read"], 3 + 8 + 1);
}

#[test]
fn an_empty_dump_is_a_report_of_nothing() {
    let scratch = Scratch::new();
    for (content, nodes) in [(&b""[..], "3"), (b"\n", "1"), (b"\r\n", "16384")] {
        scratch.file("empty", content);
        let output = scratch.run(&["analyze", "empty", "--nodes", nodes]);
        // Under cron a dump without keys is a failed scan.
        assert_eq!((output.status.code(), stderr(&output)), (Some(2), ""));
        stdout(&output).begins("EMPTY  there are no keys");
        let text = scratch.read("reports/empty/report.json");
        assert!(!text.contains("NaN") && !text.contains("inf"));
        let json: Value = serde_json::from_str(&text).unwrap();
        json.has(json!({"verdict": {"state": "empty"}, "input": {"keys": 0}}));
        assert_eq!(json["slots"]["stats"]["keys"]["max_over_mean"], Value::Null);
    }
}

#[test]
fn hostile_keys_are_counted_right_and_shown_escaped() {
    let scratch = Scratch::new();
    let long = [b"{".as_slice(), &[b'l'; 1 << 20], b"}"].concat();
    let keys: Vec<&[u8]> = vec![
        b"{a\0b}",
        b"{\x1b[31mred}",
        b"{\xff\xfe}x",
        "{\u{202e}rtl}".as_bytes(),
        &long,
    ];
    scratch.file("hostile", keys.join(&b'\n'));
    let output = scratch.run(&["analyze", "hostile", "--format", "lines", "--full"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert_contains(text, &["{a\\x00b}", "{\\x1b[31mred}", "{\\xff\\xfe}"]);
    assert!(!text.contains(['\0', '\x1b', '\u{202e}']));
    let mut narrow = scratch.command(&["analyze", "hostile", "--format", "lines", "--full"]);
    let narrow = narrow.env("COLUMNS", "100").output().unwrap();
    let widest = stdout(&narrow)
        .lines()
        .map(|line| line.chars().count())
        .max();
    assert!(widest <= Some(100), "a line is too wide: {widest:?}");
    let json: Value =
        serde_json::from_slice(&fs::read(scratch.path("reports/hostile/report.json")).unwrap())
            .unwrap();
    assert_eq!(json["input"]["keys"], 5);
    assert_eq!(json["lengths"]["max"], (1 << 20) + 2);
    let tags: Vec<_> = json["tags"]["top"]
        .list()
        .iter()
        .map(|tag| tag["tag"].text())
        .collect();
    assert!(tags.contains(&"l".repeat(1 << 20).as_str()) && tags.contains(&"\\xe2\\x80\\xaertl"));
}

#[test]
fn inputs_that_cannot_be_read_are_named_with_a_way_out() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("nothing")).unwrap();
    scratch.refuses(
        "analyze missing.keys | missing.keys: no such file | check the spelling
         analyze nothing | nothing: a directory without files | name a key dump",
    );
    scratch
        .run(&["analyze", "missing\u{1b}[2J"])
        .refused("missing\\x1b[2J");
    assert_eq!(
        scratch.entries("."),
        ["nothing"],
        "an error leaves nothing behind"
    );
}

#[test]
#[cfg(unix)]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let scratch = Scratch::new();
    let locked = scratch.file("locked.keys", b"a\n");
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&locked, 0o000);
    let args = ["analyze", "locked.keys"];
    let mut command = scratch.command(&args);
    if fs::File::open(&locked).is_ok() {
        // Permissions do not bind root: another user runs a copy of the program in a place accessible to it.
        let nobody = 65_534;
        let program = scratch.program();
        mode(&scratch.path("."), 0o755);
        command = Command::new(program);
        clean_environment(&mut command);
        command
            .args(args)
            .current_dir(scratch.path("."))
            .uid(nobody)
            .gid(nobody);
    }
    command
        .output()
        .unwrap()
        .refused("locked.keys: permission denied | mode");
}

#[test]
fn an_endless_line_is_an_error_at_its_place() {
    let scratch = Scratch::new();
    let mut content = b"first\nsecond\n".to_vec();
    content.resize(content.len() + (64 << 20) + 1, b'x');
    scratch.file("long.keys", &content);
    let expected = [
        "long.keys: line 3 (byte 13): a line longer than 64 MiB",
        "one key a line",
    ];
    assert_fails(&scratch.run(&["analyze", "long.keys"]), &expected);
    scratch
        .piped(&["analyze"], &content)
        .refused("-: byte 13: a line longer than 64 MiB");
    assert_eq!(scratch.entries("."), ["long.keys"]);
}

#[test]
fn a_dump_that_changes_during_the_scan_is_an_error() {
    let scratch = Scratch::new();
    // Truncated between finding and reading: simulated by a file that claims to be longer than it is.
    let fifo = scratch.file("grow.keys", b"a\n");
    let state = slotscope::source::find(std::slice::from_ref(&fifo))
        .unwrap()
        .sources;
    fs::write(&fifo, b"a\nb\n").unwrap();
    let message = match state[0].open_at() {
        Err(error) => error.to_string(),
        Ok(_) => panic!("a changed file was opened"),
    };
    assert!(message.contains("changed while it was read"), "{message}");
}

#[test]
fn an_empty_dump_among_others_changes_nothing_else() {
    let scratch = Scratch::new();
    scratch.file("empty", b"");
    let keys: String = (0..70_000)
        .map(|i| format!("{{t{i}}}\n{{hot}}:{i}\n"))
        .collect();
    scratch.file("full", keys.as_bytes());
    let json = scratch.report(&["analyze", "--json", "empty", "full"]);
    json.has(json!({"tags": {"exact": true}, "run": {"passes": 1}}));
    json["tags"]["top"][0].has(json!({"tag": "hot", "keys": 70_000}));
    assert_eq!(json["tags"]["distinct"], 70_001);
    assert_eq!(json["input"]["files"][0]["format"], "lines");
}

#[test]
fn entries_of_a_directory_that_are_not_files_are_reported() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("dumps/deeper")).unwrap();
    scratch.file("dumps/a.keys", b"a\n");
    let json = scratch.report(&["analyze", "dumps", "--json"]);
    let notes = json["input"]["notes"].to_string();
    notes.says("1 item in a directory of dumps, passed over as no file");
    // The missing file may have been the dump of a node.
    std::os::unix::fs::symlink("gone.keys", scratch.path("dumps/b.keys")).unwrap();
    let output = scratch.run(&["analyze", "dumps", "--no-files"]);
    assert_fails(&output, &["dumps/b.keys: "]);
}

#[test]
fn a_pipe_in_a_manifest_is_refused_and_not_waited_for() {
    let scratch = Scratch::new();
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("a.aof"))
        .status();
    assert!(made.unwrap().success());
    scratch.file("a.manifest", "file a.aof seq 1 type i\n");
    let output = scratch.run(&["analyze", "a.manifest", "--no-files"]);
    assert_fails(&output, &["a.aof: not a regular file"]);
    std::fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/node1.keys", "user:1\n");
    std::fs::rename(scratch.path("a.aof"), scratch.path("dumps/node2.keys")).unwrap();
    let output = scratch.run(&["analyze", "dumps", "--no-files"]);
    assert_fails(&output, &["node2.keys: neither a file nor a directory"]);
}
