//! The fan-out of batches on the terminal: how far they reach, what the cluster refuses, the tail, the worst kinds.

use std::io::{self, Write};

use super::page::Page;
use super::terminal::layout::Sheet;
use super::units::{counted, grouped, percent};
use crate::advice::fanout::answer::Answer;
use crate::advice::fanout::{Findings, TailRow};
use crate::metric::Metric;
use crate::summary::quantiles::Quantiles;

/// Rows of the tail that are shown: the others are of hardly any batch.
const TAIL_ROWS: usize = 8;

/// Writes it, `width` columns wide, with at most `rows` kinds of batches.
pub fn write(findings: &Findings, width: usize, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let text = Text { findings, page: Page::of(width), rows };
    text.summary(out)?;
    text.answers(out)?;
    text.reach(out)?;
    text.tail(out)?;
    text.worst(out)?;
    text.remarks(out)
}

struct Text<'a> {
    findings: &'a Findings,
    page: Page,
    rows: usize,
}

impl Text<'_> {
    fn summary(&self, out: &mut dyn Write) -> io::Result<()> {
        let Findings { batches, keys, crossslot, .. } = *self.findings;
        let text = match batches {
            0 => String::from("No batch has a key, so there is nothing to judge."),
            _ => format!(
                "{} of {} on the nodes of {}: {} ({}) are refused because their keys are in several slots, and a client \
                 has to scatter and gather them.",
                if batches == 1 { String::from("1 batch") } else { format!("{} batches", grouped(batches)) },
                counted(keys, "key"),
                self.findings.nodes,
                grouped(crossslot),
                percent(crossslot as f64 / batches as f64),
            ),
        };
        self.page.paragraph(out, &text)
    }

    fn answers(&self, out: &mut dyn Write) -> io::Result<()> {
        self.page.heading(out, "What the cluster answers")?;
        let mut answers =
            Sheet::new(self.page.width, &[("", false), ("batches", true), ("share", true)], 0, Metric::Keys);
        for answered in self.findings.answers.iter().filter(|answered| answered.batches > 0) {
            let cells = vec![words(answered.answer).into(), grouped(answered.batches), percent(answered.share)];
            answers.row(cells);
        }
        answers.print(out)
    }

    fn reach(&self, out: &mut dyn Write) -> io::Result<()> {
        self.page.heading(out, "Reach of a batch")?;
        let line = |of: &Quantiles, what: &str| {
            let [p50, p90, p99, max] = [of.p50, of.p90, of.p99, of.max].map(grouped);
            format!("{what}: mean {:.2}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}", of.mean)
        };
        self.page.line(out, &line(&self.findings.slots_per_batch, "slots"))?;
        self.page.line(out, &line(&self.findings.nodes_per_batch, "nodes"))
    }

    fn tail(&self, out: &mut dyn Write) -> io::Result<()> {
        let tail = &self.findings.tail;
        self.page.heading(out, "Tail")?;
        let (slow, all) = (percent(tail.slow), percent(tail.batches_slow));
        self.page.line(out, &format!("where one node is slow with probability {slow}, {all} of the batches are"))?;
        let mut rows =
            Sheet::new(self.page.width, &[("nodes", true), ("batches", true), ("slow", true)], 3, Metric::Keys);
        let cells = |tail: &TailRow| vec![grouped(tail.nodes), grouped(tail.batches), percent(tail.slow)];
        tail.by_nodes.iter().take(TAIL_ROWS).for_each(|tail| rows.row(cells(tail)));
        rows.print(out)?;
        self.more(out, tail.by_nodes.len().saturating_sub(TAIL_ROWS))
    }

    fn worst(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.findings.worst.is_empty() {
            return Ok(());
        }
        self.page.heading(out, "Kinds of batches that reach furthest")?;
        let columns =
            [("keys", false), ("command", false), ("batches", true), ("slots", true), ("nodes", true), ("after", true)];
        let mut kinds = Sheet::new(self.page.width, &columns, 0, Metric::Keys);
        for kind in self.findings.worst.iter().take(self.rows) {
            let after =
                kind.suggestion.as_ref().map_or(String::from("-"), |cure| format!("{:.1}", cure.mean_slots_after));
            let command = kind.command.map_or(String::from("-"), |name| name.replace('|', " ").to_uppercase());
            let means = [kind.mean_slots, kind.mean_nodes].map(|mean| format!("{mean:.1}"));
            let [slots, nodes] = means;
            kinds.row(vec![kind.pattern.to_string(), command, grouped(kind.batches), slots, nodes, after]);
        }
        kinds.print(out)?;
        self.more(out, self.findings.worst.len().saturating_sub(self.rows))?;
        self.cures(out)
    }

    fn cures(&self, out: &mut dyn Write) -> io::Result<()> {
        let shown = self.findings.worst.iter().take(self.rows);
        for (kind, cure) in shown.filter_map(|kind| Some((kind, kind.suggestion.as_ref()?))) {
            let (before, after) = (kind.mean_slots, cure.mean_slots_after);
            self.page
                .paragraph(out, &format!("{} -> {}  ({before:.1} slots to {after:.1})", kind.pattern, cure.retag))?;
            // On one line, however long: to be copied.
            let quoted = |rule: &String| rule.replace('\'', r"'\''");
            cure.rules.iter().try_for_each(|rule| writeln!(out, "  whatif --retag '{}'", quoted(rule)))?;
        }
        if self.findings.worst.iter().any(|kind| kind.suggestion.is_none()) {
            let text = "Where nothing stands under \"after\", no id is common to the keys of a batch: a tag of a mere word would \
                        bind all keys of that kind to one slot. Ask for them slot by slot.";
            self.page.paragraph(out, text)?;
        }
        Ok(())
    }

    fn remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        let findings = self.findings;
        self.page.incomplete(out, &findings.incomplete)?;
        self.page.rejected(out, "batch", &findings.rejected)?;
        let notes = [
            (findings.without_keys, "commands without keys, which any node runs"),
            (findings.discarded, "transactions that end with DISCARD, not counted"),
            (findings.blank_lines, "blank lines"),
            (findings.other_shapes, "batches over several slots of kinds beyond the first 1,000, not told apart"),
        ];
        let told = notes.iter().filter(|(count, _)| *count > 0);
        told.into_iter()
            .try_for_each(|(count, what)| self.page.paragraph(out, &format!("note: {what}: {}", grouped(*count))))
    }

    fn more(&self, out: &mut dyn Write, more: usize) -> io::Result<()> {
        match more {
            0 => Ok(()),
            more => self.page.line(out, &format!("... and {} more, in --json", grouped(more as u64))),
        }
    }
}

fn words(answer: Answer) -> &'static str {
    match answer {
        Answer::Served => "served: all keys in one slot",
        Answer::Crossslot => "CROSSSLOT",
        Answer::CrossslotAtExec => "CROSSSLOT at EXEC",
        Answer::AbortedByCrossslot => "CROSSSLOT, then EXECABORT",
        Answer::AbortedByMoved => "MOVED, then EXECABORT",
        Answer::Unserved => "CLUSTERDOWN: no node owns the slot",
    }
}
