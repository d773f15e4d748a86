//! A change on the terminal: the sentence, both sides beside each other, the heaviest tags afterwards.

use std::io::{self, Write};

use anstyle::Style;

use super::terminal::layout::{print, row, short_id, table, wrapped};
use super::units::{bytes, counted, grouped, percent};
use crate::advice::whatif::findings::{Amount, Findings, Side};
use crate::metric::Metric;

/// Writes it, `width` columns wide.
pub fn write(findings: &Findings, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let width = width.clamp(40, 120);
    let page = Page { findings, width };
    page.paragraph(out, &findings.sentence)?;
    page.sides(out)?;
    page.changes(out)?;
    page.tags(out)?;
    page.remarks(out)
}

struct Page<'a> {
    findings: &'a Findings,
    width: usize,
}

impl Page<'_> {
    fn sides(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let mut sides = table(self.width, &[("", false), ("before", true), ("after", true)], 0);
        let mut add = |name: &str, cell: &dyn Fn(&Side) -> String| {
            row(&mut sides, vec![name.into(), cell(&self.findings.before), cell(&self.findings.after)]);
        };
        let ratio = |value: Option<f64>| value.map_or(String::from("-"), |value| format!("{value:.3}"));
        add("verdict", &|side| format!("{:?}", side.skew.verdict).to_lowercase());
        add("nodes", &|side| side.source.to_string());
        add("hash policy", &|side| side.policy.to_string());
        add("nodes: max/mean", &|side| ratio(side.nodes.max_over_mean));
        add("nodes: CV", &|side| ratio(side.nodes.cv));
        add("nodes: Gini", &|side| ratio(side.nodes.gini));
        add("nodes: Jain", &|side| ratio(side.nodes.jain));
        add("usable capacity", &|side| side.skew.usable_capacity.map_or(String::from("-"), percent));
        add("floor of max/mean", &|side| ratio(side.skew.floor));
        add("slots: max/mean", &|side| ratio(side.slots.max_over_mean));
        add("slots: CV", &|side| ratio(side.slots.cv));
        add("slots: Gini", &|side| ratio(side.slots.gini));
        add("slots: empty", &|side| grouped(side.slots.empty as u64));
        add("independent units", &|side| side.skew.n_eff.map_or(String::from("-"), |units| grouped(units as u64)));
        print(out, sides)?;
        self.paragraph(out, &format!("Before: {}", self.findings.before.skew.sentence))?;
        self.paragraph(out, &format!("After: {}", self.findings.after.skew.sentence))
    }

    fn changes(&self, out: &mut dyn Write) -> io::Result<()> {
        let findings = self.findings;
        self.heading(out, "What changes")?;
        let amount = |of: Amount| {
            let size = of.bytes.map_or(String::new(), |size| format!(" ({})", bytes(size)));
            format!("{}{size}", counted(of.keys, "key"))
        };
        self.line(out, &format!("another slot: {}", amount(findings.moved)))?;
        self.line(out, &format!("another node: {}", amount(findings.changed_node)))?;
        self.line(out, &format!("another name: {}", counted(findings.renamed, "key")))?;
        let of = match findings.parted.exact {
            true => format!("of {}", counted(findings.parted.tags, "tag")),
            false => format!(
                "estimated: {} of a sample of {}",
                grouped(findings.parted.parted),
                grouped(findings.parted.tags)
            ),
        };
        self.line(out, &format!("tags whose keys part company: {} ({of})", grouped(findings.parted_tags)))
    }

    fn tags(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.findings.top_tags.is_empty() {
            return self.paragraph(out, "Afterwards no key has a hash tag.");
        }
        self.heading(out, "The heaviest hash tags afterwards")?;
        let columns =
            [("tag", false), ("slot", true), ("node", false), (self.findings.by.name(), true), ("share", true)];
        let mut tags = table(self.width, &columns, 0);
        for tag in &self.findings.top_tags {
            let node = tag.node.as_ref().map_or(String::from("nobody's"), short_id);
            let load = tag.load.get(self.findings.by).copied().unwrap_or(0);
            let load = if self.findings.by == Metric::Bytes { bytes(load) } else { grouped(load) };
            row(&mut tags, vec![format!("{{{}}}", tag.tag), tag.slot.to_string(), node, load, percent(tag.share)]);
        }
        print(out, tags)
    }

    fn remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        let Findings { input, unplaced, .. } = self.findings;
        for stop in &input.incomplete {
            let text = format!("incomplete: {}: byte {}: {}", stop.file, grouped(stop.byte), stop.reason);
            self.paragraph(out, &text)?;
        }
        if unplaced.keys > 0 {
            let text = "warning: keys that the new policy gives no slot, left out of what is after";
            self.paragraph(out, &format!("{text}: {}", grouped(unplaced.keys)))?;
        }
        if input.rejected.count > 0 {
            self.paragraph(out, &format!("warning: rows that are no keys: {}", grouped(input.rejected.count)))?;
            for line in &input.rejected.first {
                let place = line.line.map_or(format!("byte {}", line.byte), |number| format!("line {number}"));
                self.line(out, &format!("{}: {place}: {}", line.file, line.reason))?;
            }
        }
        let warnings = input.warnings.iter().map(|text| format!("warning: {text}"));
        let notes = input.notes.iter().map(|text| format!("note: {text}"));
        warnings.chain(notes).try_for_each(|text| self.paragraph(out, &text))
    }

    fn heading(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        let style = Style::new().bold();
        writeln!(out, "\n{style}{text}{style:#}")
    }

    fn paragraph(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out)?;
        wrapped(text, self.width).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn line(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        wrapped(text, self.width - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))
    }
}
