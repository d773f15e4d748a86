//! A diff that has all its parts: what paths there are in its JSON, read off a real one.

use serde_json::{Value, json};

use crate::advice::diff::Diff;
use crate::advice::diff::report::Report;
use crate::error::Result;
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary;

/// Such a diff.
///
/// # Errors
/// None in practice: what it compares is in the program.
pub fn whole_diff() -> Result<Value> {
    let [old, new] = [
        report(&[("grew", 1), ("shrank", 900), ("vanished", 500)]),
        report(&[("grew", 999), ("shrank", 7), ("appeared", 500)]),
    ];
    Ok(serde_json::to_value(Diff::of(&old?, &new?)?).unwrap_or_default())
}

/// A report of every metric, with tags of so many keys.
fn report(tags: &[(&str, u64)]) -> Result<Report> {
    let list = |name: &str| {
        let rows = tags.iter().map(|(tag, keys)| json!({name: tag, "keys": keys, "bytes": keys, "ops": keys}));
        // So little may be below the list that a row of one key may be there, and one of 500 not.
        json!({"exact": true, "max_error": 1, "top": rows.chain([json!({name: tags[0].0.len().to_string() + tags[2].0, "keys": 1})]).collect::<Vec<_>>()})
    };
    let per_metric = |value: Value| json!({"keys": value, "bytes": value, "ops": value});
    let balance = json!({"mean": 1.0, "max_over_mean": 1.0, "cv": 0.0, "gini": 0.0});
    let mut nodes = per_metric(balance.clone());
    nodes["source"] = json!("even 1");
    nodes["list"] = json!([{"id": "even-1", "slots": SLOTS, "keys": tags[0].1, "bytes": 1, "ops": 1}]);
    let mut slots = per_metric(json!(vec![0; SLOTS]));
    slots["keys"][0] = json!(tags[0].1);
    slots["stats"] = per_metric(balance);
    let report = json!({
        "schema": summary::SCHEMA, "input": {"keys": 1}, "slots": slots, "nodes": nodes,
        "tags": list("tag"), "prefixes": list("prefix"), "patterns": list("pattern"),
        "skew": {"by": "keys", "verdict": "balanced"},
    });
    Report::parse(Name::from("all"), report.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_it_has_a_row() {
        let diff = whole_diff().unwrap();
        for part in ["tags", "prefixes", "patterns"] {
            for list in ["grew", "shrank", "appeared", "vanished", "below_the_list"] {
                assert!(diff[part][list][0].is_object(), "{part}.{list}: {}", diff[part]);
            }
        }
        assert!(diff["hot"][0].is_object() && diff["nodes"][0].is_object());
    }
}
