//! `--redact` on truncated, changed or rejected dumps: the messages about the damage do not name a key either, nor does
//! a report from the dump's tally file.

use std::fs;

use super::{TOKEN, leaks, planted};
use testkit::env::size;
use testkit::prelude::*;
use testkit::rng::Rng;

/// Commands whose output must not name anything, for a file in a format; `out` is their output directory.
const RUNS: [&str; 4] = [
    "analyze FILE --out out --openmetrics out.prom",
    "analyze FILE --strict --json --one-pass",
    "timeline FILE --out out",
    "analyze FILE.tally --out out",
];

/// The occurrences of the token in the outputs of all runs on `content`.
fn found(scratch: &Scratch, format: &str, content: &[u8]) -> Vec<String> {
    let file = format!("{TOKEN}.{format}");
    scratch.file(&file, content);
    let tally = format!("{file}.tally");
    scratch.run(&["tally", &file, "-o", &tally, "--format", format]);
    let mut found = Vec::new();
    for line in RUNS {
        let line = line.replace("FILE", &file) + " --redact";
        let mut args = words(&line);
        if !args.contains(&&*tally) {
            args.extend(["--format", format]);
        } else if !scratch.path(&tally).exists() {
            continue;
        }
        let output = scratch.run(&args);
        let mut here = leaks(&output, &scratch.path("out"));
        let metrics = fs::read_to_string(scratch.path("out.prom")).unwrap_or_default();
        here.extend(metrics.contains(TOKEN).then(|| String::from("out.prom")));
        found.extend(here.into_iter().map(|leak| format!("{line}: {leak}")));
        drop(fs::remove_dir_all(scratch.path("out")));
        drop(fs::remove_file(scratch.path("out.prom")));
    }
    drop(fs::remove_file(scratch.path(&tally)));
    found
}

/// `content` truncated, or with one byte changed.
fn damaged(content: &[u8], random: &mut Rng) -> Vec<u8> {
    let at = 1 + random.below(content.len() - 1);
    let mut content = content.to_vec();
    match random.below(3) {
        0 => content.truncate(at),
        1 => content[at] = [0xC8, 0xFF, b'"', b'\n', 0][random.below(5)],
        _ => content.insert(at, 0xC8),
    }
    content
}

#[test]
fn damage_of_any_format_names_no_key() {
    let scratch = Scratch::new();
    let mut random = Rng::new(11);
    let mut leaks = Vec::new();
    for (format, content) in planted() {
        for _ in 0..size("SLOTSCOPE_REDACT_CASES", 1) {
            leaks.extend(found(&scratch, format, &damaged(&content, &mut random)));
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

/// An RDB file with two keys of that name, and a list as the second value.
fn snapshot(end: &[u8]) -> Vec<u8> {
    let key = [&[TOKEN.len() as u8][..], TOKEN.as_bytes()].concat();
    let parts = [b"REDIS0011\xfe\x00\x00", &key[..], b"\x01v\x01", &key, end];
    parts.concat()
}

#[test]
fn an_rdb_file_that_breaks_in_a_value_shows_the_hash_of_its_key() {
    let scratch = Scratch::new();
    // Two elements are announced, one exists.
    let file = snapshot(b"\x02\x01a");
    assert_eq!(found(&scratch, "rdb", &file), Vec::<String>::new());
    scratch.file("plain.rdb", &file);
    let reason = |flags: &str| {
        let mut command = scratch.command(&format!("analyze plain.rdb --json {flags}"));
        let output = command.env("SLOTSCOPE_REDACT_KEY", "k").output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["input"]["incomplete"][0]["reason"].text().to_owned()
    };
    let (plain, hidden) = (reason(""), reason("--redact"));
    plain.says(&format!("in the value of type 1 of \"{TOKEN}\""));
    let hash = hidden.split('"').nth(1).unwrap();
    let is_hash = hash.len() == 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_hash, "{hidden}");
    assert_eq!(plain.replace(TOKEN, hash), hidden);
}

/// A collection with the token wherever its description of itself is free text.
fn collection(scratch: &Scratch) {
    fs::create_dir(scratch.path("all")).unwrap();
    scratch.file("all/n.csv", format!("key,slot\n{TOKEN},1\n"));
    let t = TOKEN;
    let manifest = format!(
        r#"{{"schema":"slotscope.collect/1","version":"{t}","started":"{t}","finished":"{t}","cluster":false,
        "level":"sizes","from":"primary","settings":{{"max_load":25.0,"count":500,"sample_percent":100.0,
        "exact_elements":1024,"samples":64}},"nodes":[{{"id":"{t}","name":"{t}","role":"primary","primary":null,
        "server":"{t}","file":"n.csv","keys":1,"dbsize":{{"before":1,"after":1}},"counted":null,"repeats":0,
        "vanished":0,"strays":0,"complete":false,"error":"{t} said \"{t}\""}}],"keys":1,"slots_moved":[],
        "failovers":[],"slots_missing":[],"incomplete":true,"skipped":["{t}"]}}"#
    );
    scratch.file("all/collect.json", manifest);
}

#[test]
fn a_collection_that_broke_off_names_no_node() {
    let scratch = Scratch::new();
    collection(&scratch);
    let plain = scratch.run("analyze all --no-files");
    stdout(&plain).says(TOKEN);
    for line in [
        "analyze all --redact --out out",
        "analyze all --redact --json",
        "analyze all --redact --full --no-files",
        "timeline all --redact",
    ] {
        let leaks = leaks(&scratch.run(line), &scratch.path("out"));
        assert!(leaks.is_empty(), "{line}: {}", leaks.join("\n"));
    }
}

#[test]
fn a_tally_file_of_an_older_version_is_read_and_its_reasons_hide_their_names() {
    use slotscope::redact::{Redaction, spelled};
    use slotscope::scan::Incomplete;
    let text = format!(
        r#"{{"input":0,"byte":7,"reason":"the RDB file was cut off; in the value of type 0 of \"{TOKEN}\", version 11"}}"#
    );
    let stop: Incomplete = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&stop).unwrap(), text);
    let redaction = Redaction::from_environment().unwrap();
    let hidden = spelled(&stop.reason, Some(&redaction));
    hidden
        .begins("the RDB file was cut off; in the value of type 0 of \"")
        .ends("\", version 11")
        .lacks(TOKEN);
}
