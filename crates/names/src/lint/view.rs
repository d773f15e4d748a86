//! Findings as sections: a count, then for each what is wrong, with a few example keys.

use slotscope_base::text::{counted, grouped, percent, truncated};
use slotscope_report::view::{Section, remarks};

use crate::lint::{Counted, Finding, LintFindings, Severity};

/// Characters of an example shown.
const EXAMPLE: usize = 72;

pub(crate) fn sections(findings: &LintFindings) -> Vec<Section<'static>> {
    let kinds = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Info, "note"),
    ];
    let [errors, warnings, notes] =
        kinds.map(|(severity, noun)| counted(findings.of_severity(severity) as u64, noun));
    let keys = counted(findings.keys, "key");
    let mut first =
        Section::untitled().paragraph(format!("{errors}, {warnings}, {notes} on {keys}"));
    if findings.allowed > 0 {
        let allowed = counted(findings.allowed, "key");
        first = first.paragraph(format!("passed over by the allow list: {allowed}"));
    }
    let mut sections = vec![first];
    sections.extend(
        findings
            .findings
            .iter()
            .map(|finding| section(finding, findings.keys)),
    );
    if !findings.findings.is_empty() {
        sections.push(Section::untitled().paragraph(format!(
            "`{}` lists the rules; slotscope.toml changes them",
            findings.help
        )));
    }
    sections.push(remarks::section(remarks::rejected(
        "a key",
        &findings.rejected,
    )));
    sections
}

fn section(finding: &Finding, keys: u64) -> Section<'static> {
    let how = match finding.counted {
        Counted::Exactly => "",
        Counted::AtLeast => "at least ",
        Counted::AtMost => "at most ",
    };
    let title = format!(
        "{}  {}: {how}{} of {} keys ({}) {}",
        finding.severity.name(),
        finding.rule,
        grouped(finding.count),
        grouped(keys),
        percent(finding.share),
        finding.what
    );
    let examples = finding
        .examples
        .iter()
        .map(|example| truncated(example, EXAMPLE));
    examples.fold(Section::titled(title), |section, example| {
        section.line(example)
    })
}
