//! Nothing in an input controls the terminal. Colour is forced, since escapes are stripped when a pipe reads: the
//! output has the program's colours, but no title, bell or directional character.

use std::process::{Command, Output};

use slotscope::source::collection::load::{
    CommandLogKind, CommandWork, LoadEntry, LoggedCommand, LoggedCommands, NodeWork,
};
use slotscope::source::collection::manifest::example;

use testkit::prelude::*;

/// Text that a terminal obeys: a title, a bell, a right-to-left override.
const OBEYED: &str = "\u{1b}]0;PWN\u{7}\u{202e}";

#[track_caller]
fn assert_tame(output: &Output, what: &str) {
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        let is_obeyed = text.contains("\u{1b}]") || text.contains(['\u{7}', '\u{202e}']);
        assert!(!is_obeyed, "{what}: {}", text.escape_debug());
    }
}

/// Names of a scheme and others, with such text in them.
fn dump(scratch: &Scratch) {
    let scheme = (0..3000).map(|i| format!("{OBEYED}:{{{OBEYED}}}:{i},{OBEYED},9\n"));
    let users = (0..3000).map(|i| format!("user:{i},string,9\n"));
    let rows: String = scheme.chain(users).collect();
    scratch.file("dump.csv", format!("key,type,size\n{rows}"));
    scratch.file("dump.jsonl", "{\"key\":\"a\"}\n");
    let lines = rows.lines().map(|row| row.split(',').next().unwrap());
    scratch.file(
        "dump.keys",
        lines.map(|key| format!("{key}\n")).collect::<String>(),
    );
}

#[test]
fn names_of_keys_move_no_terminal() {
    let scratch = Scratch::new();
    dump(&scratch);
    for args in [
        &["analyze", "dump.csv", "--full"][..],
        &["analyze", "dump.csv", "--type", "hashes"],
        &["analyze", "dump.csv", "--match", OBEYED],
        &words("advise dump.keys --format lines --nodes 3"),
        &["plan", "dump.csv", "--nodes", "3", "--add", "1"],
        &["whatif", "dump.csv", "--to-nodes", "6"],
        &["find-tag", "--node", OBEYED],
        &["keyslot", OBEYED],
        &["analyze", OBEYED],
        &["analyze", "dump.csv", "--topology", OBEYED],
        &["plan", "dump.csv", "--nodes", "3", "--remove", OBEYED],
        &["collect", OBEYED],
        &["analyze", "dump.csv", "--key-column", OBEYED],
        &["analyze", "dump.csv", "--size-column", OBEYED],
        &["analyze", "dump.jsonl", "--ops-column", OBEYED],
    ] {
        let output = scratch.run(&[args, &["--color", "always"]].concat());
        assert_tame(&output, &format!("{args:?}"));
    }
}

#[test]
fn a_dump_named_like_a_flag_is_a_file_in_the_commands_of_steps() {
    let scratch = Scratch::new();
    scratch.file(
        "-x.keys",
        (0..3000)
            .map(|i| format!("{{t{}}}:{i}\n", i % 5))
            .collect::<String>(),
    );
    let output = scratch.run(&["analyze", "--no-files", "--nodes", "3", "--", "-x.keys"]);
    assert_contains(stdout(&output), &[" ./-x.keys"]);
}

#[test]
fn a_command_is_never_broken_inside_quotes() {
    let scratch = Scratch::new();
    let names = (0..3000)
        .map(|i| format!("the orders of all of f's customers and of other ones:{{one two}}:{i}\n"));
    let users = (0..3000).map(|i| format!("user:{i}\n"));
    scratch.file("dump.keys", names.chain(users).collect::<String>());
    let args = ["advise", "dump.keys", "--format", "lines", "--nodes", "3"];
    let told = scratch.report(&[&args[..], &["--json"]].concat());
    let rules: Vec<&str> = told["rules"]
        .list()
        .iter()
        .map(|rule| rule.text())
        .collect();
    assert!(rules.iter().any(|rule| rule.contains("f's")), "{rules:?}");
    let output = scratch.run(&args);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // The commands as a shell reads them.
    let text = stdout(&output);
    let lines = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("slotscope whatif"));
    let command: String = lines
        .take_while(|line| !line.is_empty())
        .map(|line| format!("{line}\n"))
        .collect();
    let printed = command.replacen("slotscope whatif", "printf '%s\\n'", 1);
    let bash = Command::new("bash")
        .args(["-c", &printed])
        .output()
        .unwrap();
    for rule in rules {
        assert!(
            stdout(&bash).lines().any(|word| word == rule),
            "{rule}\n{command}\n{}",
            stdout(&bash)
        );
    }
}

#[test]
fn reports_and_collections_of_others_move_no_terminal() {
    let scratch = Scratch::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/hot-tag.keys");
    let made = in_repository(&["analyze", "samples/hot-tag.keys", "--json"])
        .output()
        .unwrap();
    let made = stdout(&made);
    let odd = OBEYED
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect::<String>();
    for word in [
        "critical", "warning", "notice", "skewed", "memory", "bytes", "keys", "move",
    ] {
        let text = made.replace(&format!("\"{word}\""), &format!("\"{odd}\""));
        scratch.file("other.json", text);
        for args in [
            &["diff", "other.json", sample][..],
            &["diff", "other.json", "other.json"],
            &["trend", "other.json", "other.json"],
            &["analyze", sample, "--previous", "other.json", "--no-files"],
        ] {
            let output = scratch.run(&[args, &["--color", "always"]].concat());
            assert_tame(&output, &format!("{word} {args:?}"));
        }
    }
    std::fs::create_dir(scratch.path("shop")).unwrap();
    let mut manifest = example(&["a.csv"]);
    manifest.load = Some(LoadEntry {
        secs: 1.0,
        nodes: vec![NodeWork {
            name: OBEYED.into(),
            secs: 1.0,
            cpu: Some(0.5),
            commands: vec![CommandWork {
                name: OBEYED.into(),
                calls_per_sec: 1.0,
                usec_per_call: 1.0,
                share: 1.0,
            }],
            ..NodeWork::default()
        }],
        logged: Some(LoggedCommands {
            nodes: 1,
            entries: 1,
            logs_cut: 0,
            commands: vec![LoggedCommand {
                log: CommandLogKind::Slow,
                id: None,
                name: OBEYED.into(),
                command: OBEYED.into(),
                key: None,
                slot: None,
                entries: 1,
                amount: 5,
                most: 5,
            }],
        }),
        ..LoadEntry::default()
    });
    manifest.skipped = vec![OBEYED.into()];
    let node = &mut manifest.nodes[0];
    (node.name, node.server, node.error) =
        (OBEYED.into(), Some(OBEYED.into()), Some(OBEYED.into()));
    node.complete = false;
    manifest.cluster = false;
    scratch.file("shop/a.csv", "key,size\nuser:1,5\n");
    scratch.file(
        "shop/collect.json",
        serde_json::to_string(&manifest).unwrap(),
    );
    for args in [
        &["analyze", "shop", "--full", "--no-files"][..],
        &["plan", "shop", "--nodes", "3"],
    ] {
        let output = scratch.run(&[args, &["--color", "always"]].concat());
        assert_tame(&output, &format!("{args:?}"));
        if args[0] == "analyze" {
            assert!(
                stdout(&output).contains(r"\x1b]0;PWN\x07"),
                "{}{}",
                stdout(&output),
                stderr(&output)
            );
        }
    }
}
