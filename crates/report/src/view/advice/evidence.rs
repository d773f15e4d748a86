//! The basis of the advice, and how to try it.

use slotscope_advisor::decision::Evidence;
use slotscope_advisor::findings::AdviseFindings;
use slotscope_base::text::{counted, grouped, percent, shell_word};

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

fn evidence(findings: &AdviseFindings) -> Vec<String> {
    let has_commands = findings.evidence != Evidence::NamesAlone;
    let notes = [
        Some(counted_input(findings)),
        (!has_commands && findings.why.is_none()).then(|| {
            "no commands: add --batches with a MONITOR capture before you rename anything".into()
        }),
        has_commands.then(|| {
            "the capture is what it saw: rare commands, scripts that build names and pipelines are not in it".into()
        }),
        (findings.names_sampled < 1.0).then(|| {
            let share = percent(findings.names_sampled);
            format!("families are from {share} of the names")
        }),
        several(findings.one_batch_of)
            .map(|of| format!("one of {of} commands is counted, spread over the whole capture")),
        some(findings.families_unscored as u64, "pattern")
            .map(|patterns| format!("{patterns} with the least load are left as they are")),
        some(findings.names_unmatched, "name")
            .map(|names| format!("{names} fit no pattern or are too long, and are left as they are")),
        some(findings.batches_uncounted, "command")
            .map(|commands| format!("{commands} of rare kinds count as not cured")),
        findings.collided.then(|| {
            "a scheme was left out: names of it exist already, maybe because they are half migrated".into()
        }),
        (findings.together_unmet > 0).then(|| "no sound scheme meets --together".into()),
        some(findings.rules_differ, "name").map(|names| {
            format!("the rules below rename {names} otherwise than the scheme: check them")
        }),
        heaviest_tag(findings),
    ];
    notes.into_iter().flatten().collect()
}

/// A number above 1.
fn several(count: u64) -> Option<String> {
    (count > 1).then(|| grouped(count))
}

/// A count above 0 with its noun.
fn some(count: u64, noun: &str) -> Option<String> {
    (count > 0).then(|| counted(count, noun))
}

/// How long the heaviest tag fits a node.
fn heaviest_tag(findings: &AdviseFindings) -> Option<String> {
    let best = findings.schemes.first()?;
    if findings.why.is_some() || !best.heaviest_is_tag || best.heaviest_share <= 0.0 {
        return None;
    }
    let nodes = 2 * findings.nodes;
    let of_node = best.heaviest_share * nodes as f64;
    let growth = match 0.2 / of_node {
        times if times >= 1.5 => format!(": good until it is {times:.0} times that"),
        _ => String::new(),
    };
    Some(format!(
        "the heaviest tag, {{{}}}, is {} of the fair share of a node of {nodes}{growth}",
        best.heaviest,
        percent(of_node),
    ))
}
