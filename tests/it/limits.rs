//! `--fail-on` in cron and CI: its exit codes, and that every number in a report can have a limit.

use std::process::Output;

use testkit::dumps::gzip;
use testkit::prelude::*;

fn analyze(args: &[&str]) -> Output {
    let args = [&["analyze", "--json"], args].concat();
    in_repository(&args).output().unwrap()
}

#[test]
fn the_exit_code_is_1_where_a_limit_is_crossed_0_where_it_holds_and_2_where_its_number_is_missing()
{
    let on_three =
        |limit: &str| analyze(&["samples/commerce.keys", "--nodes", "3", "--fail-on", limit]);
    let crossed = on_three("nodes.keys.max_over_mean > 1.1");
    assert_eq!(code(&crossed), 1);
    assert_contains(stderr(&crossed), &["nodes.keys.max_over_mean is 1.1682"]);
    assert!(
        serde_json::from_slice::<Value>(&crossed.stdout).is_ok(),
        "the report is there all the same"
    );
    assert_eq!(code(&on_three("nodes.keys.max_over_mean > 1.2")), 0);
    let lacking = on_three("nodes.bytes.max > 1");
    assert_eq!(
        (code(&lacking), lacking.stdout.is_empty()),
        (2, false),
        "{}",
        stderr(&lacking)
    );
    let unknown = on_three("nodes.keys.maximum > 1");
    assert_eq!((code(&unknown), unknown.stdout.is_empty()), (2, true));
    assert_contains(stderr(&unknown), &["it has: max,"]);
    let assumed = analyze(&["samples/commerce.keys", "--fail-on", "nodes.keys.max > 1"]);
    assert_eq!((code(&assumed), assumed.stdout.is_empty()), (2, true));
    assert_contains(stderr(&assumed), &["--topology or --nodes"]);
}

#[test]
fn an_empty_dump_passes_no_check() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.keys");
    std::fs::write(&empty, b"").unwrap();
    let found = analyze(&[
        empty.to_str().unwrap(),
        "--nodes",
        "3",
        "--fail-on",
        "nodes.keys.max_over_mean > 1.2",
    ]);
    assert_eq!(code(&found), 2, "{}", stderr(&found));
}

#[test]
fn an_incomplete_input_beats_a_crossed_limit() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.keys.gz");
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let whole = gzip(keys.as_bytes());
    std::fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(
        code(&analyze(&[
            broken.to_str().unwrap(),
            "--fail-on",
            "input.keys > 10"
        ])),
        2
    );
}

/// Every path in `report` that leads to a number.
fn numbers(here: &Value, path: String, found: &mut std::collections::BTreeSet<String>) {
    match here {
        Value::Number(_) => drop(found.insert(path)),
        Value::Array(rows) => rows
            .iter()
            .for_each(|row| numbers(row, format!("{path}[*]"), found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            numbers(value, path, found);
        }),
        _ => {}
    }
}

#[test]
fn every_number_of_real_reports_can_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    let rows: String = (0..500)
        .map(|i| format!("u:{{t{}}}:{i},{},{i},hash,0,\n", i % 7, i * 3))
        .collect();
    std::fs::write(&table, format!("key,size,ops,type,db,ttl\n{rows}")).unwrap();
    let table = table.to_str().unwrap();
    let mut found = std::collections::BTreeSet::new();
    for args in [
        vec![table, "--by", "ops", "--maxmemory", "1mb", "--growth", "3"],
        vec!["samples/commerce.keys", "samples/nasty.keys"],
        vec![table, "--only", "slots"],
    ] {
        let output = analyze(&args);
        numbers(&report(&output), String::new(), &mut found);
    }
    assert!(found.len() > 100, "{found:?}");
    // A path that no report has is rejected at the start, with another message. These limits all pass that check: the
    // run completes and then fails, because this report lacks some of the numbers.
    let limits: Vec<String> = found.iter().map(|path| format!("{path} < -1e18")).collect();
    let limits: Vec<&str> = limits
        .iter()
        .flat_map(|limit| ["--fail-on", limit])
        .collect();
    let output = analyze(
        &[
            &["samples/commerce.keys", "--nodes", "3"],
            limits.as_slice(),
        ]
        .concat(),
    );
    assert_contains(stderr(&output), &["no such number"]);
}
