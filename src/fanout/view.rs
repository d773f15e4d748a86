//! The fan-out of batches as sections: how far they reach, what the cluster refuses, the tail, the worst kinds.

use slotscope_engine::text::{counted, grouped, list, percent};
use slotscope_findings::summary::quantiles::Quantiles;
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Block, Cell, Column, Section, Table, remarks};

use crate::fanout::FanoutFindings;
use crate::fanout::outcome::BatchOutcome;
use crate::fanout::trial::NoSuggestion;

/// Rows of the tail that are shown: the others are of hardly any batch.
const TAIL_ROWS: usize = 8;

/// Unknown commands that are named.
const UNKNOWN: usize = 8;

/// The sections of all findings; suggestions are those for the first `rows` kinds.
pub(crate) fn sections(findings: &FanoutFindings, rows: usize) -> Vec<Section<'_>> {
    let mut sections = vec![
        Section::untitled()
            .paragraph(summary(findings))
            .with_all(remarks::incomplete(&findings.incomplete)),
        outcomes(findings),
        reach(findings),
        tail(findings),
    ];
    if !findings.worst.is_empty() {
        sections.push(worst(findings));
        sections.push(suggestions(findings, rows));
    }
    sections.push(remarks::section(last_remarks(findings)));
    sections
}

fn summary(findings: &FanoutFindings) -> String {
    let FanoutFindings {
        batches,
        keys,
        crossslot,
        ..
    } = *findings;
    if batches == 0 {
        return String::from("No batch has a key: nothing to judge.");
    }
    let refused = match crossslot {
        0 => String::new(),
        refused => format!(
            ": {} ({}) are refused because their keys are in several slots, and a client has to scatter and gather them",
            grouped(refused),
            percent(refused as f64 / batches as f64),
        ),
    };
    format!(
        "{} batch{} of {} on the nodes of {}{refused}.",
        grouped(batches),
        if batches == 1 { "" } else { "es" },
        counted(keys, "key"),
        findings.nodes,
    )
}

fn outcomes(findings: &FanoutFindings) -> Section<'_> {
    let outcomes = findings.answers.iter().filter(|of| of.batches > 0);
    let table = Table::of(outcomes)
        .column(Column::words("").flexible(), |of| {
            Cell::text(words(of.answer))
        })
        .column(Column::number("batches"), |of| Cell::count(of.batches))
        .column(Column::number("share"), |of| Cell::share(of.share))
        .build();
    Section::titled("What the cluster answers").table(table)
}

fn reach(findings: &FanoutFindings) -> Section<'_> {
    let line = |of: &Quantiles, what: &str| {
        let [p50, p90, p99, max] = [of.p50, of.p90, of.p99, of.max].map(grouped);
        format!(
            "{what}: mean {:.2}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}",
            of.mean
        )
    };
    Section::titled("Reach of a batch")
        .line(line(&findings.slots_per_batch, "slots"))
        .line(line(&findings.nodes_per_batch, "nodes"))
}

fn tail(findings: &FanoutFindings) -> Section<'_> {
    let tail = &findings.tail;
    let (slow, all) = (percent(tail.slow), percent(tail.batches_slow));
    let table = Table::of(&tail.by_nodes)
        .column(Column::number("nodes"), |row| Cell::count(row.nodes))
        .column(Column::number("batches"), |row| Cell::count(row.batches))
        .column(Column::number("slow"), |row| Cell::share(row.slow))
        .build();
    Section::titled("Tail")
        .line(format!(
            "where one node is slow with probability {slow}, {all} of the batches are"
        ))
        .table(table.at_most(TAIL_ROWS))
}

fn worst(findings: &FanoutFindings) -> Section<'_> {
    let table = Table::of(&findings.worst)
        .column(Column::words("keys").flexible(), |kind| {
            Cell::name(&kind.pattern)
        })
        .column(Column::words("command"), |kind| {
            let command = kind.command.as_ref();
            Cell::of(command, |name| {
                Cell::text(name.replace('|', " ").to_uppercase())
            })
        })
        .column(Column::number("batches"), |kind| Cell::count(kind.batches))
        .column(Column::number("slots"), |kind| {
            Cell::ratio(kind.mean_slots, 1)
        })
        .column(Column::number("nodes"), |kind| {
            Cell::ratio(kind.mean_nodes, 1)
        })
        .column(Column::number("after").rank(Rank::Main), |kind| {
            let after = kind.suggestion.as_ref().map(|of| of.mean_slots_after);
            Cell::of(after, |after| Cell::ratio(after, 1))
        })
        .build();
    Section::titled("Kinds of batches that reach furthest").table(table)
}

fn suggestions(findings: &FanoutFindings, rows: usize) -> Section<'_> {
    let mut section = Section::untitled();
    for kind in findings.worst.iter().take(rows) {
        let Some(suggestion) = &kind.suggestion else {
            continue;
        };
        let (before, after) = (kind.mean_slots, suggestion.mean_slots_after);
        section = section.paragraph(format!(
            "{} -> {}  ({before:.1} slots to {after:.1})",
            kind.pattern, suggestion.retag
        ));
        for rule in &suggestion.rules {
            let command = format!("whatif --retag '{}'", rule.replace('\'', r"'\''"));
            section = section.with(Block::Command(command));
        }
    }
    let why_not = findings.worst.iter().filter_map(|kind| kind.no_suggestion);
    let mut why_not: Vec<&str> = why_not.map(reason).collect();
    why_not.sort_unstable();
    why_not.dedup();
    if why_not.is_empty() {
        return section;
    }
    section.paragraph(format!(
        "Where nothing is under \"after\", no tag is suggested: {}.",
        why_not.join("; or ")
    ))
}

fn reason(why_not: NoSuggestion) -> &'static str {
    match why_not {
        NoSuggestion::FewBatches => "fewer than 100 batches of the kind were seen",
        NoSuggestion::NoCommonId => "no id is common to the keys of a batch",
        NoSuggestion::Date => "the id that they have in common is a date, whose slot would be hot",
        NoSuggestion::FewValues => {
            "one value of the common id is in over 5% of the batches, and its slot would be hot"
        }
    }
}

fn last_remarks(findings: &FanoutFindings) -> Vec<Block<'static>> {
    let mut blocks: Vec<Block<'static>> = remarks::rejected("batch", &findings.rejected);
    let notes = [
        (
            findings.without_keys,
            "command",
            " without keys, which any node runs",
        ),
        (
            findings.of_scripts,
            "command",
            " of scripts, with the keys of the EVAL or FCALL before",
        ),
        (
            findings.discarded,
            "transaction",
            " with DISCARD at the end, not counted",
        ),
        (
            findings.torn_transactions,
            "transaction",
            " with the begin or the end outside of the input, not counted as such",
        ),
        (
            findings.torn_commands,
            "command",
            " cut off by the end of a file, as after a crash",
        ),
        (findings.blank_lines, "blank line", ""),
        (
            findings.other_shapes,
            "batch",
            " over several slots, of kinds that are not listed",
        ),
    ];
    let seen = notes.iter().filter(|(count, ..)| *count > 0);
    let mut notes: Vec<String> = seen
        .map(|(count, noun, rest)| counted(*count, noun) + rest)
        .collect();
    let passed_over = findings.passed_over.iter();
    notes.extend(
        passed_over.map(|input| format!("{} is passed over: {}", input.file, input.reason)),
    );
    blocks.extend(remarks::remarks(&unknown(findings), &notes));
    blocks
}

/// A warning of commands whose keys are not known.
fn unknown(findings: &FanoutFindings) -> Vec<String> {
    if findings.unknown == 0 {
        return Vec::new();
    }
    let names = findings.unknown_commands.iter();
    let names = names.map(|command| format!("{} {}", command.name, grouped(command.count)));
    vec![format!(
        "{} with an unknown name, not counted: {}",
        counted(findings.unknown, "command"),
        list(names, UNKNOWN)
    )]
}

fn words(outcome: BatchOutcome) -> &'static str {
    match outcome {
        BatchOutcome::Served => "served: all keys in one slot",
        BatchOutcome::Crossslot => "CROSSSLOT",
        BatchOutcome::CrossslotAtExec => "CROSSSLOT at EXEC",
        BatchOutcome::AbortedByCrossslot => "CROSSSLOT, then EXECABORT",
        BatchOutcome::AbortedByMoved => "MOVED, then EXECABORT",
        BatchOutcome::Unserved => "CLUSTERDOWN: no node owns the slot",
    }
}
