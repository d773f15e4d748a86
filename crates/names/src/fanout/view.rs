//! The fan-out of batches as sections: reach, refusals, latency, and the worst kinds.

use slotscope_base::text::{counted, grouped, list, percent};
use slotscope_model::quantiles::Quantiles;
use slotscope_report::view::{Block, Cell, Column, Section, Table, remarks};

use crate::fanout::FanoutFindings;
use crate::fanout::latency::{Latency, WidestLatency};
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
    sections.extend(findings.latency.as_ref().map(latency));
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

fn latency(latency: &Latency) -> Section<'static> {
    let WidestLatency { nodes, batches, .. } = latency.widest;
    let [slow, all, most] = [
        latency.slow_replies,
        latency.slow_batches,
        latency.widest.slow_batches,
    ]
    .map(percent);
    let [needed, needed_by_most] =
        [latency.node_quantile, latency.widest.node_quantile].map(percentile);
    let within = percent(latency.within);
    let widest = match (batches, nodes) {
        (1, nodes) => format!("the batch over {}", counted(nodes, "node")),
        (_, nodes) => format!(
            "{} batches over {}",
            grouped(batches),
            counted(nodes, "node")
        ),
    };
    Section::titled(
        "Latency, if a client asks all nodes of a batch at once and these are slow independently",
    )
    .line(format!(
        "{all} of the batches meet one of the slowest {slow} of the replies of a node"
    ))
    .line(format!(
        "for {within} of the batches to meet a limit, each node has to meet it at its {needed}"
    ))
    .line(format!("{widest}, the most here: {most}, {needed_by_most}"))
}

/// A share as a percentile: `p99`, `p99.67`; with two digits of the rest to 100%, and never less than the share.
fn percentile(share: f64) -> String {
    let rest = (1.0 - share) * 100.0;
    let digits = (1.0 - rest.log10().floor()).clamp(0.0, 9.0) as i32;
    let scale = 10f64.powi(digits);
    // An error of rounding in binary must not round up.
    let percent = (share * 100.0 * scale - 1e-6).ceil() / scale;
    let written = format!("{percent:.0$}", digits as usize);
    let written = written.trim_end_matches('0').trim_end_matches('.');
    format!("p{written}")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_short_and_never_less_than_its_share() {
        for (share, expected) in [
            (0.99, "p99"),
            (0.99_f64.powf(0.5), "p99.5"),
            (0.99_f64.cbrt(), "p99.67"),
            (0.99_f64.powf(1.0 / 6.0), "p99.84"),
            (0.99_f64.powf(0.1), "p99.9"),
            (0.99_f64.powf(1.0 / 2000.0), "p99.9995"),
        ] {
            assert_eq!(percentile(share), expected, "{share}");
        }
    }
}
