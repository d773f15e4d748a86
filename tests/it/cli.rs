//! The program as a user meets it: exit codes, what goes to which stream, what is left on disk.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::run::{Scratch, assert_fails, clean_environment, code, report, stderr, stdout};
use serde_json::Value;

#[test]
fn a_dump_gives_text_and_files_in_reports() {
    let scratch = Scratch::new();
    scratch.file("node-1.keys.txt", b"a\n{b}1\n{b}2\n");
    let output = scratch.run(&["analyze", "node-1.keys.txt"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    assert!(
        stdout(&output).contains("3 keys in 2 of 16,384 slots"),
        "{}",
        stdout(&output)
    );
    assert!(
        stdout(&output).contains("reports/node-1/"),
        "{}",
        stdout(&output)
    );
    let mut expected: Vec<_> = slotscope::report::files().map(String::from).collect();
    // A list of names has no sizes, no expiry and no types.
    expected
        .retain(|file| !["value-sizes.png", "expiry.png", "types.png"].contains(&file.as_str()));
    expected.sort();
    assert_eq!(scratch.entries("reports/node-1"), expected);
    let json: Value =
        serde_json::from_slice(&fs::read(scratch.path("reports/node-1/report.json")).unwrap())
            .unwrap();
    assert_eq!(json["schema"], "slotscope.report/2");
    assert_eq!(json["tags"]["top"][0]["keys"], 2);
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
    assert_eq!(json["slots"]["keys"].as_array().unwrap().len(), 16384);
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
fn files_and_directories_are_counted_together() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/b.keys", b"b1\r\nb2\r\n");
    scratch.file("dumps/a.keys", b"a1\n");
    scratch.file("dumps/.part", b"not counted\n");
    scratch.file("alone", b"c");
    let json = report(&scratch.run(&["analyze", "--json", "dumps", "alone"]));
    let files: Vec<_> = json["input"]["files"].as_array().unwrap().iter().collect();
    let names: Vec<_> = files
        .iter()
        .map(|file| {
            (
                file["name"].as_str().unwrap(),
                file["keys"].as_u64().unwrap(),
            )
        })
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
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
        assert!(
            stdout(&output).starts_with("EMPTY  no keys"),
            "{}",
            stdout(&output)
        );
        let text = fs::read_to_string(scratch.path("reports/empty/report.json")).unwrap();
        assert!(!text.contains("NaN") && !text.contains("inf"));
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&json["verdict"]["state"], &json["input"]["keys"]),
            (&"empty".into(), &0.into())
        );
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
    let output = scratch.run(&["analyze", "hostile", "--format", "lines"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(
        text.contains("{a\\x00b}")
            && text.contains("{\\x1b[31mred}")
            && text.contains("{\\xff\\xfe}"),
        "{text}"
    );
    assert!(!text.contains(['\0', '\x1b', '\u{202e}']));
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "a line is too wide"
    );
    let json: Value =
        serde_json::from_slice(&fs::read(scratch.path("reports/hostile/report.json")).unwrap())
            .unwrap();
    assert_eq!(json["input"]["keys"], 5);
    assert_eq!(json["lengths"]["max"], (1 << 20) + 2);
    let tags: Vec<_> = json["tags"]["top"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tag| tag["tag"].as_str().unwrap())
        .collect();
    assert!(tags.contains(&"l".repeat(1 << 20).as_str()) && tags.contains(&"\\xe2\\x80\\xaertl"));
}

#[test]
fn inputs_that_cannot_be_read_are_named_with_a_way_out() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("nothing")).unwrap();
    assert_fails(
        &scratch.run(&["analyze", "missing.keys"]),
        &["missing.keys: no such file", "check the spelling"],
    );
    assert_fails(
        &scratch.run(&["analyze", "nothing"]),
        &["nothing: a directory without files", "name a key dump"],
    );
    assert_fails(
        &scratch.run(&["analyze", "missing\u{1b}[2J"]),
        &["missing\\x1b[2J"],
    );
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
        // Permissions do not bind root: another user runs a copy of the program that this user can reach.
        let nobody = 65_534;
        let program = scratch.path("slotscope");
        fs::copy(env!("CARGO_BIN_EXE_slotscope"), &program).unwrap();
        mode(&program, 0o755);
        mode(&scratch.path("."), 0o755);
        command = Command::new(program);
        clean_environment(&mut command);
        command
            .args(args)
            .current_dir(scratch.path("."))
            .uid(nobody)
            .gid(nobody);
    }
    assert_fails(
        &command.output().unwrap(),
        &["locked.keys: permission denied", "mode"],
    );
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
    assert_fails(
        &scratch.piped(&["analyze"], &content),
        &["-: byte 13: a line longer than 64 MiB"],
    );
    assert_eq!(scratch.entries("."), ["long.keys"]);
}

#[test]
fn an_output_directory_that_cannot_be_made_fails_before_the_scan() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    scratch.file("taken", b"a file");
    assert_fails(
        &scratch.run(&["analyze", "a.keys", "--out", "taken/deeper"]),
        &["taken/deeper: not a directory"],
    );
    assert_eq!(fs::read(scratch.path("taken")).unwrap(), b"a file");
    // The same with an input that never ends: it fails at once all the same.
    let mut child = waiting(scratch.command(&["analyze", "-", "--out", "taken"]));
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

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
    assert_fails(
        &scratch.run(&["analyze", "a.keys", "--topology", "twice.nodes"]),
        &["twice.nodes", "slot 100", "aa", "bb"],
    );
    assert_fails(
        &scratch.run(&["analyze", "a.keys", "--topology", "noise.nodes"]),
        &["noise.nodes", "line 1"],
    );
    assert_fails(
        &scratch.run(&["analyze", "a.keys", "--topology", "none.nodes"]),
        &["none.nodes: no such file"],
    );
    let both = scratch.run(&[
        "analyze",
        "a.keys",
        "--topology",
        "twice.nodes",
        "--nodes",
        "3",
    ]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn a_topology_names_the_nodes() {
    let scratch = Scratch::new();
    let nodes =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/seed-cluster.nodes")).unwrap();
    scratch.file("cluster.nodes", &nodes);
    scratch.file("a.keys", b"name\nname1\nname2\nname3\n");
    let json =
        report(&scratch.run(&["analyze", "a.keys", "--json", "--topology", "cluster.nodes"]));
    let list: Vec<_> = json["nodes"]["list"].as_array().unwrap().iter().collect();
    let loads: Vec<_> = list
        .iter()
        .map(|node| {
            (
                node["address"].as_str().unwrap(),
                node["keys"].as_u64().unwrap(),
            )
        })
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
    assert!(
        !json["verdict"]["sentence"]
            .as_str()
            .unwrap()
            .starts_with("on ")
    );
}

#[test]
fn the_report_is_the_same_for_any_threads_and_kernel() {
    let scratch = Scratch::new();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/commerce.keys");
    let sample = sample.to_str().unwrap();
    let run = |args: &[&str]| {
        let mut json = report(&scratch.run(&[&["analyze", "--json", sample], args].concat()));
        json.as_object_mut().unwrap().remove("run");
        json
    };
    let reference = run(&[]);
    for kernel in hashslot::available() {
        for threads in ["1", "3"] {
            assert_eq!(
                run(&["--threads", threads, "--kernel", kernel.name]),
                reference
            );
        }
    }
    let mut command = scratch.command(&["analyze", "--json", sample]);
    let output = command.env("SLOTSCOPE_KERNEL", "table").output().unwrap();
    assert_eq!(report(&output)["run"]["kernel"], "table");
}

#[test]
fn files_of_an_earlier_run_that_this_one_does_not_write_are_removed() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"{a}1\n");
    assert_eq!(
        scratch
            .run(&["analyze", "a.keys", "--out", "out"])
            .status
            .code(),
        Some(0)
    );
    scratch.file("out/mine.txt", b"kept");
    assert_eq!(
        scratch
            .run(&["analyze", "a.keys", "--out", "out", "--only", "slots"])
            .status
            .code(),
        Some(0)
    );
    let left = scratch.entries("out");
    assert!(
        !left.contains(&"tags.csv".into()) && left.contains(&"mine.txt".into()),
        "{left:?}"
    );
}

#[test]
fn a_dump_that_changes_during_the_scan_is_an_error() {
    let scratch = Scratch::new();
    // Cut off between finding and reading: simulated by a file that says it is longer than it is.
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

/// A run that waits for standard input, its standard input still open.
fn waiting(mut command: Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_run_and_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let scratch = Scratch::new();
        let mut child = waiting(scratch.command(&["analyze", "-", "--out", "new/out"]));
        child.stdin.as_mut().unwrap().write_all(b"a\nb\n").unwrap();
        // The files are opened before the first byte is read: once they are there, the scan is on.
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
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    let dump = scratch.piped(&["generate", "--keys", "200k"], b"").stdout;
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
        let mut message = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut message)
            .unwrap();
        assert_eq!(message, "");
    }
}

#[test]
fn files_are_written_where_the_reader_closes_standard_output() {
    let scratch = Scratch::new();
    scratch.file("a.csv", b"key,size,type,expiry\n{a}1,7,string,\n");
    let mut child = scratch
        .command(&["analyze", "a.csv", "--out", "out"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(
        scratch.entries("out").len(),
        slotscope::report::files().count()
    );
}

#[test]
fn a_giant_tag_does_not_flood_the_terminal() {
    let scratch = Scratch::new();
    let tag = "t".repeat(1 << 20);
    scratch.file(
        "giant.keys",
        format!("{{{tag}}}1\n{{{tag}}}2\n{{{tag}}}3\na\nb\n").as_bytes(),
    );
    let output = scratch.run(&["analyze", "giant.keys", "--no-files"]);
    assert!(
        stdout(&output).contains("ttt…"),
        "{}",
        &stdout(&output)[..200]
    );
    assert!(stdout(&output).len() < 5000);
}

#[test]
fn an_input_is_never_replaced_by_its_report() {
    let scratch = Scratch::new();
    scratch.file("slots.csv", b"a\nb\n");
    assert_fails(
        &scratch.run(&["analyze", "slots.csv", "--out", "."]),
        &["slots.csv: the report would replace", "--out"],
    );
    assert_eq!(
        (
            fs::read(scratch.path("slots.csv")).unwrap(),
            scratch.entries(".")
        ),
        (b"a\nb\n".to_vec(), vec!["slots.csv".into()])
    );
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

#[test]
fn an_empty_dump_among_others_changes_nothing_else() {
    let scratch = Scratch::new();
    scratch.file("empty", b"");
    let keys: String = (0..70_000)
        .map(|i| format!("{{t{i}}}\n{{hot}}:{i}\n"))
        .collect();
    scratch.file("full", keys.as_bytes());
    let json = report(&scratch.run(&["analyze", "--json", "empty", "full"]));
    assert_eq!(
        (&json["tags"]["exact"], &json["run"]["passes"]),
        (&true.into(), &2.into())
    );
    assert_eq!(
        (
            &json["tags"]["top"][0]["tag"],
            &json["tags"]["top"][0]["keys"]
        ),
        (&"hot".into(), &70_000.into())
    );
    assert_eq!(json["input"]["files"][0]["format"], "lines");
}

#[test]
fn without_tags_the_report_has_no_table_of_tags() {
    let scratch = Scratch::new();
    scratch.file("hot", "{hot}\n".repeat(1000).as_bytes());
    let text = scratch.run(&["analyze", "hot", "--no-files", "--only", "slots"]);
    assert!(
        stdout(&text).starts_with("SKEWED") && stdout(&text).contains("tags were not counted"),
        "{}",
        stdout(&text)
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_failing_standard_error_is_no_panic() {
    let scratch = Scratch::new();
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = scratch
        .command(&["analyze", "missing"])
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn entries_of_a_directory_that_are_not_files_are_reported() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("dumps/deeper")).unwrap();
    scratch.file("dumps/a.keys", b"a\n");
    let json = report(&scratch.run(&["analyze", "dumps", "--json"]));
    let notes = json["input"]["notes"].to_string();
    assert!(
        notes.contains("passed over (directories are not searched deeper): 1"),
        "{notes}"
    );
}

#[test]
fn color_is_for_terminals_unless_asked_for() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    let run = |args: &[&str], no_color: bool| {
        let mut command = scratch.command(&[&["analyze", "a.keys", "--no-files"], args].concat());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        output.stdout.contains(&0x1b)
    };
    assert!(!run(&[], false) && !run(&["--color", "never"], false) && !run(&[], true));
    assert!(run(&["--color", "always"], false) && run(&["--color", "always"], true));
}

#[test]
fn columns_can_be_named_in_csv_and_json_lines() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", b"id,weight\n\"a,{b}\",7\nc,8\n");
    scratch.file("dump.jsonl", b"{\"id\":\"a\",\"weight\":7}\n");
    for (dump, format, keys) in [("dump.csv", "csv", 2), ("dump.jsonl", "jsonl", 1)] {
        let output = scratch.run(&[
            "analyze",
            dump,
            "--json",
            "--key-column",
            "id",
            "--size-column",
            "weight",
        ]);
        let json = report(&output);
        assert_eq!(
            (&json["input"]["files"][0]["format"], &json["input"]["keys"]),
            (&format.into(), &keys.into())
        );
    }
}

#[test]
fn a_missing_column_is_an_error_that_lists_the_columns() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", b"id,size\na,1\n");
    let output = scratch.run(&["analyze", "dump.csv", "--format", "csv"]);
    assert_fails(
        &output,
        &["slotscope: dump.csv: no column \"key\"; columns are: \"id\", \"size\""],
    );
    let output = scratch.run(&["analyze", "dump.csv", "--key-column", "name"]);
    assert_fails(
        &output,
        &["slotscope: dump.csv: no column \"name\"; columns are: \"id\", \"size\""],
    );
    let output = scratch.run(&[
        "analyze",
        "dump.csv",
        "--format",
        "lines",
        "--key-column",
        "id",
    ]);
    assert_fails(
        &output,
        &["--key-column: lines has no columns to choose from; csv and jsonl have"],
    );
}

#[test]
fn what_a_flag_quotes_reaches_the_terminal_escaped() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", "key,size\na,1\n");
    scratch.file("dump.jsonl", "{\"key\":\"a\"}\n");
    for (dump, flag) in [
        ("dump.csv", "--key-column"),
        ("dump.csv", "--size-column"),
        ("dump.jsonl", "--ops-column"),
    ] {
        let output = scratch.run(&["analyze", dump, "--no-files", flag, "\u{1b}[31mred\u{9b}"]);
        let said = stderr(&output);
        assert_eq!(code(&output), 2, "{said}");
        assert!(said.contains("[31mred"), "{said}");
        let is_shown = |c: char| c == '\n' || !c.is_control();
        assert!(said.chars().all(is_shown), "{said:?}");
    }
}
