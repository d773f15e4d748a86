//! A change on the terminal: the sentence, both sides beside each other, the heaviest tags afterwards.

use std::io::{self, Write};

use super::page::Page;
use super::terminal::layout::Sheet;
use super::units::short_id;
use super::units::{bytes, counted, grouped, percent};
use crate::advice::whatif::findings::{Amount, Findings, Side};
use crate::metric::Metric;

/// Writes it, `width` columns wide.
pub fn write(findings: &Findings, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let text = Text { findings, page: Page::of(width) };
    text.page.paragraph(out, &findings.sentence)?;
    text.sides(out)?;
    text.changes(out)?;
    text.tags(out)?;
    text.remarks(out)
}

struct Text<'a> {
    findings: &'a Findings,
    page: Page,
}

impl Text<'_> {
    fn sides(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let mut sides = Sheet::new(self.page.width, &[("", false), ("before", true), ("after", true)], 0, Metric::Keys);
        let mut add = |name: &str, cell: &dyn Fn(&Side) -> String| {
            sides.row(vec![name.into(), cell(&self.findings.before), cell(&self.findings.after)]);
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
        sides.print(out)?;
        self.page.paragraph(out, &format!("Before: {}", self.findings.before.skew.sentence))?;
        self.page.paragraph(out, &format!("After: {}", self.findings.after.skew.sentence))
    }

    fn changes(&self, out: &mut dyn Write) -> io::Result<()> {
        let findings = self.findings;
        self.page.heading(out, "What changes")?;
        let amount = |of: Amount| {
            let size = of.bytes.map_or(String::new(), |size| format!(" ({})", bytes(size)));
            format!("{}{size}", counted(of.keys, "key"))
        };
        self.page.line(out, &format!("another slot: {}", amount(findings.moved)))?;
        self.page.line(out, &format!("another node: {}", amount(findings.changed_node)))?;
        self.page.line(out, &format!("another name: {}", counted(findings.renamed, "key")))?;
        let of = match findings.parted.exact {
            true => format!("of {}", counted(findings.parted.tags, "tag")),
            false => format!(
                "estimated: {} of a sample of {}",
                grouped(findings.parted.parted),
                grouped(findings.parted.tags)
            ),
        };
        self.page.line(out, &format!("tags whose keys part company: {} ({of})", grouped(findings.parted_tags)))
    }

    fn tags(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.findings.top_tags.is_empty() {
            return self.page.paragraph(out, "Afterwards no key has a hash tag.");
        }
        self.page.heading(out, "The heaviest hash tags afterwards")?;
        let columns =
            [("tag", false), ("slot", true), ("node", false), (self.findings.by.name(), true), ("share", true)];
        let mut tags = Sheet::new(self.page.width, &columns, 0, Metric::Keys);
        for tag in &self.findings.top_tags {
            let node = tag.node.as_ref().map_or(String::from("nobody's"), short_id);
            let load = tag.load.get(self.findings.by).copied().unwrap_or(0);
            let load = if self.findings.by == Metric::Bytes { bytes(load) } else { grouped(load) };
            tags.row(vec![format!("{{{}}}", tag.tag), tag.slot.to_string(), node, load, percent(tag.share)]);
        }
        tags.print(out)
    }

    fn remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        let Findings { input, unplaced, .. } = self.findings;
        self.page.incomplete(out, &input.incomplete)?;
        if unplaced.keys > 0 {
            let text = "warning: keys that the new policy gives no slot, left out of what is after";
            self.page.paragraph(out, &format!("{text}: {}", grouped(unplaced.keys)))?;
        }
        self.page.rejected(out, "key", &input.rejected)?;
        let warnings = input.warnings.iter().map(|text| format!("warning: {text}"));
        let notes = input.notes.iter().map(|text| format!("note: {text}"));
        warnings.chain(notes).try_for_each(|text| self.page.paragraph(out, &text))
    }
}
