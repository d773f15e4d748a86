//! Parts of pages that are made from the program, between two comments. `BLESS=1 cargo test --test it manual::`
//! rewrites them.

use serde_json::Value;
use testkit::files::{committed, same_bytes, text_of};

use crate::manual::page;

/// Compares the part `what` of a page with what the program says.
pub(crate) fn check(name: &str, what: &str, made: &str) {
    let (from, to) = (
        format!("<!-- {what} -->\n"),
        format!("<!-- end of {what} -->"),
    );
    let now = page(name);
    let (before, rest) = now.split_once(&from).expect("a mark where it begins");
    let (_, after) = rest.split_once(&to).expect("a mark where it ends");
    let now = format!("{before}{from}\n{}\n\n{to}{after}", made.trim_end());
    committed(&format!("docs/{name}"), now.as_bytes(), same_bytes);
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
    check("commands/analyze.md", "files", &table("file", rows));
}

#[test]
fn the_findings_in_the_manual_are_those_of_the_schema() {
    let schema: Value = serde_json::from_str(&text_of("docs/schema/report.json")).unwrap();
    let kinds = schema["$defs"]["FindingKind"]["oneOf"].as_array().unwrap();
    let rows = kinds.iter().map(|kind| {
        let text = |name: &str| kind[name].as_str().unwrap();
        (text("const").into(), text("description").into())
    });
    check("verdict.md", "findings", &table("finding", rows));
}
