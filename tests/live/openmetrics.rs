//! `analyze --openmetrics`, parsed by the official Prometheus client library.

use std::path::Path;
use std::process::Command;

use testkit::prelude::*;

/// Prints every sample as JSON: name, labels, value.
const PARSE: &str = "
import json, sys
from prometheus_client.parser import text_string_to_metric_families as families
for family in families(open(sys.argv[1], encoding='utf-8').read()):
    assert family.documentation and family.type == 'gauge', family
    for sample in family.samples:
        print(json.dumps([sample.name, sample.labels, sample.value]))
";

fn samples(path: &Path) -> Vec<Value> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("venv/bin/python");
    let output = Command::new(&python).args(["-c", PARSE]).arg(path).output();
    let output = output
        .unwrap_or_else(|error| panic!("{}: {error}; tests/run installs it", python.display()));
    assert!(output.status.success(), "{}", stderr(&output));
    let lines = stdout(&output);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn numbers_are_those_of_the_report_and_names_are_escaped() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", "key,size\n{a}1,10\n{a}2,20\nb,30\n");
    scratch.file("topology", "a\"\\b 1.1.1.1:1 master - 0 0 1 connected 0-9999\nc :0 master,noaddr - 0 0 1 connected 10000-16383\n");
    let args = words("analyze dump.csv --json --topology topology --openmetrics slotscope.prom");
    let report = scratch.report(&args);
    let samples = samples(&scratch.path("slotscope.prom"));
    let value = |name: &str, labels: Value| {
        let found = samples
            .iter()
            .find(|sample| sample[0] == name && sample[1] == labels);
        found.unwrap_or_else(|| panic!("{name} {labels} in {samples:#?}"))[2].float()
    };
    let none = || serde_json::json!({});
    assert_eq!(value("slotscope_keys", none()), 3.0);
    assert_eq!(value("slotscope_tags", none()), 1.0);
    let state = &report["verdict"]["state"];
    assert_eq!(
        value("slotscope_verdict", serde_json::json!({"state": state})),
        1.0
    );
    for found in report["verdict"]["roles"].list() {
        let labels = serde_json::json!({"metric": found["metric"]});
        let expected = found["fullest"]["max_over_mean"].float();
        assert_eq!(value("slotscope_node_max_over_mean", labels), expected);
    }
    let loads: f64 = samples
        .iter()
        .filter(|sample| sample[0] == "slotscope_node_load" && sample[1]["metric"] == "bytes")
        .map(|sample| sample[2].float())
        .sum();
    assert_eq!(loads, 60.0);
    let there: Vec<_> = std::fs::read_dir(scratch.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(there.len(), 3, "nothing is left: {there:?}");
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new();
    scratch.file("dump", "a\nb\n");
    let output = scratch.run(&words(
        "analyze dump --no-files --openmetrics dump/numbers.prom",
    ));
    assert_fails(&output, &["dump: is a file"]);
}
