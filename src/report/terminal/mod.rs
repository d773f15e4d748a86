//! The report on the terminal: the verdict first, then who is full, which slots are hot and which tags fill them.

pub(super) mod layout;
pub mod node_counts;
mod slot_map;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use layout::{Sheet, bar, bytes_of_mean, mean_text, wrapped};

use super::page;
use super::units::{bytes, counted, grouped, percent, short_id};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::summary::keys::{DatabaseKeys, TypeLoad};
use crate::summary::patterns::{Kind, Kinds};
use crate::summary::quantiles::Quantiles;
use crate::summary::tags::TagLoad;
use crate::summary::verdict::Verdict;
use crate::summary::{HotSlot, Summary};

/// The narrowest and the widest that tables are made for.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;
/// Cells of a bar where there is room, and what the columns beside it take.
const BAR: usize = 20;
const BESIDE_BAR: usize = 48;

/// Writes the report, `width` columns wide, with at most `rows` rows in a table. Colours are always in it; the stream
/// that it is written to takes them out where they are not wanted.
pub fn write(summary: &Summary, width: usize, rows: usize, out: &mut dyn Write) -> io::Result<()> {
    let width = width.clamp(*WIDTHS.start(), *WIDTHS.end());
    let page = Page { summary, width, rows };
    page.verdict(out)?;
    page.input(out)?;
    page.nodes(out)?;
    page.slot_map(out)?;
    page.hottest(out)?;
    page.tags(out)?;
    page.keys(out)?;
    page.patterns(out)?;
    page.capacity(out)?;
    page.spread(out)?;
    page.remarks(out)
}

/// The verdict in one coloured word, and its sentence.
fn verdict(verdict: Verdict, sentence: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let (word, color) = match verdict {
        Verdict::Empty => ("EMPTY", AnsiColor::Yellow),
        Verdict::Suspicious => ("SUSPICIOUS", AnsiColor::Magenta),
        Verdict::Balanced => ("BALANCED", AnsiColor::Green),
        Verdict::Tagged => ("TAGGED", AnsiColor::Cyan),
        Verdict::Placement => ("PLACEMENT", AnsiColor::Yellow),
        Verdict::Watch => ("WATCH", AnsiColor::Yellow),
        Verdict::Skewed => ("SKEWED", AnsiColor::Red),
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let text = format!("{word}  {sentence}");
    let lines = wrapped(&text, width);
    let (first, rest) = lines.split_first().expect("text has a line");
    writeln!(out, "{style}{word}{style:#}{}", &first[word.len()..])?;
    rest.iter().try_for_each(|line| writeln!(out, "{line}"))
}

struct Page<'a> {
    summary: &'a Summary,
    width: usize,
    rows: usize,
}

impl Page<'_> {
    fn verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let skew = &self.summary.skew;
        verdict(skew.verdict, &skew.sentence, self.width, out)
    }

    fn input(&self, out: &mut dyn Write) -> io::Result<()> {
        let input = &self.summary.input;
        let from = match input.files.as_slice() {
            [only] => only.name.to_string(),
            files => counted(files.len() as u64, "file"),
        };
        let taken = self.summary.slots.loads.keys.iter().filter(|keys| **keys > 0).count() as u64;
        self.paragraph(
            out,
            &format!(
                "{} in {} of 16,384 slots, from {from} ({})",
                counted(input.keys, "key"),
                grouped(taken),
                bytes(input.bytes_read)
            ),
        )
    }

    fn slot_map(&self, out: &mut dyn Write) -> io::Result<()> {
        let by = self.summary.skew.by;
        let Some(loads) = self.summary.slots.loads.get(by).filter(|loads| loads.iter().any(|load| *load > 0)) else {
            return Ok(());
        };
        self.heading(out, &format!("Slots by {}", by.name()))?;
        slot_map::write(loads, by, self.width, |load| self.amount_cell(by, load), out)
    }

    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let nodes = &self.summary.nodes;
        self.heading(out, &format!("Nodes ({})", nodes.source))?;
        let by = self.summary.skew.by;
        let balance = nodes.balance.get(by).unwrap_or(&nodes.balance.keys);
        let mut columns = vec![("node", false), ("slots", true)];
        columns.extend(self.metrics().map(|metric| (metric.name(), true)));
        columns.extend([("x fair", true), ("", false)]);
        let mut table = self.table(&columns, 0);
        let beside = BESIDE_BAR + 14 * self.metrics().count().saturating_sub(1);
        for node in nodes.list.iter().take(self.rows) {
            let load = node.load.get(by).copied().unwrap_or(0) as f64;
            let share = if balance.mean > 0.0 { format!("{:.3}", load / balance.mean) } else { String::from("-") };
            let name = match &node.address {
                Some(address) => format!("{} {address}", short_id(&node.id)),
                None => short_id(&node.id),
            };
            let bar = bar(load / balance.max.max(1) as f64, self.width.saturating_sub(beside).min(BAR));
            let mut cells = vec![name, grouped(u64::from(node.slots))];
            cells.extend(self.loads(&node.load));
            cells.extend([share, bar]);
            table.row(cells);
        }
        table.print(out)?;
        self.more(out, nodes.list.len())?;
        if nodes.unowned.load.keys > 0 {
            let share = percent(nodes.unowned.load.keys as f64 / self.summary.input.keys as f64);
            let (keys, slots) =
                (counted(nodes.unowned.load.keys, "key"), counted(u64::from(nodes.unowned.slots), "slot"));
            self.line(out, &format!("{keys} ({share}) are in the {slots} that no node owns"))?;
        }
        Ok(())
    }

    fn hottest(&self, out: &mut dyn Write) -> io::Result<()> {
        let slots = &self.summary.slots;
        let shown: Vec<_> = slots.hottest.iter().take(self.rows).collect();
        if shown.is_empty() {
            return Ok(());
        }
        let by = self.summary.skew.by;
        let mean = slots.stats.get(by).map_or(0.0, |stats| stats.mean);
        let mean = if by == Metric::Bytes { bytes_of_mean(mean) } else { mean_text(mean) };
        let unit = if by == Metric::Ops { " operations" } else { "" };
        self.heading(out, &format!("Hottest slots (the average holds {mean}{unit})"))?;
        let mut columns = vec![("slot", true), ("node", false)];
        columns.extend(self.metrics().map(|metric| (metric.name(), true)));
        columns.extend([("x mean", true), ("its tags", false)]);
        let last = columns.len() - 1;
        let mut table = self.table(&columns, last);
        for slot in shown {
            let mut cells = vec![slot.slot.to_string(), self.owner(slot.node.as_ref())];
            cells.extend(self.loads(&slot.load));
            cells.extend([format!("{:.2}", slot.over_mean), self.tags_of(slot)]);
            table.row(cells);
        }
        table.print(out)
    }

    fn tags(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(tags) = &self.summary.tags else { return Ok(()) };
        if tags.tagged_keys == 0 {
            return self.paragraph(out, "No key has a hash tag.");
        }
        let about = if tags.distinct_error > 0.0 { "about " } else { "" };
        let share = percent(tags.tagged_keys as f64 / self.summary.input.keys as f64);
        self.heading(out, &format!("Hash tags ({about}{} distinct, on {share} of the keys)", grouped(tags.distinct)))?;
        let mut columns = vec![("tag", false), ("slot", true), ("node", false)];
        columns.extend(self.metrics().map(|metric| (metric.name(), true)));
        columns.push(("share", true));
        let mut table = self.table(&columns, 0);
        for tag in tags.top.iter().take(self.rows) {
            let mut cells = vec![format!("{{{}}}", tag.tag), tag.slot.to_string(), self.owner(tag.node.as_ref())];
            cells.extend(self.loads(&tag.load));
            cells.push(percent(tag.share));
            table.row(cells);
        }
        table.print(out)?;
        self.more(out, tags.top.len())?;
        let by = self.summary.skew.by;
        let hidden = tags.top.get(self.rows).and_then(|tag| Some(tag.load.get(by)? + tag.error(by)));
        let hidden = hidden.unwrap_or(0).max(tags.max_error);
        if hidden > 0 {
            let about =
                if tags.exact { "Counts are exact" } else { "The input was read once: counts are at least these" };
            let most = self.amount(by, hidden);
            self.paragraph(out, &format!("{about}; a tag that is not shown holds at most {most}."))?;
        }
        Ok(())
    }

    fn keys(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some((keys, by)) = self.summary.keys.as_ref().and_then(|keys| Some((keys, keys.by?))) else {
            return Ok(());
        };
        let metrics = || self.metrics().filter(|metric| *metric != Metric::Keys);
        self.heading(out, &format!("Heaviest keys by {}", by.name()))?;
        let mut columns = vec![("key", false), ("slot", true), ("node", false)];
        columns.extend(metrics().map(|metric| (metric.name(), true)));
        columns.push(("share", true));
        let mut table = Sheet::new(self.width, &columns, 0, by);
        for key in keys.top.iter().take(self.rows) {
            let mut cells = vec![key.key.to_string(), key.slot.to_string(), self.owner(key.node.as_ref())];
            cells.extend(metrics().map(|metric| self.amount_cell(metric, key.weight(metric))));
            cells.push(percent(key.share));
            table.row(cells);
        }
        table.print(out)
    }

    fn patterns(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(patterns) = &self.summary.patterns {
            self.kinds_of_keys(out, "Patterns of keys", patterns, |row| (&row.pattern, &row.kind))?;
        }
        if let Some(prefixes) = &self.summary.prefixes {
            self.kinds_of_keys(out, "Prefixes", prefixes, |row| (&row.prefix, &row.kind))?;
        }
        Ok(())
    }

    fn kinds_of_keys<R>(
        &self,
        out: &mut dyn Write,
        title: &str,
        kinds: &Kinds<R>,
        parts: fn(&R) -> (&Name, &Kind),
    ) -> io::Result<()> {
        if kinds.top.is_empty() && kinds.exact {
            return Ok(());
        }
        self.heading(out, title)?;
        let mut columns = vec![("", false)];
        columns.extend(self.metrics().map(|metric| (metric.name(), true)));
        columns.extend([("share", true), ("tagged", true), ("in slots", true)]);
        let mut table = self.table(&columns, 0);
        for (name, kind) in kinds.top.iter().take(self.rows).map(parts) {
            let mut cells = vec![name.to_string()];
            cells.extend(self.loads(&kind.load));
            let slots = kind.slots.map_or(String::from("-"), grouped);
            cells.extend([percent(kind.share), percent(kind.tagged_share), slots]);
            table.row(cells);
        }
        if !kinds.top.is_empty() {
            table.print(out)?;
            self.more(out, kinds.top.len())?;
        }
        if !kinds.exact {
            let most = self.amount(self.summary.skew.by, kinds.max_error);
            let text = format!(
                "There are too many to count each: counts are at least these; one not shown holds at most {most}."
            );
            self.line(out, &text)?;
        }
        Ok(())
    }

    fn capacity(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(capacity) = &self.summary.capacity else { return Ok(()) };
        self.heading(out, "Capacity")?;
        wrapped(&capacity.sentence, self.width - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        if let Some(usable) = capacity.usable_bytes {
            let nodes = capacity.nodes.len() as u64;
            let nominal = bytes(capacity.maxmemory.saturating_mul(nodes));
            let most = capacity.max_nodes.map_or(String::new(), |most| {
                format!("; with more than {} the heaviest tag or key outgrows a fair share", counted(most, "node"))
            });
            self.line(
                out,
                &format!("{} of {nominal} can be filled before the fullest node is full{most}", bytes(usable as u64)),
            )?;
        }
        let columns = [("node", false), ("used", true), ("room", true), ("months", true)];
        let mut table = self.table(&columns, 0);
        for node in capacity.nodes.iter().take(self.rows) {
            let room = match u64::try_from(node.headroom) {
                Ok(room) => bytes(room),
                Err(_) => format!("-{}", bytes(node.headroom.unsigned_abs() as u64)),
            };
            let months = node.months.map_or(String::from("-"), |months| format!("{months:.1}"));
            table.row(vec![short_id(&node.id), bytes(node.used), room, months]);
        }
        table.print(out)
    }

    /// The metrics that the input carries.
    fn metrics(&self) -> impl Iterator<Item = Metric> {
        self.summary.slots.loads.iter().map(|(metric, _)| metric)
    }

    fn loads(&self, load: &PerMetric<u64>) -> Vec<String> {
        load.iter().map(|(metric, load)| self.amount_cell(metric, *load)).collect()
    }

    fn amount_cell(&self, metric: Metric, amount: u64) -> String {
        if metric == Metric::Bytes { bytes(amount) } else { grouped(amount) }
    }

    fn amount(&self, metric: Metric, amount: u64) -> String {
        match metric {
            Metric::Keys => counted(amount, "key"),
            Metric::Bytes => bytes(amount),
            Metric::Ops => counted(amount, "operation"),
        }
    }

    fn owner(&self, node: Option<&Name>) -> String {
        node.map_or(String::from("nobody's"), short_id)
    }

    fn tags_of(&self, slot: &HotSlot) -> String {
        let by = self.summary.skew.by;
        let load = |tag: &TagLoad| tag.load.get(by).map_or(String::new(), |load| self.amount_cell(by, *load));
        let tags = slot.top_tags.iter().take(3).map(|tag| format!("{{{}}} {}", tag.tag, load(tag)));
        let text = tags.collect::<Vec<_>>().join(", ");
        if text.is_empty() { String::from("-") } else { text }
    }

    fn spread(&self, out: &mut dyn Write) -> io::Result<()> {
        let Summary { slots, skew, lengths, sizes, .. } = self.summary;
        let Some(stats) = slots.stats.get(skew.by) else { return Ok(()) };
        if let (Some(over), Some(cv), Some(gini)) = (stats.max_over_mean, stats.cv, stats.gini) {
            let expected = skew.expected_cv.map_or(String::new(), |cv| format!(" (a perfect hash: {cv:.3})"));
            self.heading(out, "Spread over the slots")?;
            let [p50, p99, max] = [stats.p50, stats.p99, stats.max].map(|load| self.amount_cell(skew.by, load));
            let empty = grouped(stats.empty as u64);
            self.line(
                out,
                &format!(
                    "max/mean {over:.2}, CV {cv:.3}{expected}, Gini {gini:.3}, p50 {p50}, p99 {p99}, max {max}, empty {empty}"
                ),
            )?;
        }
        self.quantiles(out, "Key lengths in bytes", lengths.as_ref(), grouped)?;
        self.quantiles(out, "Key sizes", sizes.as_ref(), bytes)?;
        if let Some(sizes) = &self.summary.tag_sizes {
            let sampled = sizes.sampled.map(|tags| format!(" (a sample of {} tags)", grouped(tags)));
            let title = format!("Keys of a hash tag{}", sampled.unwrap_or_default());
            self.quantiles(out, &title, Some(&sizes.keys), grouped)?;
        }
        self.kinds(out)
    }

    fn quantiles(
        &self,
        out: &mut dyn Write,
        title: &str,
        of: Option<&Quantiles>,
        shown: fn(u64) -> String,
    ) -> io::Result<()> {
        let Some(of) = of.filter(|of| of.count > 0) else { return Ok(()) };
        let mean = if of.mean < 1000.0 { format!("{:.1}", of.mean) } else { shown(of.mean.round() as u64) };
        let [min, p50, p99, max] = [of.min, of.p50, of.p99, of.max].map(shown);
        self.heading(out, title)?;
        self.line(out, &format!("mean {mean}, min {min}, p50 {p50}, p99 {p99}, max {max}"))
    }

    /// Types, expiry and databases, where the input tells them.
    fn kinds(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(types) = &self.summary.types {
            let one = |of: &TypeLoad| {
                let size = of.load.bytes.map_or(String::new(), |size| format!(" ({})", bytes(size)));
                format!("{} {}{size}", of.kind, grouped(of.load.keys))
            };
            self.heading(out, "Keys by type")?;
            self.line(out, &types.iter().take(self.rows).map(one).collect::<Vec<_>>().join(", "))?;
        }
        if let Some(databases) = self.summary.databases.as_ref().filter(|databases| databases.len() > 1) {
            let one = |of: &DatabaseKeys| format!("db {}: {}", of.db, grouped(of.keys));
            self.heading(out, "Keys by database")?;
            self.line(out, &databases.iter().take(self.rows).map(one).collect::<Vec<_>>().join(", "))?;
        }
        if let Some(keys) = self.summary.no_expiry {
            let share = percent(keys as f64 / self.summary.input.keys.max(1) as f64);
            self.paragraph(out, &format!("{} without expiry ({share}).", counted(keys, "key")))?;
        }
        Ok(())
    }

    fn remarks(&self, out: &mut dyn Write) -> io::Result<()> {
        let input = &self.summary.input;
        for stop in &input.incomplete {
            let text = format!("incomplete: {}: byte {}: {}", stop.file, grouped(stop.byte), stop.reason);
            self.paragraph(out, &text)?;
        }
        let warnings = input.warnings.iter().map(|text| format!("warning: {text}"));
        let notes = input.notes.iter().map(|text| format!("note: {text}"));
        warnings.chain(notes).try_for_each(|text| self.paragraph(out, &text))
    }

    fn heading(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        self.text().heading(out, text)
    }

    fn paragraph(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        self.text().paragraph(out, text)
    }

    fn line(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        self.text().line(out, text)
    }

    fn text(&self) -> page::Page {
        page::Page { width: self.width }
    }

    fn more(&self, out: &mut dyn Write, all: usize) -> io::Result<()> {
        match all.saturating_sub(self.rows) {
            0 => Ok(()),
            more => self.line(out, &format!("... and {} more (--top)", grouped(more as u64))),
        }
    }

    fn table(&self, columns: &[(&str, bool)], flexible: usize) -> Sheet {
        Sheet::new(self.width, columns, flexible, self.summary.skew.by)
    }
}
