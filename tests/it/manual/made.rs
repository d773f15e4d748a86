//! Parts of pages that are made from the program, between two comments. `BLESS=1 cargo test --test it manual::`
//! rewrites them.

use serde_json::Value;
use testkit::files::{committed, same_bytes, text_of};

use crate::manual::page;

/// The page with `made` in its part `what`.
pub(crate) fn with(page: &str, what: &str, made: &str) -> String {
    let from = format!("<!-- {what} -->\n");
    let to = format!("<!-- end of {what} -->");
    let (before, rest) = page.split_once(&from).expect("a mark where it begins");
    let (_, after) = rest.split_once(&to).expect("a mark where it ends");
    format!("{before}{from}\n{}\n\n{to}{after}", made.trim_end())
}

/// The page with `rows` in place of its first lines that begin with `start`.
pub(crate) fn with_rows(page: &str, start: &str, rows: &str) -> String {
    let is_other = |line: &&str| !line.starts_with(start);
    let lines = page.split_inclusive('\n');
    let above = lines.clone().take_while(is_other);
    let below = lines
        .skip_while(is_other)
        .skip_while(|line| !is_other(line));
    above.chain([rows]).chain(below).collect()
}

/// Compares a page with the committed one.
pub(crate) fn check(name: &str, page: &str) {
    committed(&format!("docs/{name}"), page.as_bytes(), same_bytes);
}

/// A table of names and what they are.
fn table(head: &str, rows: impl Iterator<Item = (String, String)>) -> String {
    let rows: String = rows
        .map(|(name, about)| format!("| `{name}` | {about} |\n"))
        .collect();
    format!("| {head} | |\n|---|---|\n{rows}")
}

#[test]
fn the_files_in_the_manual_are_those_of_a_report() {
    let files = slotscope::report::files();
    let rows = files.map(|(name, about)| (name.into(), about.into()));
    let analyze = page("commands/analyze.md");
    let made = with(&analyze, "files", &table("file", rows));
    check("commands/analyze.md", &made);
}

#[test]
fn the_findings_in_the_manual_are_those_of_the_schema() {
    let schema: Value = serde_json::from_str(&text_of("docs/schema/report.json")).unwrap();
    let kinds = schema["$defs"]["FindingKind"]["oneOf"].as_array().unwrap();
    let rows = kinds.iter().map(|kind| {
        let text = |name: &str| kind[name].as_str().unwrap();
        (text("const").into(), text("description").into())
    });
    let made = with(&page("verdict.md"), "findings", &table("finding", rows));
    check("verdict.md", &made);
}
