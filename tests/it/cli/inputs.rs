//! Inputs that are read, and messages about unreadable files.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::prelude::*;

#[test]
fn files_and_directories_are_counted_together() {
    let scratch = Scratch::with("alone", "c");
    fs::create_dir_all(scratch.path("dumps/deeper")).unwrap();
    scratch.file("dumps/b.keys", "b1\r\nb2\r\n");
    scratch.file("dumps/a.keys", "a1\n");
    scratch.file("dumps/.part", "not counted\n");
    let input = &scratch.report("analyze --json dumps alone")["input"];
    let files = json!([["dumps/a.keys", 1], ["dumps/b.keys", 2], ["alone", 1]]);
    assert_eq!(input["files"].each("name keys"), files);
    assert_eq!(input["bytes_read"], 3 + 8 + 1);
    let note = "1 item in a directory of dumps, passed over: directories";
    input["notes"].to_string().says(note);
    // The missing file may have been the dump of a node.
    std::os::unix::fs::symlink("gone.keys", scratch.path("dumps/c.keys")).unwrap();
    scratch.refuses("analyze dumps --no-files | dumps/c.keys:");
}

#[test]
fn an_empty_dump_is_a_report_of_nothing() {
    let scratch = Scratch::new();
    for (content, nodes) in [(&b""[..], "3"), (b"\n", "1"), (b"\r\n", "16384")] {
        scratch.file("empty", content);
        let output = scratch.run(&["analyze", "empty", "--nodes", nodes]);
        // Under cron a dump without keys is a failed scan.
        assert_eq!((code(&output), stderr(&output)), (2, ""));
        stdout(&output).begins("EMPTY  there are no keys");
        let json = scratch.json("reports/empty/report.json");
        json.to_string().lacks("NaN").lacks("inf");
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
    let text = scratch.text("analyze hostile --format lines --full");
    text.says("{a\\x00b}")
        .says("{\\x1b[31mred}")
        .says("{\\xff\\xfe}");
    text.lacks("\0").lacks("\x1b").lacks("\u{202e}");
    let mut narrow = scratch.command("analyze hostile --format lines --full");
    let narrow = narrow.env("COLUMNS", "100").output().unwrap();
    let lines = stdout(&narrow).lines().map(|line| line.chars().count());
    assert!(lines.max() <= Some(100), "a line is too wide");
    let json = scratch.json("reports/hostile/report.json");
    json.has(json!({"input": {"keys": 5}, "lengths": {"max": (1 << 20) + 2}}));
    let tags = &json["tags"]["top"];
    assert!(tags.lists("tag", &"l".repeat(1 << 20)) && tags.lists("tag", "\\xe2\\x80\\xaertl"));
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
        .run("analyze missing\u{1b}[2J")
        .refused("missing\\x1b[2J");
    assert_eq!(scratch.entries("."), ["nothing"], "nothing is left behind");
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
    let line = "long.keys: line 3 (byte 13): a line longer than 64 MiB";
    scratch.refuses(&format!("analyze long.keys | {line} | one key a line"));
    let piped = scratch.piped("analyze", &content);
    piped.refused("-: byte 13: a line longer than 64 MiB");
    assert_eq!(scratch.entries("."), ["long.keys"]);
}

#[test]
fn a_dump_that_changes_during_the_scan_is_an_error() {
    let scratch = Scratch::new();
    // Truncated between finding and reading: simulated by a file that claims to be longer than it is.
    let dump = scratch.file("grow.keys", b"a\n");
    let found = slotscope::source::find(std::slice::from_ref(&dump)).unwrap();
    fs::write(&dump, b"a\nb\n").unwrap();
    let error = found.sources[0]
        .open_at()
        .err()
        .expect("a changed file was opened");
    error.to_string().says("changed while it was read");
}

#[test]
fn an_empty_dump_among_others_changes_nothing_else() {
    let scratch = Scratch::with("empty", b"");
    let keys: String = (0..70_000)
        .map(|i| format!("{{t{i}}}\n{{hot}}:{i}\n"))
        .collect();
    scratch.file("full", keys.as_bytes());
    let json = scratch.report("analyze --json empty full");
    json.has(json!({"tags": {"exact": true}, "run": {"passes": 1}}));
    json["tags"]["top"][0].has(json!({"tag": "hot", "keys": 70_000}));
    assert_eq!(json["tags"]["distinct"], 70_001);
    assert_eq!(json["input"]["files"][0]["format"], "lines");
}

#[test]
fn a_pipe_in_a_manifest_is_refused_and_not_waited_for() {
    let scratch = Scratch::new();
    succeeded(scratch.shell("mkfifo a.aof"));
    scratch.file("a.manifest", "file a.aof seq 1 type i\n");
    scratch.refuses("analyze a.manifest --no-files | a.aof: not a regular file");
    fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/node1.keys", "user:1\n");
    fs::rename(scratch.path("a.aof"), scratch.path("dumps/node2.keys")).unwrap();
    scratch.refuses("analyze dumps --no-files | node2.keys: neither a file nor a directory");
}
