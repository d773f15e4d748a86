//! The basis of the advice, and how to try it.

use slotscope_advisor::decision::Evidence;
use slotscope_advisor::findings::AdviseFindings;
use slotscope_engine::text::{bytes, counted, grouped, percent, shell_word};

use crate::view::{Block, Section};

/// The input of the advice.
fn counted_input(findings: &AdviseFindings) -> String {
    format!(
        "{} and {}; load is {}",
        counted(findings.keys, "name"),
        counted(findings.batches, "command"),
        findings.by.title()
    )
}

/// Notes on names and batches that were not seen, and how to continue.
pub(super) fn notes(findings: &AdviseFindings) -> Section<'_> {
    let mut section = Section::titled("What this rests on");
    for line in evidence(findings) {
        section = section.line(line);
    }
    if findings.rules.is_empty() {
        return section;
    }
    let mut section = section.paragraph("Try it on your dump, with the nodes that you have; both names live for a while when you rename:");
    for rule in &findings.rules {
        section = section.with(attempt(rule));
    }
    section
}

/// The command that tries a rule.
pub(super) fn attempt(rule: &str) -> Block<'static> {
    let rule = shell_word(rule);
    Block::Command(format!("slotscope whatif DUMP --retag {rule}"))
}

pub(super) fn evidence(findings: &AdviseFindings) -> Vec<String> {
    let mut lines = vec![counted_input(findings)];
    let best = findings.schemes.first();
    let mut add = |applies: bool, line: String| {
        if applies {
            lines.push(line);
        }
    };
    add(
        findings.evidence == Evidence::NamesAlone && findings.why.is_none(),
        String::from(
            "no commands: add --batches with a MONITOR capture before you rename anything",
        ),
    );
    add(
        findings.evidence != Evidence::NamesAlone,
        String::from(
            "the capture is what it saw: rare commands, scripts that build names and pipelines are not in it",
        ),
    );
    add(
        findings.names_sampled < 1.0,
        format!(
            "families are from {} of the names",
            percent(findings.names_sampled)
        ),
    );
    add(
        findings.first_bytes.is_some(),
        format!(
            "commands are those in the first {} of each capture; slotscope advise reads all",
            bytes(findings.first_bytes.unwrap_or(0))
        ),
    );
    add(
        findings.one_batch_of > 1,
        format!(
            "one of {} commands is counted, spread over the whole capture",
            grouped(findings.one_batch_of)
        ),
    );
    add(
        findings.families_unscored > 0,
        format!(
            "{} with the least load are left as they are",
            counted(findings.families_unscored as u64, "pattern")
        ),
    );
    add(
        findings.names_unmatched > 0,
        format!(
            "{} fit no pattern or are too long, and are left as they are",
            counted(findings.names_unmatched, "name")
        ),
    );
    add(
        findings.batches_uncounted > 0,
        format!(
            "{} of rare kinds count as not cured",
            counted(findings.batches_uncounted, "command")
        ),
    );
    add(
        findings.collided,
        String::from(
            "a scheme was left out: names of it exist already, maybe because they are half migrated",
        ),
    );
    add(
        findings.together_unmet > 0,
        String::from("no sound scheme meets --together"),
    );
    add(
        findings.rules_differ > 0,
        format!(
            "the rules below rename {} otherwise than the scheme: check them",
            counted(findings.rules_differ, "name")
        ),
    );
    if let Some(best) = best
        .filter(|best| findings.why.is_none() && best.heaviest_is_tag && best.heaviest_share > 0.0)
    {
        let of_node = best.heaviest_share * 2.0 * findings.nodes as f64;
        let growth = match 0.2 / of_node {
            times if times >= 1.5 => format!(": good until it is {times:.0} times that"),
            _ => String::new(),
        };
        lines.push(format!(
            "the heaviest tag, {{{}}}, is {} of the fair share of a node of {}{growth}",
            best.heaviest,
            percent(of_node),
            2 * findings.nodes,
        ));
    }
    lines
}
