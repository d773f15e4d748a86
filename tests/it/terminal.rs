//! Nothing in an input controls the terminal. Colour is forced, since escapes are stripped when a pipe reads: the
//! output has the program's colours, but no title, bell or directional character.

use std::process::Output;

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
    let keys = rows
        .lines()
        .map(|row| format!("{}\n", row.split(',').next().unwrap()));
    scratch.file("dump.keys", keys.collect::<String>());
}

#[test]
fn names_of_keys_move_no_terminal() {
    let scratch = Scratch::new();
    dump(&scratch);
    for line in [
        "analyze dump.csv --full",
        "analyze dump.csv --type hashes",
        "analyze dump.csv --match OBEYED",
        "advise dump.keys --format lines --nodes 3",
        "plan dump.csv --nodes 3 --add 1",
        "whatif dump.csv --to-nodes 6",
        "find-tag --node OBEYED",
        "keyslot OBEYED",
        "analyze OBEYED",
        "analyze dump.csv --topology OBEYED",
        "plan dump.csv --nodes 3 --remove OBEYED",
        "collect OBEYED",
        "analyze dump.csv --key-column OBEYED",
        "analyze dump.csv --size-column OBEYED",
        "analyze dump.jsonl --ops-column OBEYED",
        "fanout dump.keys --batches keys",
    ] {
        let output = scratch.run(&format!("{line} --color always").replace("OBEYED", OBEYED));
        assert_tame(&output, line);
    }
}

#[test]
fn a_dump_named_like_a_flag_is_a_file_in_the_commands_of_steps() {
    let keys = (0..3000).map(|i| format!("{{t{}}}:{i}\n", i % 5));
    let scratch = Scratch::with("-x.keys", keys.collect::<String>());
    scratch
        .text("analyze --no-files --nodes 3 -- -x.keys")
        .says(" ./-x.keys");
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_command_is_never_broken_inside_quotes() {
    let scratch = Scratch::new();
    let names = (0..3000)
        .map(|i| format!("the orders of all of f's customers and of other ones:{{one two}}:{i}\n"));
    let users = (0..3000).map(|i| format!("user:{i}\n"));
    scratch.file("dump.keys", names.chain(users).collect::<String>());
    let line = "advise dump.keys --format lines --nodes 3";
    let told = scratch.report(&format!("{line} --json"));
    let rules: Vec<&str> = told["rules"]
        .list()
        .iter()
        .map(|rule| rule.text())
        .collect();
    assert!(rules.iter().any(|rule| rule.contains("f's")), "{rules:?}");
    // The commands as a shell reads them.
    let text = scratch.text(line);
    let (_, command) = text.split_once("slotscope whatif").expect(&text);
    let command = command.split("\n\n").next().unwrap();
    let words = scratch.shell(format!("printf '%s\\n' {command}"));
    for rule in rules {
        let mut words = stdout(&words).lines();
        assert!(words.any(|word| word == rule), "{rule}\n{command}");
    }
}

#[test]
fn reports_and_collections_of_others_move_no_terminal() {
    let scratch = Scratch::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/hot-tag.keys");
    let made = scratch.text(&format!("analyze {sample} --json"));
    let odd: String = OBEYED
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    for word in [
        "critical", "warning", "notice", "skewed", "memory", "bytes", "keys", "move",
    ] {
        let text = made.replace(&format!("\"{word}\""), &format!("\"{odd}\""));
        scratch.file("other.json", text);
        for line in [
            "diff other.json other.json",
            "capacity other.json",
            &format!("analyze {sample} --previous other.json --no-files"),
        ] {
            let output = scratch.run(&format!("{line} --color always"));
            assert_tame(&output, &format!("{word} {line}"));
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
    let odd = || String::from(OBEYED);
    (node.name, node.server, node.error) = (odd(), Some(odd()), Some(odd()));
    node.complete = false;
    manifest.cluster = false;
    scratch.file("shop/a.csv", "key,size\nuser:1,5\n");
    scratch.file("shop/collect.json", json!(manifest).to_string());
    let analyzed = scratch.run("analyze shop --full --no-files --color always");
    stdout(&analyzed).says(r"\x1b]0;PWN\x07");
    assert_tame(&analyzed, "analyze");
    assert_tame(&scratch.run("plan shop --nodes 3 --color always"), "plan");
}
