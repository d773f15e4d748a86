//! Cells, bars and lines of text that keep within a width.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width};

use super::WIDTHS;
use crate::report::units::grouped;

/// A table of columns with a name, numbers to the right, whose column `flexible` takes what the others leave.
pub fn table(width: usize, columns: &[(&str, bool)], flexible: usize) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
    table.set_truncation_indicator("…");
    table.set_header(columns.iter().map(|(name, _)| *name));
    for (index, (column, (_, is_number))) in table.column_iter_mut().zip(columns).enumerate() {
        if *is_number {
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

/// Prints a table without blanks at the ends of its lines.
pub fn print(out: &mut dyn Write, table: Table) -> io::Result<()> {
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Adds a row of one line; a cell keeps what could ever be shown of it, the table cuts it further where it must.
pub fn row(table: &mut Table, cells: Vec<String>) {
    let mut row = Row::from(cells.iter().map(|cell| cut(cell, *WIDTHS.end())));
    row.max_height(1);
    table.add_row(row);
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
    fn bars_grow_by_eighths() {
        assert_eq!(bar(1.0, BAR).chars().count(), BAR);
        assert_eq!(bar(0.0, BAR), "");
        assert_eq!(bar(1.0 / 160.0, BAR), "▏");
    }
}
