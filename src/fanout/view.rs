//! The fan-out of batches as sections: reach, refusals, and the worst kinds.

use slotscope_engine::text::{counted, grouped, list, percent};
use slotscope_model::quantiles::Quantiles;
use slotscope_report::view::{Block, Cell, Column, Section, Table, remarks};

use crate::fanout::FanoutFindings;
use crate::fanout::outcome::BatchOutcome;

/// Maximum unknown commands named.
const UNKNOWN: usize = 8;

/// The sections of all findings; `advise` is the command that suggests tags for the same inputs.
pub(crate) fn sections<'f>(findings: &'f FanoutFindings, advise: Option<&str>) -> Vec<Section<'f>> {
    let mut sections = vec![
        Section::untitled()
            .paragraph(summary(findings))
            .with_all(remarks::incomplete(&findings.incomplete)),
        outcomes(findings),
        reach(findings),
    ];
    if !findings.worst.is_empty() {
        sections.push(worst(findings));
    }
    sections.push(remarks::section(last_remarks(findings, advise)));
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
    let rows = findings.answers.iter().filter(|row| row.batches > 0);
    let table = Table::of(rows)
        .column(Column::words("").flexible(), |row| {
            Cell::text(words(row.answer))
        })
        .column(Column::number("batches"), |row| Cell::count(row.batches))
        .column(Column::number("share"), |row| Cell::share(row.share))
        .build();
    Section::titled("What the cluster answers").table(table)
}

fn reach(findings: &FanoutFindings) -> Section<'_> {
    let line = |reach: &Quantiles, noun: &str| {
        let [p50, p90, p99, max] = [reach.p50, reach.p90, reach.p99, reach.max].map(grouped);
        format!(
            "{noun}: mean {:.2}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}",
            reach.mean
        )
    };
    Section::titled("Reach of a batch")
        .line(line(&findings.slots_per_batch, "slots"))
        .line(line(&findings.nodes_per_batch, "nodes"))
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
        .build();
    Section::titled("Kinds of batches that reach furthest").table(table)
}

fn last_remarks(findings: &FanoutFindings, advise: Option<&str>) -> Vec<Block<'static>> {
    let mut blocks: Vec<Block<'static>> = remarks::rejected("a batch", &findings.rejected);
    let counts = [
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
    let seen = counts.iter().filter(|(count, ..)| *count > 0);
    let mut notes: Vec<String> = seen
        .map(|(count, noun, rest)| counted(*count, noun) + rest)
        .collect();
    let passed_over = findings.passed_over.iter();
    notes.extend(
        passed_over.map(|input| format!("{} is passed over: {}", input.file, input.reason)),
    );
    if findings.crossslot > 0 {
        notes.extend(advise.map(|command| format!("hash tags that keep keys together: {command}")));
    }
    let mut warnings = unknown(findings);
    warnings.extend(findings.refusals_unseen.then(|| {
        "MONITOR of a cluster shows no command that it refuses, as with CROSSSLOT: slotscope analyze URL --load 10s shows these"
            .into()
    }));
    blocks.extend(remarks::remarks(&warnings, &notes));
    blocks
}

/// A warning of commands whose keys are not known.
fn unknown(findings: &FanoutFindings) -> Vec<String> {
    if findings.unknown == 0 {
        return Vec::new();
    }
    let commands = findings.unknown_commands.iter();
    let names = commands.map(|command| format!("{} {}", command.name, grouped(command.count)));
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
        BatchOutcome::Unserved => "CLUSTERDOWN: no node owns the slot",
    }
}
