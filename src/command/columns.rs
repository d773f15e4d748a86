//! Text of the commands that have no page of their own in the report: headings and small tables.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::{CellAlignment, Row, Table};

/// The most characters of a cell: a name may have millions.
const WIDEST: usize = 72;

/// Writes `heading` and under it `rows`, at most `limit` of them; columns whose name begins with a blank hold numbers.
/// Nothing where there are no rows.
pub fn write(
    out: &mut dyn Write,
    heading: &str,
    columns: &[&str],
    rows: impl ExactSizeIterator<Item = Vec<String>>,
    limit: usize,
) -> io::Result<()> {
    let more = match rows.len() {
        0 => return Ok(()),
        len => len.saturating_sub(limit),
    };
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}{heading}{bold:#}")?;
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(columns.iter().map(|name| name.trim_start()));
    for (column, name) in table.column_iter_mut().zip(columns) {
        column.set_padding((2, 0));
        if name.starts_with(' ') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.add_rows(rows.take(limit).map(|cells| Row::from(cells.iter().map(|cell| cut(cell)))));
    table.lines().try_for_each(|line| writeln!(out, "{}", line.trim_end()))?;
    match more {
        0 => Ok(()),
        more => writeln!(out, "  ... and {more} more, in --json"),
    }
}

/// As much of a name as is shown.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(WIDEST - 1).chain(['…']).collect(),
    }
}
