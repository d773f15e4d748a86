//! report.json of older schemas: missing members are made from those present.

use serde_json::{Value, json};

use slotscope_findings::summary::judge::state_of;
use slotscope_findings::summary::state::State;

/// The schemas before. Reports of the first have loads, nodes, tags and prefixes as today and no verdict by metric; those
/// of the second have a verdict for each metric in place of two roles.
pub(super) const OLDER: [&str; 2] = ["slotscope.report/1", "slotscope.report/2"];

/// A report of those schemas as one of today's.
pub(super) fn upgraded(report: Value) -> Value {
    if report["verdict"]["by_metric"].is_array() {
        with_roles(report)
    } else {
        with_state(report)
    }
}

/// The verdicts by bytes, else by keys, and by operations, as roles. Their states are those of that time.
fn with_roles(mut report: Value) -> Value {
    let found = report["verdict"]["by_metric"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let of = |metric: &str| found.iter().find(|found| found["metric"] == metric);
    let role = |(role, metric): (&str, &str)| {
        let mut verdict = of(metric)?.clone();
        let members = verdict.as_object_mut()?;
        members.remove("remedies");
        members.insert("role".into(), json!(role));
        members.insert("judged".into(), json!(true));
        Some(verdict)
    };
    let memory = role(("memory", "bytes")).or_else(|| role(("memory", "keys")));
    let load = role(("load", "ops")).or_else(|| role(("load", "accesses")));
    let roles: Vec<Value> = memory.into_iter().chain(load).collect();
    if let Some(members) = report["verdict"].as_object_mut() {
        for gone in ["by_metric", "metric", "risks"] {
            members.remove(gone);
        }
        members.insert("roles".into(), json!(roles));
        members.insert("keys_known".into(), json!(true));
    }
    report
}

/// A verdict by keys alone.
fn with_state(mut report: Value) -> Value {
    let number = |report: &Value, path: &str| report.pointer(path).and_then(Value::as_f64);
    let max_over_mean = number(&report, "/nodes/keys/max_over_mean");
    let is_whole = report
        .pointer("/input/incomplete")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    let state = match max_over_mean {
        _ if !is_whole => State::Suspicious,
        None => State::Empty,
        Some(max_over_mean) => state_of(max_over_mean),
    };
    if let Some(members) = report.as_object_mut() {
        members
            .entry("verdict")
            .or_insert(json!({"state": state, "keys_known": true}));
        members.entry("by").or_insert(json!("keys"));
    }
    if let Some(Value::Object(input)) = report.get_mut("input") {
        input
            .entry("duplicate_share_exact")
            .or_insert(Value::Bool(false));
    }
    report
}
