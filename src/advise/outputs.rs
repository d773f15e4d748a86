//! What `slotscope advise --out` writes: the advice, and what carries it out.

use std::io::{self, Write};

use slotscope_findings::advise::findings::{Advice, AdviseFindings, SchemeScore};
use slotscope_report::charts::schemes::{self, SchemePoint};
use slotscope_report::charts::{self, Sheet};
use slotscope_report::json;
use slotscope_report::output::{OutputSet, Written};

use crate::advise::{code, lint_config, view, whatif_script};

/// The files.
pub(crate) fn outputs() -> OutputSet<AdviseFindings> {
    OutputSet::marked("\"schema\":\"slotscope.advise/")
        .file("advise.json", |findings, out| {
            json::write_object(findings, out)
        })
        .maybe("schemes.png", |findings, out| {
            charts::write(chart(findings), out)
        })
        .maybe("whatif.sh", |findings, out| {
            if_rules(findings, out, whatif_script::text)
        })
        .maybe("slotscope.toml", |findings, out| {
            if_rules(findings, out, lint_config::text)
        })
        .maybe("code.txt", |findings, out| {
            if_rules(findings, out, code::text)
        })
}

/// The schemes; none where batches of several keys are missing, which are one of its axes.
fn chart(findings: &AdviseFindings) -> Option<Sheet<'static>> {
    let point = |scheme: &SchemeScore| {
        Some(SchemePoint {
            name: view::scheme_name(scheme),
            single_slot_share: scheme.single_slot_share?,
            max_over_mean: scheme.max_over_mean.n,
            max_over_mean_2n: scheme.max_over_mean.twice,
        })
    };
    let points: Vec<SchemePoint> = findings.schemes.iter().map(point).collect::<Option<_>>()?;
    let (title, subtitle) = (view::chart_title(findings), view::counted_input(findings));
    (points.len() > 1).then(|| schemes::sheet(title, subtitle, findings.nodes, points))
}

/// A text about the rules, where names change.
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
