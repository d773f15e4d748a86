//! `--fail-on 'PATH OP NUMBER'`: limits on the numbers of a report, for cron and CI.
//!
//! A path is names joined by `.`, with `[i]` or `[*]` behind a list. Which paths there are is read off a report that has
//! all parts, so that a typing error is told before the work starts.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::name::Name;

/// A limit on numbers of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// As the user wrote it.
    text: String,
    path: Vec<Step>,
    op: Op,
    number: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Name(String),
    Index(usize),
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
    Above,
    AtLeast,
    Below,
    AtMost,
    Equal,
    Unequal,
}

/// Operators, the longer of two that begin alike first.
const OPS: [(&str, Op); 6] = [
    (">=", Op::AtLeast),
    ("<=", Op::AtMost),
    ("==", Op::Equal),
    ("!=", Op::Unequal),
    (">", Op::Above),
    ("<", Op::Below),
];

impl Op {
    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Op::Above => value > number,
            Op::AtLeast => value >= number,
            Op::Below => value < number,
            Op::AtMost => value <= number,
            Op::Equal => value == number,
            Op::Unequal => value != number,
        }
    }
}

impl Limit {
    /// Reads a limit and checks that `schema`, a report that has all parts, has its path.
    ///
    /// # Errors
    /// It cannot be read, or there is no such number.
    pub fn parse(text: &str, schema: &Value) -> Result<Limit> {
        let bad = |what: String| Error::bad(format!("--fail-on \"{}\"", Name::from(text)), what);
        let Some((at, (sign, op))) = OPS
            .iter()
            .filter_map(|op| Some((text.find(op.0)?, *op)))
            .min_by_key(|(at, op)| (*at, std::cmp::Reverse(op.0.len())))
        else {
            return Err(bad("has no comparison; write it as: nodes.keys.max_over_mean > 1.2".into()));
        };
        let (path, number) = (text[..at].trim(), text[at + sign.len()..].trim());
        let number = number.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| bad(format!("has no number behind {sign}")))?;
        let path =
            steps(path).ok_or_else(|| bad("has no path such as tags.top[0].share before the comparison".into()))?;
        let limit = Limit { text: text.trim().to_owned(), path, op, number };
        limit.check(schema).map_err(bad)?;
        Ok(limit)
    }

    /// The first name of the path.
    pub fn part(&self) -> &str {
        match self.path.first() {
            Some(Step::Name(name)) => name,
            _ => "",
        }
    }

    /// Whether a report with all parts has a number there.
    fn check(&self, schema: &Value) -> std::result::Result<(), String> {
        let mut here = schema;
        let mut before = String::from("a report");
        for step in &self.path {
            here = match (step, here) {
                (Step::Name(name), Value::Object(members)) => members.get(name).ok_or_else(|| {
                    let mut there: Vec<_> = members.keys().map(String::as_str).collect();
                    there.sort_by_key(|other| distance(name, other));
                    format!("{before} has no \"{}\"; it has: {}", Name::from(name.as_str()), there.join(", "))
                })?,
                (Step::Index(_) | Step::Any, Value::Array(rows)) => rows.first().unwrap_or(&Value::Null),
                (Step::Name(_), Value::Array(_)) => {
                    return Err(format!("{before} is a list; say which of it, as in {before}[*]"));
                }
                (Step::Name(_), _) => return Err(format!("{before} has no parts")),
                (_, _) => return Err(format!("{before} is no list")),
            };
            match step {
                Step::Name(name) if before == "a report" => before = name.clone(),
                Step::Name(name) => before = format!("{before}.{name}"),
                _ => before.push_str("[*]"),
            }
        }
        match here {
            Value::Number(_) | Value::Null => Ok(()),
            Value::Array(_) => Err(format!("{before} is a list; say which of it, as in {before}[*]")),
            Value::Object(members) => {
                let parts: Vec<_> = members.keys().map(String::as_str).collect();
                Err(format!("{before} has parts: {}", parts.join(", ")))
            }
            Value::String(_) | Value::Bool(_) => Err(format!("{before} is no number")),
        }
    }

    /// What crossed the limit in `report`: a line for each number, at most three.
    ///
    /// # Errors
    /// The report lacks what the limit is about: then nothing is known to be well.
    pub fn crossed(&self, report: &Value) -> Result<Vec<String>> {
        self.crossed_among(report, false)
    }

    /// As `crossed`, where a list without rows is good news: nothing grew, so nothing in it crossed a limit.
    ///
    /// # Errors
    /// As `crossed`.
    pub fn crossed_if_listed(&self, diff: &Value) -> Result<Vec<String>> {
        self.crossed_among(diff, true)
    }

    fn crossed_among(&self, report: &Value, none_is_fine: bool) -> Result<Vec<String>> {
        let mut found = Vec::new();
        collect(&self.path, report, String::new(), &mut found);
        if found.is_empty() && !none_is_fine || found.iter().any(|(_, value)| value.is_none()) {
            let what = "this report has no such number: there is nothing to compare".to_owned();
            return Err(Error::bad(format!("--fail-on {}", self.text), what));
        }
        let over = found.into_iter().filter_map(|(place, value)| Some((place, value?)));
        let over = over.filter(|(_, value)| self.op.holds(*value, self.number));
        Ok(over.take(3).map(|(place, value)| format!("--fail-on {}: {place} is {value}", self.text)).collect())
    }
}

/// All numbers that a path leads to, by their places; `None` where there is no number.
fn collect(path: &[Step], here: &Value, place: String, found: &mut Vec<(String, Option<f64>)>) {
    let Some((step, rest)) = path.split_first() else {
        found.push((place, here.as_f64()));
        return;
    };
    match (step, here) {
        (Step::Name(name), Value::Object(members)) => {
            let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            collect(rest, members.get(name).unwrap_or(&Value::Null), place, found);
        }
        (Step::Index(index), Value::Array(rows)) => {
            collect(rest, rows.get(*index).unwrap_or(&Value::Null), format!("{place}[{index}]"), found);
        }
        (Step::Any, Value::Array(rows)) => {
            rows.iter().enumerate().for_each(|(i, row)| collect(rest, row, format!("{place}[{i}]"), found));
        }
        _ => found.push((place, None)),
    }
}

fn steps(path: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
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

/// How many letters differ, to name the closest first (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let least = (row[j + 1] + 1).min(row[j] + 1).min(diagonal + usize::from(x != y));
            diagonal = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({"nodes": {"list": [{"id": "a", "keys": 1}], "keys": {"max_over_mean": 1.0}}, "slots": {"keys": [1]}})
    }

    fn parse(text: &str) -> std::result::Result<Limit, String> {
        Limit::parse(text, &schema()).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_are_held_against_every_number_that_the_path_leads_to() {
        let report = json!({"nodes": {"list": [{"keys": 5}, {"keys": 9}], "keys": {"max_over_mean": null}}});
        let crossed = |text| parse(text).unwrap().crossed(&report).map_err(|error| error.to_string());
        assert_eq!(
            crossed("nodes.list[*].keys > 6").unwrap(),
            ["--fail-on nodes.list[*].keys > 6: nodes.list[1].keys is 9"]
        );
        assert_eq!(crossed("nodes.list[0].keys<=5").unwrap().len(), 1);
        assert_eq!(crossed("nodes.list[1].keys != 9").unwrap().len(), 0);
        assert!(crossed("nodes.list[7].keys > 1").unwrap_err().contains("no such number"));
        assert!(crossed("nodes.keys.max_over_mean > 1.2").unwrap_err().contains("no such number"));
        assert!(crossed("slots.keys[3] >= 0").is_err());
    }

    #[test]
    fn what_cannot_be_a_limit_is_told_with_the_way_out() {
        for (text, part) in [
            ("nodes.keys.max_over_mean", "no comparison"),
            ("nodes.keys.max_over_mean > x", "no number behind >"),
            ("nodes.keys.max_over_mean > NaN", "no number behind >"),
            ("> 1", "no path"),
            ("nodes.kys.max > 1", "nodes has no \"kys\"; it has: keys,"),
            ("nodes.list.keys > 1", "nodes.list is a list; say which of it, as in nodes.list[*]"),
            ("nodes.list[*].id > 1", "is no number"),
            ("nodes.keys > 1", "nodes.keys has parts: max_over_mean"),
            ("slots.keys > 1", "slots.keys is a list"),
            ("slots.keys[0].x > 1", "has no parts"),
            ("nodes[0] > 1", "nodes is no list"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
