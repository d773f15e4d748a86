//! `--fail-on` in cron and CI: its exit codes, and that every number in a report can have a limit.

use std::collections::BTreeSet;
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
    for (limit, ending, said) in [
        (
            "nodes.keys.max_over_mean > 1.1",
            1,
            "nodes.keys.max_over_mean is 1.1682",
        ),
        ("nodes.keys.max_over_mean > 1.2", 0, ""),
        ("nodes.bytes.max > 1", 2, "nodes.bytes.max"),
    ] {
        let output = on_three(limit);
        assert_eq!(code(&output), ending, "{limit}");
        stderr(&output).says(said);
        // The report is there all the same.
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok());
    }
    on_three("nodes.keys.maximum > 1").refused("it has: max,");
    let assumed = analyze(&["samples/commerce.keys", "--fail-on", "nodes.keys.max > 1"]);
    assumed.refused("--topology or --nodes");
}

#[test]
fn an_input_that_is_empty_or_incomplete_passes_no_check() {
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let whole = gzip(keys.as_bytes());
    let scratch = Scratch::with("broken.gz", &whole[..whole.len() / 2]);
    scratch.file("empty", "");
    for line in [
        "analyze empty --nodes 3 --json --fail-on 'nodes.keys.max_over_mean > 1.2'",
        "analyze broken.gz --json --fail-on 'input.keys > 10'",
    ] {
        assert_eq!(code(&scratch.run(line)), 2, "{line}");
    }
}

/// Every path in `report` that leads to a number.
fn numbers(here: &Value, path: String, found: &mut BTreeSet<String>) {
    match here {
        Value::Number(_) => drop(found.insert(path)),
        Value::Array(rows) => {
            let path = format!("{path}[*]");
            rows.iter()
                .for_each(|row| numbers(row, path.clone(), found));
        }
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            let path = format!("{path}.{name}");
            numbers(value, path.trim_start_matches('.').into(), found);
        }),
        _ => {}
    }
}

#[test]
fn every_number_of_real_reports_can_have_a_limit() {
    let row = |i: u64| format!("u:{{t{}}}:{i},{},{i},hash,0,\n", i % 7, i * 3);
    let rows: String = (0..500).map(row).collect();
    let scratch = Scratch::with("table.csv", format!("key,size,ops,type,db,ttl\n{rows}"));
    let samples = ["commerce", "nasty"].map(|name| root().join(format!("samples/{name}.keys")));
    let [commerce, nasty] = samples.map(|path| path.display().to_string());
    let mut found = BTreeSet::new();
    for args in [
        "table.csv --by ops --maxmemory 1mb --growth 3",
        &format!("{commerce} {nasty}"),
        "table.csv --only slots",
    ] {
        let report = scratch.report(&format!("analyze --json {args}"));
        numbers(&report, String::new(), &mut found);
    }
    assert!(found.len() > 100, "{found:?}");
    // A path that no report has is rejected at the start, with another message. These limits all pass that check: the
    // run completes and then fails, because this report lacks some of the numbers.
    let limits: Vec<String> = found.iter().map(|path| format!("{path} < -1e18")).collect();
    let mut args = vec!["samples/commerce.keys", "--nodes", "3"];
    limits
        .iter()
        .for_each(|limit| args.extend(["--fail-on", limit]));
    stderr(&analyze(&args)).says("no such number");
}
