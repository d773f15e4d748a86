//! report.json of the schema before: what it lacks is made from what it has.

use serde_json::{Value, json};

use crate::summary::cause::State;
use crate::summary::judge::state_of;

/// The schema before: its reports have loads, nodes, tags and prefixes as today, and no verdict by metric.
pub const OLDER: &str = "slotscope.report/1";

/// A report of that schema as one of today's. Its state is what its nodes are by keys.
pub fn upgraded(mut report: Value) -> Value {
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
        let verdict = json!({"state": state, "metric": "keys", "by_metric": []});
        members.entry("verdict").or_insert(verdict);
        members.entry("by").or_insert(json!("keys"));
    }
    if let Some(Value::Object(input)) = report.get_mut("input") {
        input
            .entry("duplicate_share_exact")
            .or_insert(Value::Bool(false));
    }
    report
}
