//! `lint`: keys that follow the convention have no finding, keys that break it have one, and the findings do not depend
//! on the number of threads.

mod configuration;
mod inputs;
mod rules;

use std::process::Output;

use testkit::prelude::*;

fn lint(scratch: &Scratch, keys: &[u8], args: &[&str]) -> Output {
    scratch.file("dump.keys", keys);
    scratch.run(&[&["lint", "dump.keys"], args].concat())
}

/// The findings for `keys`.
fn findings(scratch: &Scratch, keys: &[u8]) -> Vec<Value> {
    let said = lint(scratch, keys, &["--json", "--format", "lines"]);
    let json: Value = serde_json::from_str(stdout(&said))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&said)));
    assert_eq!(json["schema"], "slotscope.lint/1");
    let findings = json["findings"].list().clone();
    let has_error = findings
        .iter()
        .any(|finding| finding["severity"] == "error");
    assert_eq!(code(&said), i32::from(has_error), "{}", stderr(&said));
    findings
}

fn found<'a>(findings: &'a [Value], rule: &str) -> &'a Value {
    findings
        .iter()
        .find(|finding| finding["rule"] == rule)
        .unwrap_or_else(|| panic!("no {rule} in {findings:?}"))
}
