//! slotscope.toml: makes old names errors of `slotscope lint`, so that code does not fall back to them.

use slotscope_advisor::findings::{AdviseFindings, FamilyAdvice};

pub(super) fn text(findings: &AdviseFindings) -> String {
    let pairs = findings.families.iter().filter_map(rule);
    let rules: String = pairs
        .enumerate()
        .map(|(at, (pattern, fault))| {
            format!(
                "\n[[rule]]\nid = \"old-name-{}\"\nmust-not-match = {pattern}\nseverity = \"error\"\nwhat = {fault}\n",
                at + 1
            )
        })
        .collect();
    format!(
        "# Names without the recommended hash tags, as slotscope advise found them.\n\
         # slotscope lint --config slotscope.toml DUMP\n{rules}"
    )
}

/// Today's names of a family, and what to write instead.
fn rule(family: &FamilyAdvice) -> Option<(String, String)> {
    let (regex, _) = family.rule.as_ref()?.split_once(" => ")?;
    let becomes = family.becomes.as_ref()?;
    let fault = format!("are {}; write {becomes}", family.pattern);
    // Names are bytes, hence no Unicode mode.
    Some((quoted(&format!("(?-u){regex}")), quoted(&fault)))
}

/// A TOML string; its escapes are those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}
