//! Dumps with rejected rows, truncated dumps, and empty dumps.

use slotscope::tally::{Parts, Tallies};
use testkit::prelude::*;
use testkit::scan::Scanning;

/// The report on a dump.
fn analyzed(dump: &str) -> Value {
    report(&Scratch::new().piped(&["analyze", "-", "--json"], dump.as_bytes()))
}
#[test]
fn keys_that_look_like_something_else_are_keys() {
    for [keys] in rows(
        r"PAR1\nPAR2\n
        ORC\r\nELF\r\n
        BZh91AY\n
        Obj:1\n
        1795314559\n5\n6\n7\n
        INFO\nuser:1\n
        id=15\nid=16\n
        ERRORS\nNOAUTH:1\n
        slots\n1\n2\n3\n
        {user}:1\n{user}:2\n
        [a]\n[b]\n
        user:1\tx\nuser:2\ty\n
        \x01a\nb\nc\nd\ne\n
        #\nkey:1\n
        # tag\nkey 1\n",
    ) {
        assert_eq!(
            analyzed(keys)["input"]["keys"],
            keys.lines().count(),
            "{keys}"
        );
    }
}
#[test]
fn errors_among_keys_are_rejected_and_make_the_dump_suspicious() {
    for [dump, keys] in rows(
        r#"user:1\nuser:2\nuser:3\nNOAUTH Authentication required.\n | 3
        Warning: Using a password with '-a' may not be safe.\nuser:1\n | 1
        "user:1"\n"user:2"\nError: Server closed the connection\n | 2
        1) "user:1"\n2) "user:2"\n(error) LOADING x\n | 2
        *1\r\n$1\r\na\r\n-NOAUTH x\r\n | 1"#,
    ) {
        let keys: u64 = keys.parse().unwrap();
        let input = &analyzed(dump)["input"];
        input.has(json!({"keys": keys, "error_lines": 1, "rejected": {"count": 1}}));
        input["warnings"][0].text().says("a scan broke off");
    }
}
#[test]
fn a_dump_of_nothing_is_named() {
    let scratch = Scratch::new();
    scratch.file("nothing.keys", "");
    scratch.file("newline.keys", "\n");
    scratch.file("keys.keys", "user:1\n");
    for (files, expected) in [
        (
            "nothing.keys",
            Some("nothing.keys is empty: if redis-cli wrote it, look at what it printed to stderr"),
        ),
        ("newline.keys", Some("newline.keys: no key in its 1 byte")),
        (
            "nothing.keys keys.keys",
            Some("nothing.keys is empty: if redis-cli wrote it, look at what it printed to stderr"),
        ),
        ("newline.keys keys.keys", None),
    ] {
        let output = scratch.run(&format!("analyze --json {files}"));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = report["input"]["warnings"].list();
        assert_eq!(
            warnings.len(),
            usize::from(expected.is_some()),
            "{files}: {warnings:?}"
        );
        for warning in warnings {
            assert_eq!(warning.text(), expected.unwrap());
        }
    }
}

#[test]
fn nothing_on_standard_input_leaves_the_report_of_before() {
    let scratch = Scratch::new();
    let args = ["analyze", "-o", "reports"];
    assert_eq!(code(&scratch.piped(&args, b"user:1\nuser:2\n")), 0);
    let before = scratch.read("reports/report.json");
    let output = scratch.piped(&args, b"");
    assert_eq!((code(&output), stdout(&output)), (2, ""));
    assert_eq!(before, scratch.read("reports/report.json"));
}

#[test]
fn a_reply_that_was_cut_off_anywhere_is_not_taken_for_a_whole_one() {
    let keys: Vec<String> = (0..12).map(|i| format!("k:{i}")).collect();
    let quoted: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
    let texts = keys
        .iter()
        .map(|key| format!("${}\r\n{key}\r\n", key.len()));
    let texts: String = texts.collect();
    for (form, dump) in [
        ("redis-json", format!("[{}]\n", quoted.join(","))),
        ("quoted", quoted.join("\n") + "\n"),
        ("resp", format!("*{}\r\n{texts}", keys.len())),
    ] {
        let scan = |len: usize| {
            Scanning::of(form).dump(&dump.as_bytes()[..len], || Tallies::new(Parts::Slots))
        };
        assert_eq!(scan(dump.len()).incomplete, [], "{form}");
        for len in dump.len() / 2..dump.trim_end().len() {
            let found = scan(len);
            // A list of lines may end after any of them.
            let cut = &dump[..len];
            let is_whole = cut.ends_with(['"', '\n']) && !cut.ends_with("\n\"");
            let may_end = form == "quoted" && is_whole;
            assert_eq!(
                found.incomplete.is_empty(),
                may_end,
                "{form} cut to {cut:?}"
            );
        }
        let cut = &dump.as_bytes()[..dump.len() - 5];
        let output = Scratch::new().piped(&["analyze", "-", "--json"], cut);
        assert_eq!(code(&output), 2, "{form}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["verdict"].has(json!({"state": "suspicious"}));
        report["input"].has(json!({"files": [{"format": form}]}));
    }
}

#[test]
fn every_command_shows_the_rows_that_it_left_out() {
    let scratch = Scratch::new();
    scratch.file("half.csv", "key,size\na,1\nb\nc,3\n");
    scratch.file("batches", "MGET a b\nMGET \"a\nMGET c d\n");
    let row = "1 fields, where the table has 2";
    for (command, place, reason) in [
        ("analyze --no-files --full half.csv", "/input/rejected", row),
        ("whatif --to-nodes 4 half.csv", "/input/rejected", row),
        ("plan --nodes 4 half.csv --force", "/warnings", row),
        ("lint half.csv", "/rejected", row),
        ("fanout batches", "/rejected", "a quote is not closed"),
    ] {
        println!("{command}");
        on_one_line(stdout(&scratch.run(command))).says(reason);
        let json = scratch.run(&format!("{command} --json"));
        let json: Value = serde_json::from_slice(&json.stdout).unwrap();
        json.pointer(place).unwrap().to_string().says(reason);
    }
}

#[test]
fn an_input_of_more_rejects_than_keys_has_no_verdict() {
    let scratch = Scratch::new();
    scratch.file("half.csv", "key,size\na,1\nb\n");
    scratch.file("most.csv", "key,size\na,1\nb\nc\n");
    scratch.text("analyze half.csv --no-files");
    for command in ["analyze", "whatif --to-nodes 4", "plan --nodes 4", "lint"] {
        let said = "most.csv: 2 of 3 rows are not keys, the first at line 3 (byte 13): 1 fields";
        scratch.refuses(&format!("{command} half.csv most.csv | {said}"));
    }
}
