//! The report on the terminal: the verdict first, then who is full, which slots are hot and which tags fill them.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width};

use super::units::{bytes, counted, grouped, percent};
use crate::name::Name;
use crate::summary::verdict::Verdict;
use crate::summary::{HotSlot, Summary};

/// The narrowest and the widest that tables are made for.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=120;
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
    page.hottest(out)?;
    page.tags(out)?;
    page.spread(out)?;
    page.remarks(out)
}

struct Page<'a> {
    summary: &'a Summary,
    width: usize,
    rows: usize,
}

impl Page<'_> {
    fn verdict(&self, out: &mut dyn Write) -> io::Result<()> {
        let (word, color) = match self.summary.skew.verdict {
            Verdict::Empty => ("EMPTY", AnsiColor::Yellow),
            Verdict::Suspicious => ("SUSPICIOUS", AnsiColor::Magenta),
            Verdict::Balanced => ("BALANCED", AnsiColor::Green),
            Verdict::Tagged => ("TAGGED", AnsiColor::Cyan),
            Verdict::Placement => ("PLACEMENT", AnsiColor::Yellow),
            Verdict::Watch => ("WATCH", AnsiColor::Yellow),
            Verdict::Skewed => ("SKEWED", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let text = format!("{word}  {}", self.summary.skew.sentence);
        let lines = wrapped(&text, self.width);
        let (first, rest) = lines.split_first().expect("text has a line");
        writeln!(out, "{style}{word}{style:#}{}", &first[word.len()..])?;
        rest.iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn input(&self, out: &mut dyn Write) -> io::Result<()> {
        let input = &self.summary.input;
        let from = match input.files.as_slice() {
            [only] => only.name.to_string(),
            files => counted(files.len() as u64, "file"),
        };
        let taken = self.summary.slots.keys.iter().filter(|keys| **keys > 0).count() as u64;
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

    fn nodes(&self, out: &mut dyn Write) -> io::Result<()> {
        let nodes = &self.summary.nodes;
        self.heading(out, &format!("Nodes ({})", nodes.source))?;
        let largest = nodes.keys.max.max(1) as f64;
        let fair = nodes.keys.mean;
        let mut table = self.table(["node", "slots", "keys", "x fair", ""], &[1, 2, 3], 0);
        for node in nodes.list.iter().take(self.rows) {
            let share = if fair > 0.0 { format!("{:.3}", node.keys as f64 / fair) } else { String::from("-") };
            let name = match &node.address {
                Some(address) => format!("{} {address}", short_id(&node.id)),
                None => short_id(&node.id),
            };
            let bar = bar(node.keys as f64 / largest, self.width.saturating_sub(BESIDE_BAR).min(BAR));
            row(&mut table, [name, grouped(u64::from(node.slots)), grouped(node.keys), share, bar]);
        }
        self.print(out, table)?;
        self.more(out, nodes.list.len(), "nodes.csv")?;
        if nodes.unowned.keys > 0 {
            let share = percent(nodes.unowned.keys as f64 / self.summary.input.keys as f64);
            let (keys, slots) = (counted(nodes.unowned.keys, "key"), counted(u64::from(nodes.unowned.slots), "slot"));
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
        self.heading(out, &format!("Hottest slots (the average holds {})", mean_text(slots.stats.keys.mean)))?;
        let mut table = self.table(["slot", "node", "keys", "x mean", "its tags"], &[0, 2, 3], 4);
        for slot in shown {
            let node = slot.node.as_ref().map_or(String::from("nobody's"), short_id);
            let times = format!("{:.2}", slot.over_mean);
            row(&mut table, [slot.slot.to_string(), node, grouped(slot.keys), times, tags_of(slot)]);
        }
        self.print(out, table)
    }

    fn tags(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(tags) = &self.summary.tags else { return Ok(()) };
        if tags.tagged_keys == 0 {
            return self.paragraph(out, "No key has a hash tag.");
        }
        let about = if tags.distinct_error > 0.0 { "about " } else { "" };
        let share = percent(tags.tagged_keys as f64 / self.summary.input.keys as f64);
        self.heading(out, &format!("Hash tags ({about}{} distinct, on {share} of the keys)", grouped(tags.distinct)))?;
        let mut table = self.table(["tag", "slot", "node", "keys", "share"], &[1, 3, 4], 0);
        for tag in tags.top.iter().take(self.rows) {
            let node = tag.node.as_ref().map_or(String::from("nobody's"), short_id);
            row(
                &mut table,
                [format!("{{{}}}", tag.tag), tag.slot.to_string(), node, grouped(tag.keys), percent(tag.share)],
            );
        }
        self.print(out, table)?;
        self.more(out, tags.top.len(), "tags.csv")?;
        let hidden = tags.top.get(self.rows).map_or(0, |tag| tag.keys + tag.keys_error).max(tags.max_error);
        if hidden > 0 {
            let about =
                if tags.exact { "Counts are exact" } else { "The input was read once: counts are at least these" };
            self.paragraph(
                out,
                &format!("{about}; a tag that is not shown holds at most {}.", counted(hidden, "key")),
            )?;
        }
        Ok(())
    }

    fn spread(&self, out: &mut dyn Write) -> io::Result<()> {
        let stats = &self.summary.slots.stats.keys;
        if let (Some(over), Some(cv), Some(gini)) = (stats.max_over_mean, stats.cv, stats.gini) {
            let expected =
                self.summary.skew.expected_cv.map_or(String::new(), |cv| format!(" (a perfect hash: {cv:.3})"));
            self.heading(out, "Spread over the slots")?;
            self.line(
                out,
                &format!(
                    "max/mean {over:.2}, CV {cv:.3}{expected}, Gini {gini:.3}, p50 {}, p99 {}, max {}, empty {}",
                    grouped(stats.p50),
                    grouped(stats.p99),
                    grouped(stats.max),
                    grouped(stats.empty as u64)
                ),
            )?;
        }
        if let Some(lengths) = self.summary.lengths.as_ref().filter(|lengths| lengths.count > 0) {
            self.heading(out, "Key lengths in bytes")?;
            self.line(
                out,
                &format!(
                    "mean {:.1}, min {}, p50 {}, p99 {}, max {}",
                    lengths.mean,
                    grouped(lengths.min),
                    grouped(lengths.p50),
                    grouped(lengths.p99),
                    grouped(lengths.max)
                ),
            )?;
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
        let style = Style::new().bold();
        writeln!(out)?;
        wrapped(text, self.width).iter().try_for_each(|line| writeln!(out, "{style}{line}{style:#}"))
    }

    fn paragraph(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        writeln!(out)?;
        wrapped(text, self.width).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn line(&self, out: &mut dyn Write, text: &str) -> io::Result<()> {
        wrapped(text, self.width - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))
    }

    fn more(&self, out: &mut dyn Write, all: usize, file: &str) -> io::Result<()> {
        match all.saturating_sub(self.rows) {
            0 => Ok(()),
            more => self.line(out, &format!("... and {} more, in {file}", grouped(more as u64))),
        }
    }

    /// A table whose column `flexible` takes what the others leave.
    fn table<const N: usize>(&self, header: [&str; N], numbers: &[usize], flexible: usize) -> Table {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(self.width as u16);
        table.set_truncation_indicator("…");
        table.set_header(header);
        for (index, column) in table.column_iter_mut().enumerate() {
            if numbers.contains(&index) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            column.set_padding(if index == 0 { (2, 1) } else { (1, 1) });
            if index == flexible {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(8)));
            } else {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table
    }

    fn print(&self, out: &mut dyn Write, table: Table) -> io::Result<()> {
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
    }
}

/// Adds a row of one line; a cell keeps what could ever be shown of it, the table cuts it further where it must.
fn row<const N: usize>(table: &mut Table, cells: [String; N]) {
    let mut row = Row::from(cells.map(|cell| cut(&cell, *WIDTHS.end())));
    row.max_height(1);
    table.add_row(row);
}

/// As much of a 40-digit id as tells nodes apart.
fn short_id(id: &Name) -> String {
    let text = id.to_string();
    match text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => text[..8].to_string(),
        false => text,
    }
}

/// The first `width` characters, the last of them an ellipsis where there are more.
fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_string(),
        Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

fn tags_of(slot: &HotSlot) -> String {
    let tags = slot.top_tags.iter().take(3).map(|tag| format!("{{{}}} {}", tag.tag, grouped(tag.keys)));
    let text = tags.collect::<Vec<_>>().join(", ");
    if text.is_empty() { String::from("-") } else { text }
}

fn mean_text(mean: f64) -> String {
    match mean {
        0.0 => String::from("none"),
        mean if mean < 0.1 => format!("{mean:.4}"),
        mean if mean < 100.0 => format!("{mean:.1}"),
        mean => grouped(mean.round() as u64),
    }
}

/// A bar of at most `cells` for a value between 0 and 1, in eighths of a cell.
fn bar(value: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * (cells * 8) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Text broken between words into lines of at most `width` characters; a longer word is broken too.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut room = width;
    for word in text.split_inclusive(' ') {
        let len = word.trim_end().chars().count();
        if len > room && room < width {
            lines.push(String::new());
            room = width;
        }
        for c in word.chars() {
            if room == 0 && c != ' ' {
                lines.push(String::new());
                room = width;
            }
            lines.last_mut().expect("never empty").push(c);
            room = room.saturating_sub(1);
        }
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_never_wider_than_asked() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(1.0, BAR).chars().count(), BAR);
        assert_eq!(bar(0.0, BAR), "");
        assert_eq!(bar(1.0 / 160.0, BAR), "▏");
    }
}
