//! Cells, bars and lines of text that keep within a width.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width};

use super::WIDTHS;
use crate::metric::Metric;
use crate::report::units::{bytes, grouped};

/// A table that keeps within a width: where its columns do not fit, the least telling ones are left out.
pub struct Sheet {
    width: usize,
    columns: Vec<Column>,
    flexible: usize,
    rows: Vec<Vec<String>>,
}

struct Column {
    name: String,
    is_number: bool,
    /// The lower, the sooner it is left out.
    rank: u8,
}

/// Columns that are left out before others, and those that stay to the end.
const FIRST_OUT: [&str; 3] = ["slots", "tagged", "in slots"];
const LAST_OUT: [&str; 6] = ["x fair", "x mean", "share", "used", "room", "months"];
/// The least that a flexible column has.
const NARROWEST: usize = 10;

impl Sheet {
    /// Columns with a name, numbers to the right; column `flexible` takes what the others leave. Of the columns of metrics
    /// that `by` stays to the end, the others go first.
    pub fn new(width: usize, columns: &[(&str, bool)], flexible: usize, by: Metric) -> Self {
        let rank = |index: usize, name: &str| match Metric::ALL.into_iter().find(|metric| metric.name() == name) {
            _ if index == flexible => u8::MAX,
            Some(metric) => 3 * u8::from(metric == by),
            None if FIRST_OUT.contains(&name) => 1,
            None => 2 + u8::from(LAST_OUT.contains(&name)),
        };
        let column = |(index, (name, is_number)): (usize, &(&str, bool))| Column {
            name: (*name).to_string(),
            is_number: *is_number,
            rank: rank(index, name),
        };
        Sheet { width, columns: columns.iter().enumerate().map(column).collect(), flexible, rows: Vec::new() }
    }

    /// Adds a row of one line.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints it without blanks at the ends of its lines.
    pub fn print(mut self, out: &mut dyn Write) -> io::Result<()> {
        while self.columns.len() > 2 && self.least_width() > self.width {
            // Of the least telling ones the one furthest to the right.
            let Some(out) = (0..self.columns.len()).rev().min_by_key(|at| self.columns[*at].rank) else { break };
            self.columns.remove(out);
            self.rows.iter_mut().for_each(|row| drop(row.remove(out)));
            self.flexible -= usize::from(out < self.flexible);
        }
        let table = self.table();
        table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
    }

    /// What it takes with the flexible column at its narrowest.
    fn least_width(&self) -> usize {
        let widest = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].chars().count());
            cells.chain([self.columns[at].name.chars().count()]).max().unwrap_or(0)
        };
        let width = |at: usize| 2 + if at == self.flexible { widest(at).min(NARROWEST) } else { widest(at) };
        1 + (0..self.columns.len()).map(width).sum::<usize>()
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(self.width as u16);
        table.set_truncation_indicator("…");
        table.set_header(self.columns.iter().map(|column| column.name.as_str()));
        for cells in &self.rows {
            // A cell keeps what could ever be shown of it, the table cuts it further where it must.
            let mut row = Row::from(cells.iter().map(|cell| cut(cell, *WIDTHS.end())));
            row.max_height(1);
            table.add_row(row);
        }
        for (index, (column, of)) in table.column_iter_mut().zip(&self.columns).enumerate() {
            if of.is_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
            column.set_padding(if index == 0 { (2, 1) } else { (1, 1) });
            if index == self.flexible {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(8)));
            } else {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table
    }
}

/// The first `width` characters, the last of them an ellipsis where there are more.
pub fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_string(),
        Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

/// A mean with as many digits as it is worth.
pub fn mean_text(mean: f64) -> String {
    match mean {
        0.0 => String::from("none"),
        mean if mean < 0.1 => format!("{mean:.4}"),
        mean if mean < 100.0 => format!("{mean:.1}"),
        mean => grouped(mean.round() as u64),
    }
}

/// The same for bytes.
pub fn bytes_of_mean(mean: f64) -> String {
    if mean > 0.0 && mean < 0.5 { String::from("less than a byte") } else { bytes(mean.round() as u64) }
}

/// A bar of at most `cells` for a value between 0 and 1, in eighths of a cell.
pub fn bar(value: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * (cells * 8) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Text broken between words into lines of at most `width` characters; a longer word is broken too.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
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
    use super::super::BAR;
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_never_wider_than_asked() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("", 10), [""]);
    }

    #[test]
    fn columns_that_do_not_fit_are_left_out_the_least_telling_first() {
        let columns =
            [("tag", false), ("slots", true), ("keys", true), ("bytes", true), ("ops", true), ("share", true)];
        let header = |width: usize| {
            let mut sheet = Sheet::new(width, &columns, 0, Metric::Bytes);
            sheet.row(
                ["a tag that is long", "16,384", "1,000,000", "1.00 GiB", "1,000,000", "12.3 %"]
                    .map(String::from)
                    .to_vec(),
            );
            let mut out = Vec::new();
            sheet.print(&mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| line.chars().count() <= width) && text.lines().count() == 2, "{text}");
            text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut headers: Vec<String> = (20..100).rev().map(header).collect();
        headers.dedup();
        let expected = ["tag slots keys bytes ops share", "tag slots keys bytes share", "tag slots bytes share"];
        assert_eq!(headers, [&expected[..], &["tag bytes share", "tag bytes"]].concat());
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(1.0, BAR).chars().count(), BAR);
        assert_eq!(bar(0.0, BAR), "");
        assert_eq!(bar(1.0 / 160.0, BAR), "▏");
    }
}
