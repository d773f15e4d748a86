//! The fan-out of batches as sections: how far they reach, what the cluster refuses, the tail, the worst kinds.

use crate::fanout::FanoutFindings;
use crate::fanout::outcome::BatchOutcome;
use crate::report::view::table::Rank;
use crate::report::view::{Block, Cell, Column, Section, Table, remarks};
use crate::summary::quantiles::Quantiles;
use crate::text::{counted, grouped, percent};

/// Rows of the tail that are shown: the others are of hardly any batch.
const TAIL_ROWS: usize = 8;

/// The sections of all findings; suggestions are those for the first `rows` kinds.
pub fn sections(findings: &FanoutFindings, rows: usize) -> Vec<Section<'_>> {
    let mut sections = vec![
        Section::untitled().paragraph(summary(findings)),
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
        return String::from("No batch has a key, so there is nothing to judge.");
    }
    format!(
        "{} batch{} of {} on the nodes of {}: {} ({}) are refused because their keys are in several slots, and a client \
         has to scatter and gather them.",
        grouped(batches),
        if batches == 1 { "" } else { "es" },
        counted(keys, "key"),
        findings.nodes,
        grouped(crossslot),
        percent(crossslot as f64 / batches as f64),
    )
}

fn outcomes(findings: &FanoutFindings) -> Section<'_> {
    let columns = vec![
        Column::words("").flexible(),
        Column::number("batches"),
        Column::number("share"),
    ];
    let outcomes = findings.answers.iter().filter(|of| of.batches > 0);
    let rows = outcomes.map(|of| {
        vec![
            Cell::text(words(of.answer)),
            Cell::count(of.batches),
            Cell::share(of.share),
        ]
    });
    Section::titled("What the cluster answers").table(Table::new(columns, rows))
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
    let columns = ["nodes", "batches", "slow"].map(Column::number).to_vec();
    let rows = tail.by_nodes.iter().map(|row| {
        vec![
            Cell::count(row.nodes),
            Cell::count(row.batches),
            Cell::share(row.slow),
        ]
    });
    Section::titled("Tail")
        .line(format!(
            "where one node is slow with probability {slow}, {all} of the batches are"
        ))
        .table(Table::new(columns, rows).at_most(TAIL_ROWS))
}

fn worst(findings: &FanoutFindings) -> Section<'_> {
    let columns = vec![
        Column::words("keys").flexible(),
        Column::words("command"),
        Column::number("batches"),
        Column::number("slots"),
        Column::number("nodes"),
        Column::number("after").rank(Rank::Main),
    ];
    let rows = findings.worst.iter().map(|kind| {
        let after = kind.suggestion.as_ref().map(|of| of.mean_slots_after);
        let command = kind
            .command
            .map(|name| name.replace('|', " ").to_uppercase());
        vec![
            Cell::name(&kind.pattern),
            Cell::of(command, Cell::text),
            Cell::count(kind.batches),
            Cell::ratio(kind.mean_slots, 1),
            Cell::ratio(kind.mean_nodes, 1),
            Cell::of(after, |after| Cell::ratio(after, 1)),
        ]
    });
    Section::titled("Kinds of batches that reach furthest").table(Table::new(columns, rows))
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
    match findings.worst.iter().any(|kind| kind.suggestion.is_none()) {
        true => section.paragraph(
            "Where nothing is under \"after\", no id is common to the keys of a batch: a tag of a mere word would \
             bind all keys of that kind to one slot. Ask for them slot by slot.",
        ),
        false => section,
    }
}

fn last_remarks(findings: &FanoutFindings) -> Vec<Block<'static>> {
    let mut blocks: Vec<Block<'static>> = remarks::incomplete(&findings.incomplete).collect();
    blocks.extend(remarks::rejected("batch", &findings.rejected));
    let notes = [
        (
            findings.without_keys,
            "commands without keys, which any node runs",
        ),
        (
            findings.discarded,
            "transactions that end with DISCARD, not counted",
        ),
        (findings.blank_lines, "blank lines"),
        (
            findings.other_shapes,
            "batches over several slots of kinds beyond the first 1,000, not told apart",
        ),
    ];
    let counted = notes.iter().filter(|(count, _)| *count > 0);
    let notes: Vec<String> = counted
        .map(|(count, what)| format!("{what}: {}", grouped(*count)))
        .collect();
    blocks.extend(remarks::remarks(&[] as &[String], &notes));
    blocks
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
