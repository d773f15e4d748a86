//! Dumps with rejected rows, truncated dumps, and empty dumps.

use slotscope::tally::{Parts, Tallies};
use testkit::prelude::*;
use testkit::scan::Scanning;

#[test]
fn keys_that_look_like_something_else_are_keys() {
    for keys in [
        "PAR1\nPAR2\n",
        "ORC\r\nELF\r\n",
        "BZh91AY\n",
        "Obj:1\n",
        "1795314559\n5\n6\n7\n",
        "INFO\nuser:1\n",
        "id=15\nid=16\n",
        "ERRORS\nNOAUTH:1\n",
        "slots\n1\n2\n3\n",
        "{user}:1\n{user}:2\n",
        "[a]\n[b]\n",
        "user:1\tx\nuser:2\ty\n",
        "\u{1}a\nb\nc\nd\ne\n",
        "#\nkey:1\n",
        "# tag\nkey 1\n",
    ] {
        let scratch = Scratch::new();
        let report = report(&scratch.piped(&["analyze", "-", "--json"], keys.as_bytes()));
        assert_eq!(report["input"]["keys"], keys.lines().count(), "{keys}");
    }
}

#[test]
fn errors_among_keys_are_rejected_and_make_the_dump_suspicious() {
    let scratch = Scratch::new();
    for (dump, keys, errors) in [
        (
            "user:1\nuser:2\nuser:3\nNOAUTH Authentication required.\n",
            3,
            1,
        ),
        (
            "Warning: Using a password with '-a' may not be safe.\nuser:1\n",
            1,
            1,
        ),
        (
            "\"user:1\"\n\"user:2\"\nError: Server closed the connection\n",
            2,
            1,
        ),
        ("1) \"user:1\"\n2) \"user:2\"\n(error) LOADING x\n", 2, 1),
        ("*1\r\n$1\r\na\r\n-NOAUTH x\r\n", 1, 1),
    ] {
        let report = report(&scratch.piped(&["analyze", "-", "--json"], dump.as_bytes()));
        let input = &report["input"];
        assert_eq!(
            (
                &input["keys"],
                &input["error_lines"],
                &input["rejected"]["count"]
            ),
            (&keys.into(), &errors.into(), &errors.into()),
            "{dump}"
        );
        let warning = input["warnings"][0].text();
        assert!(warning.contains("a scan broke off"), "{warning}");
    }
}

#[test]
fn a_dump_of_nothing_asks_whether_redis_cli_failed() {
    let scratch = Scratch::new();
    scratch.file("nothing.keys", "");
    scratch.file("newline.keys", "\n");
    scratch.file("keys.keys", "user:1\n");
    for (args, expected) in [
        (&["nothing.keys"][..], &["nothing.keys holds nothing"][..]),
        (&["newline.keys"], &["newline.keys holds no key"]),
        (
            &["nothing.keys", "keys.keys"],
            &["nothing.keys holds nothing"],
        ),
        (&["newline.keys", "keys.keys"], &[]),
    ] {
        let output = scratch.run(&[&["analyze", "--json"], args].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = report["input"]["warnings"].list();
        assert_eq!(warnings.len(), expected.len(), "{args:?}: {warnings:?}");
        for (warning, start) in warnings.iter().zip(expected) {
            let warning = warning.text();
            warning.begins(start).says("stderr");
        }
    }
}

#[test]
fn nothing_on_standard_input_leaves_the_report_of_before() {
    let scratch = Scratch::new();
    let args = ["analyze", "-o", "reports"];
    assert_eq!(code(&scratch.piped(&args, b"user:1\nuser:2\n")), 0);
    let before = std::fs::read(scratch.path("reports/report.json")).unwrap();
    let output = scratch.piped(&args, b"");
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).is_empty());
    let after = std::fs::read(scratch.path("reports/report.json")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_reply_that_was_cut_off_anywhere_is_not_taken_for_a_whole_one() {
    let keys: Vec<String> = (0..12).map(|i| format!("k:{i}")).collect();
    let quoted = |escape: &str| {
        keys.iter()
            .map(|key| format!("{escape}{key}{escape}"))
            .collect::<Vec<_>>()
    };
    let texts = keys
        .iter()
        .map(|key| format!("${}\r\n{key}\r\n", key.len()));
    for (form, dump) in [
        ("redis-json", format!("[{}]\n", quoted("\"").join(","))),
        ("quoted", quoted("\"").join("\n") + "\n"),
        (
            "resp",
            format!("*{}\r\n{}", keys.len(), texts.collect::<String>()),
        ),
    ] {
        let scan = |len: usize| {
            Scanning::of(form).dump(&dump.as_bytes()[..len], || Tallies::new(Parts::Slots))
        };
        assert_eq!(scan(dump.len()).incomplete, [], "{form}");
        for len in dump.len() / 2..dump.trim_end().len() {
            let found = scan(len);
            // A list of lines may end after any of them.
            let may_end = match form {
                "quoted" => dump[..len].ends_with(['"', '\n']) && !dump[..len].ends_with("\n\""),
                _ => false,
            };
            assert_eq!(
                found.incomplete.is_empty(),
                may_end,
                "{form} cut to {:?}",
                &dump[..len]
            );
        }
        let scratch = Scratch::new();
        let output = scratch.piped(
            &["analyze", "-", "--json"],
            &dump.as_bytes()[..dump.len() - 5],
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (code(&output), &report["verdict"]["state"]),
            (2, &"suspicious".into()),
            "{form}"
        );
        assert_eq!(report["input"]["files"][0]["format"], form);
    }
}

#[test]
fn every_command_shows_the_rows_that_it_left_out() {
    let scratch = Scratch::new();
    scratch.file("half.csv", "key,size\na,1\nb\nc,3\n");
    scratch.file("batches", "MGET a b\nMGET \"a\nMGET c d\n");
    for (command, place) in [
        ("analyze --no-files --full half.csv", "/input/rejected"),
        ("whatif --to-nodes 4 half.csv", "/input/rejected"),
        ("plan --nodes 4 half.csv --force", "/warnings"),
        ("lint half.csv", "/rejected"),
        ("fanout batches", "/rejected"),
    ] {
        let words: Vec<_> = command.split(' ').collect();
        let reason = if words[0] == "fanout" {
            "a quote is not closed"
        } else {
            "1 fields, where the table has 2"
        };
        let text = scratch.run(&words);
        let shown = stdout(&text).split_whitespace().collect::<Vec<_>>();
        assert!(shown.join(" ").contains(reason), "{command}: {shown:?}");
        let json = scratch.run(&[&words[..], &["--json"]].concat());
        let json: Value = serde_json::from_slice(&json.stdout).unwrap();
        let shown = json.pointer(place).unwrap().to_string();
        assert!(
            shown.contains(&reason.replace('"', "\\\"")),
            "{command}: {shown}"
        );
    }
}

#[test]
fn an_input_of_more_rejects_than_keys_has_no_verdict() {
    let scratch = Scratch::new();
    scratch.file("half.csv", "key,size\na,1\nb\n");
    scratch.file("most.csv", "key,size\na,1\nb\nc\n");
    assert_eq!(
        code(&scratch.run(&["analyze", "half.csv", "--no-files"])),
        0
    );
    for command in ["analyze", "whatif --to-nodes 4", "plan --nodes 4", "lint"] {
        let words = command.split(' ').chain(["half.csv", "most.csv"]);
        let output = scratch.run(&words.collect::<Vec<_>>());
        let parts = ["most.csv: 2 of 3 rows are not keys, the first at line 3 (byte 13): 1 fields"];
        fails(&output, &parts).unwrap_or_else(|complaint| panic!("{command}: {complaint}"));
    }
}
