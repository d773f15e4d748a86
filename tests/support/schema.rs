//! The JSON Schemas in docs/schema/, and whether the JSON of the program fits them.

use std::fmt;
use std::process::Output;
use std::sync::LazyLock;

use serde_json::Value;

use crate::files::{below, text_of};
use crate::json::Json;
use crate::run::root;

/// The schemas, each by its name.
static SCHEMAS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let files = below(&root().join("docs/schema"), "json").into_iter();
    let named = files.map(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = text_of(path.to_str().unwrap());
        let schema = serde_json::from_str(&text).unwrap();
        assert_known(&schema);
        (name, schema)
    });
    named.collect()
});

/// Asserts that the lines of JSON which a run with these words printed fit a schema: one of those that they name, or that
/// of the command.
#[track_caller]
pub fn check(words: &[&str], output: &Output) {
    if !words.iter().any(|word| ["--json", "jsonl"].contains(word)) {
        return;
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let lines = printed.lines().map(serde_json::from_str::<Value>);
    let values: Vec<Value> = lines.flatten().collect();
    let is_whole = values.len() == printed.lines().count() && !values.is_empty();
    // The word jsonl may also name the format of an input.
    let is_free = !words.contains(&"--json") || !output.status.success();
    assert!(is_whole || is_free, "{words:?}: {printed}");
    for value in values.into_iter().filter(Value::is_object) {
        let mut found = Vec::new();
        for (name, schema) in SCHEMAS.iter() {
            let is_its = match &schema["properties"]["schema"]["const"] {
                Value::Null => words.contains(&name.as_str()),
                constant => *constant == value["schema"],
            };
            found.extend(is_its.then(|| wrong(schema, &value)));
        }
        let fits = found.iter().any(Vec::is_empty);
        let first: Vec<_> = found.into_iter().flatten().take(5).collect();
        assert!(fits, "{words:?}: {first:#?}");
    }
}

/// The place of a value, which is put into words only for a violation: a report has a hundred thousand of them.
enum Place<'p> {
    Root,
    Row(&'p Place<'p>, usize),
    Member(&'p Place<'p>, &'p str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Root => Ok(()),
            Place::Row(list, row) => write!(f, "{list}[{row}]"),
            Place::Member(object, name) => write!(f, "{object}.{name}"),
        }
    }
}

/// Asserts that every keyword of a schema is one that is checked.
fn assert_known(schema: &Value) {
    for (name, part) in schema.as_object().into_iter().flatten() {
        let is_known = KEYWORDS.split(' ').any(|of| of == name);
        assert!(is_known, "{name} is not checked");
        match (name.as_str(), part) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.values().for_each(assert_known);
            }
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter().for_each(assert_known);
            }
            ("items" | "additionalProperties", part) => assert_known(part),
            _ => {}
        }
    }
}

/// The violations of `schema`, a part of `root`, by `value`. An undeclared member is a violation.
fn complaints(
    root: &Value,
    schema: &Value,
    value: &Value,
    place: &Place<'_>,
    found: &mut Vec<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return complaints(root, target.expect(reference), value, place, found);
    }
    let mut complain = |what: String| found.push(format!("{place}: {what}: {value}"));
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let fits = |choice: &Value| {
            let mut found = Vec::new();
            complaints(root, choice, value, place, &mut found);
            found.is_empty()
        };
        if !choices.iter().any(fits) {
            complain("fits no choice".into());
        }
        return;
    }
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    };
    let allows = |name: &Value| name == is || name == "number" && is == "integer";
    match &schema["type"] {
        Value::Array(types) if types.iter().any(allows) => {}
        Value::Null => {}
        only if allows(only) => {}
        other => complain(format!("is no {other}")),
    }
    if schema
        .get("const")
        .is_some_and(|constant| constant != value)
    {
        complain(format!("is not {}", schema["const"]));
    }
    let words = schema["enum"].as_array();
    if words.is_some_and(|words| !words.contains(value)) {
        complain(format!("is none of {}", schema["enum"]));
    }
    if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
        && number < least
    {
        complain(format!("is below {least}"));
    }
    if let Some(rows) = value.as_array() {
        let tuple = schema["prefixItems"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for (i, row) in rows.iter().enumerate() {
            let schema = tuple.get(i).unwrap_or(&schema["items"]);
            assert!(schema.is_object(), "{place}: a list of what?");
            complaints(root, schema, row, &Place::Row(place, i), found);
        }
        return;
    }
    let Some(members) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !members.contains_key(name.text()) {
            found.push(format!("{place}: lacks {name}"));
        }
    }
    for (name, member) in members {
        let place = Place::Member(place, name);
        match [&schema["properties"][name], &schema["additionalProperties"]] {
            [known, _] if known.is_object() => complaints(root, known, member, &place, found),
            [_, any] if any.is_object() => complaints(root, any, member, &place, found),
            _ => found.push(format!("{place}: is not in the schema")),
        }
    }
}

/// The keywords of a schema: all are checked or do not restrict the value.
const KEYWORDS: &str = "$schema $defs $ref title description format type const enum minimum maximum minItems maxItems \
    anyOf oneOf properties required additionalProperties items prefixItems";

/// The violations of a whole schema.
pub fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    complaints(schema, schema, value, &Place::Root, &mut found);
    found
}
