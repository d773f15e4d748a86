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
    let output = output.expect("python in target/venv; tests/run installs it");
    let lines = String::from_utf8(succeeded(output)).unwrap();
    let lines = lines.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

#[test]
fn numbers_are_those_of_the_report_and_names_are_escaped() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", "key,size\n{a}1,10\n{a}2,20\nb,30\n");
    scratch.file("topology", "a\"\\b 1.1.1.1:1 master - 0 0 1 connected 0-9999\nc :0 master,noaddr - 0 0 1 connected 10000-16383\n");
    let flags = "--topology topology --openmetrics slotscope.prom";
    let report = scratch.report(&format!("analyze dump.csv --json {flags}"));
    let samples = samples(&scratch.path("slotscope.prom"));
    let has = |name: &str, labels: Value, value: f64| {
        let is_it = |of: &Value| of[0] == name && of[1] == labels && of[2].float() == value;
        assert!(
            samples.iter().any(is_it),
            "{name} {labels} {value}: {samples:#?}"
        );
    };
    has("slotscope_keys", json!({}), 3.0);
    has("slotscope_tags", json!({}), 1.0);
    let state = &report["verdict"]["state"];
    has("slotscope_verdict", json!({"state": state}), 1.0);
    for found in report["verdict"]["roles"].list() {
        let most = found["fullest"]["max_over_mean"].float();
        has(
            "slotscope_node_max_over_mean",
            json!({"metric": found["metric"]}),
            most,
        );
    }
    let is_load = |of: &&Value| of[0] == "slotscope_node_load" && of[1]["metric"] == "bytes";
    let loads = samples
        .iter()
        .filter(is_load)
        .map(|sample| sample[2].float());
    assert_eq!(loads.sum::<f64>(), 60.0);
    let there = scratch.entries("");
    assert_eq!(there, ["dump.csv", "slotscope.prom", "topology"]);
}

#[test]
fn a_file_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new();
    scratch.file("dump", "a\nb\n");
    scratch.refuses("analyze dump --no-files --openmetrics dump/numbers.prom | dump: is a file");
}
