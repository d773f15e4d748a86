//! The output files of `slotscope advise --out`: the advice, and scripts to apply it.

use std::io::{self, Write};

use slotscope_advisor::findings::{Advice, AdviseFindings};
use slotscope_report::json;
use slotscope_report::output::{OutputSet, Written};

use crate::advise::{lint_config, whatif_script};

/// The files.
pub(crate) fn outputs() -> OutputSet<AdviseFindings> {
    OutputSet::marked("\"schema\":\"slotscope.advise/")
        .file("advise.json", |findings, out| {
            json::write_object(findings, out)
        })
        .maybe("whatif.sh", |findings, out| {
            if_rules(findings, out, whatif_script::text)
        })
        .maybe("slotscope.toml", |findings, out| {
            if_rules(findings, out, lint_config::text)
        })
}

/// A text about the rules, if names change.
fn if_rules(
    findings: &AdviseFindings,
    out: &mut dyn Write,
    text: fn(&AdviseFindings) -> String,
) -> io::Result<Written> {
    if findings.advice == Advice::Keep || findings.rules.is_empty() {
        return Ok(Written::Nothing);
    }
    out.write_all(text(findings).as_bytes())?;
    Ok(Written::Whole)
}
