//! `--fail-on 'PATH OP NUMBER'`: limits on numbers of a report, for cron and CI.
//!
//! A path is a list of names joined by `.`, with `[i]` or `[*]` after a list. It is checked against the JSON Schema of
//! the output before the scan starts. Verdict states compare by severity: `verdict >= watch`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_model::state::State;

use crate::cli::Command;

/// A limit on numbers of a report.
#[derive(Debug, Clone)]
pub struct Limit {
    /// As the user wrote it.
    text: String,
    path: Vec<Step>,
    /// Whether a value crosses the number.
    crosses: Compare,
    number: f64,
}

type Compare = fn(&f64, &f64) -> bool;

#[derive(Debug, Clone)]
enum Step {
    Name(String),
    Index(usize),
    Any,
}

/// Operators; longer ones precede their prefixes.
const OPS: [(&str, Compare); 6] = [
    (">=", f64::ge),
    ("<=", f64::le),
    ("==", f64::eq),
    ("!=", f64::ne),
    (">", f64::gt),
    ("<", f64::lt),
];

impl Limit {
    /// Parses limits on the numbers of a command's output.
    ///
    /// # Errors
    /// A limit cannot be parsed, or its number does not exist.
    pub fn parse_all(command: &Command, texts: &[String]) -> Result<Vec<Limit>> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let schema = command.outputs.first().map(|output| output.schema);
        let schema = serde_json::from_str(schema.unwrap_or_default()).unwrap_or_default();
        texts
            .iter()
            .map(|text| Limit::parse(text, &schema))
            .collect()
    }

    /// Parses a limit and checks its path against the JSON Schema `schema`.
    ///
    /// # Errors
    /// The limit cannot be parsed, or the schema has no such number.
    fn parse(text: &str, schema: &Value) -> Result<Limit> {
        let bad = |reason: String| Error::option("fail-on", Name::from(text), reason);
        let Some((at, (sign, crosses))) = OPS
            .iter()
            .filter_map(|op| Some((text.find(op.0)?, *op)))
            .min_by_key(|(at, op)| (*at, std::cmp::Reverse(op.0.len())))
        else {
            return Err(bad(
                "has no comparison; write it as: 'verdict >= watch' or 'nodes.keys.max_over_mean > 1.2'".into(),
            ));
        };
        let (path, operand) = (text[..at].trim(), text[at + sign.len()..].trim());
        let state = rank(operand);
        let finite = operand
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let number = state.or(finite).ok_or_else(|| {
            let states: Vec<_> = State::ALL.iter().map(|state| state.name()).collect();
            bad(format!(
                "has neither a number nor a state after {sign}; states are {}",
                states.join(", ")
            ))
        })?;
        let path = steps(path).ok_or_else(|| {
            bad("has no path such as tags.top[0].share before the comparison".into())
        })?;
        let mut limit = Limit {
            text: text.trim().to_owned(),
            path,
            crosses,
            number,
        };
        limit.check(schema, state.is_some()).map_err(bad)?;
        Ok(limit)
    }

    /// The first name of the path.
    pub fn part(&self) -> &str {
        match self.path.first() {
            Some(Step::Name(name)) => name,
            _ => "",
        }
    }

    /// Checks that the schema has a number at the path, or a state for a limit on states. A verdict stands for its
    /// state.
    fn check(&mut self, schema: &Value, is_state: bool) -> std::result::Result<(), String> {
        let mut node = Node::of(schema, schema);
        let mut place = String::from("a report");
        for step in &self.path {
            node = match (step, node) {
                (Step::Name(name), Node::Object(members)) => match members.get(name) {
                    Some(member) => Node::of(member, schema),
                    None => return Err(unknown(&place, name, members)),
                },
                (Step::Index(_) | Step::Any, Node::List(rows)) => Node::of(rows, schema),
                (_, node) => return Err(node.instead(&place)),
            };
            match step {
                Step::Name(name) if place == "a report" => place = name.clone(),
                Step::Name(name) => place = format!("{place}.{name}"),
                _ => place.push_str("[*]"),
            }
        }
        if let Node::Object(members) = node
            && let Some(Node::State) = members.get("state").map(|state| Node::of(state, schema))
        {
            self.path.push(Step::Name("state".into()));
            node = Node::State;
        }
        match (node, is_state) {
            (Node::State, true) | (Node::Number, false) => Ok(()),
            (node, _) => Err(node.instead(&place)),
        }
    }

    /// The numbers in `report` that crossed the limit: one line each, at most three. Where `none_is_fine`, a list without
    /// rows crosses no limit.
    ///
    /// # Errors
    /// The report lacks the number, so the limit cannot be checked.
    fn crossed(&self, report: &Value, none_is_fine: bool) -> Result<Vec<String>> {
        let mut numbers = Vec::new();
        collect(&self.path, report, String::new(), &mut numbers);
        if numbers.is_empty() && !none_is_fine || numbers.iter().any(|(_, value)| value.is_none()) {
            let reason = "this report has no such number: there is nothing to compare".to_owned();
            return Err(Error::option("fail-on", self.text.as_str(), reason));
        }
        let over = numbers
            .into_iter()
            .filter_map(|(place, value)| Some((place, value?)))
            .filter(|(_, value)| (self.crosses)(value, &self.number));
        Ok(over
            .take(3)
            .map(|(place, value)| {
                let is_state = place.ends_with("state");
                let state = State::ALL.get(value as usize).filter(|_| is_state);
                let value = state.map_or(value.to_string(), |state| state.name().into());
                format!("--fail-on {}: {place} is {value}", self.text)
            })
            .collect())
    }
}

/// A value as described by a schema.
enum Node<'a> {
    Object(&'a Map<String, Value>),
    List(&'a Value),
    Number,
    State,
    Other,
}

/// The severity rank of a state.
fn rank(word: &str) -> Option<f64> {
    let states = State::ALL.iter();
    states
        .zip(0u8..)
        .find(|(state, _)| state.name() == word)
        .map(|(_, rank)| f64::from(rank))
}

impl<'a> Node<'a> {
    /// The description by `schema`, a part of `root`, ignoring null.
    fn of(schema: &'a Value, root: &'a Value) -> Self {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = root.pointer(reference.trim_start_matches('#'));
            return target.map_or(Node::Other, |target| Node::of(target, root));
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let described = choices.iter().find(|choice| choice["type"] != "null");
            return described.map_or(Node::Other, |choice| Node::of(choice, root));
        }
        let has_type = |name: &str| match &schema["type"] {
            Value::Array(types) => types.iter().any(|kind| kind == name),
            only => only == name,
        };
        let rows = [&schema["items"], &schema["prefixItems"][0]];
        match (
            &schema["properties"],
            rows.into_iter().find(|rows| rows.is_object()),
        ) {
            (Value::Object(members), _) => Node::Object(members),
            (_, Some(rows)) => Node::List(rows),
            _ if is_state(schema) => Node::State,
            _ if has_type("number") || has_type("integer") => Node::Number,
            _ => Node::Other,
        }
    }

    /// The value at `place`, if it is not the kind that a limit needs.
    fn instead(&self, place: &str) -> String {
        match self {
            Node::Object(members) => {
                let parts: Vec<_> = members.keys().map(String::as_str).collect();
                format!("{place} has parts: {}", parts.join(", "))
            }
            Node::List(_) => format!("{place} is a list; say which of it, as in {place}[*]"),
            Node::Number => format!("{place} is a number: compare it with one"),
            Node::State => {
                format!("{place} is a state: compare it with one, as in verdict >= watch")
            }
            Node::Other => format!("{place} is not a number"),
        }
    }
}

/// Whether a schema describes a state.
fn is_state(schema: &Value) -> bool {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let words = choices.map(|choice| choice["const"].as_str().unwrap_or_default());
    words.eq(State::ALL.iter().map(|state| state.name()))
}

fn unknown(place: &str, name: &str, members: &Map<String, Value>) -> String {
    let mut names: Vec<_> = members.keys().map(String::as_str).collect();
    names.sort_by_key(|known| strsim::levenshtein(name, known));
    format!(
        "{place} has no \"{}\"; it has: {}",
        Name::from(name),
        names.join(", ")
    )
}

/// Whether `result` crossed any limit; the numbers that did are printed to standard error. Where `none_is_fine`, a list
/// without rows crosses no limit: nothing grew.
///
/// # Errors
/// `result` lacks a number, so its limit cannot be checked.
pub fn any_crossed(limits: &[Limit], result: &impl Serialize, none_is_fine: bool) -> Result<bool> {
    if limits.is_empty() {
        return Ok(false);
    }
    let result = serde_json::to_value(result).unwrap_or_default();
    let mut lines = Vec::new();
    for limit in limits {
        lines.extend(limit.crossed(&result, none_is_fine)?);
    }
    // Ignore a closed standard error: the exit code has the result.
    for line in &lines {
        drop(writeln!(io::stderr(), "slotscope: {line}"));
    }
    Ok(!lines.is_empty())
}

/// All numbers matching a path, with their locations; `None` if something else is there.
fn collect(path: &[Step], value: &Value, place: String, numbers: &mut Vec<(String, Option<f64>)>) {
    let Some((step, rest)) = path.split_first() else {
        let number = value.as_f64().or_else(|| rank(value.as_str()?));
        numbers.push((place, number));
        return;
    };
    match (step, value) {
        (Step::Name(name), Value::Object(members)) => {
            let place = if place.is_empty() {
                name.clone()
            } else {
                format!("{place}.{name}")
            };
            collect(
                rest,
                members.get(name).unwrap_or(&Value::Null),
                place,
                numbers,
            );
        }
        (Step::Index(index), Value::Array(rows)) => {
            collect(
                rest,
                rows.get(*index).unwrap_or(&Value::Null),
                format!("{place}[{index}]"),
                numbers,
            );
        }
        (Step::Any, Value::Array(rows)) => {
            rows.iter()
                .enumerate()
                .for_each(|(i, row)| collect(rest, row, format!("{place}[{i}]"), numbers));
        }
        _ => numbers.push((place, None)),
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        steps.push(Step::Name(name.to_owned()));
        while !rest.is_empty() {
            let (index, behind) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(match index.trim() {
                "*" => Step::Any,
                index => Step::Index(index.parse().ok()?),
            });
            rest = behind;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        let object = |properties: Value| json!({"type": "object", "properties": properties});
        let list = |items: Value| json!({"type": "array", "items": items});
        let node = object(json!({"id": {"type": "string"}, "keys": {"type": "integer"}}));
        let balance = object(json!({"max_over_mean": {"type": ["number", "null"]}}));
        let nodes = object(json!({"list": list(node), "keys": {"$ref": "#/$defs/Balance"}}));
        let slots = object(json!({"keys": list(json!({"type": "integer"}))}));
        let slots = json!({"anyOf": [slots, {"type": "null"}]});
        let mut root = object(json!({"nodes": nodes, "slots": slots}));
        root["$defs"] = json!({"Balance": balance});
        root
    }

    fn parse(text: &str) -> std::result::Result<Limit, String> {
        Limit::parse(text, &schema()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_number_that_a_path_matches_is_checked() {
        let report =
            json!({"nodes": {"list": [{"keys": 5}, {"keys": 9}], "keys": {"max_over_mean": null}}});
        let crossed = |text| {
            parse(text)
                .unwrap()
                .crossed(&report, false)
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            crossed("nodes.list[*].keys > 6").unwrap(),
            ["--fail-on nodes.list[*].keys > 6: nodes.list[1].keys is 9"]
        );
        assert_eq!(crossed("nodes.list[0].keys<=5").unwrap().len(), 1);
        assert_eq!(crossed("nodes.list[1].keys != 9").unwrap().len(), 0);
        assert!(
            crossed("nodes.list[7].keys > 1")
                .unwrap_err()
                .contains("no such number")
        );
        assert!(
            crossed("nodes.keys.max_over_mean > 1.2")
                .unwrap_err()
                .contains("no such number")
        );
        assert!(crossed("slots.keys[3] >= 0").is_err());
    }

    #[test]
    fn an_invalid_limit_is_an_error_that_names_the_way_out() {
        for (text, part) in [
            ("nodes.keys.max_over_mean", "no comparison"),
            (
                "nodes.keys.max_over_mean > x",
                "neither a number nor a state after >",
            ),
            (
                "nodes.keys.max_over_mean > NaN",
                "neither a number nor a state after >",
            ),
            ("> 1", "no path"),
            ("nodes.kys.max > 1", "nodes has no \"kys\"; it has: keys,"),
            (
                "nodes.list.keys > 1",
                "nodes.list is a list; say which of it, as in nodes.list[*]",
            ),
            ("nodes.list[*].id > 1", "is not a number"),
            ("nodes.keys > 1", "nodes.keys has parts: max_over_mean"),
            ("slots.keys > 1", "slots.keys is a list"),
            ("slots.keys[0].x > 1", "slots.keys[*] is a number"),
            ("nodes[0] > 1", "nodes has parts: "),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
