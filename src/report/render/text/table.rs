//! A table that keeps within a width: where its columns do not fit, those of the lowest rank are left out.

use std::io::{self, Write};

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid, Width, presets,
};

use crate::report::render::text::WIDTHS;
use crate::report::view::table::Rank;
use crate::report::view::{Cell, Table, Value};

/// The least that a flexible column has, and the least that its text is cut to.
const NARROWEST: usize = 10;
const CUT_TO: usize = 8;
/// Characters of the longest bar, and what the other columns take: some for each number.
const BAR: usize = 20;
const BESIDE_BAR: (usize, usize) = (6, 14);

/// A column of text.
struct Column {
    /// Its head, then its cells.
    cells: Vec<String>,
    is_number: bool,
    is_flexible: bool,
    rank: Rank,
}

impl Column {
    fn widest(&self) -> usize {
        let widths = self.cells.iter().map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

/// Writes the first `rows` rows of `table`, without blanks at the ends of lines.
pub fn write(table: &Table<'_>, rows: usize, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = columns(table, rows, width);
    while columns.len() > 2 && least_width(&columns) > width {
        // Of the lowest rank the column furthest to the right.
        let lowest = (0..columns.len()).rev().min_by_key(|at| columns[*at].rank);
        columns.remove(lowest.unwrap_or_default());
    }
    grid(&columns, width)
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// The columns for people, each followed by the bars of its cells.
fn columns(table: &Table<'_>, rows: usize, width: usize) -> Vec<Column> {
    let shown = table.for_people();
    let numbers = shown
        .iter()
        .filter(|at| table.columns[**at].is_number)
        .count();
    let beside = BESIDE_BAR.0 + BESIDE_BAR.1 * numbers;
    let longest_bar = width.saturating_sub(beside).min(BAR);
    let mut columns = Vec::with_capacity(shown.len() + 1);
    for at in shown {
        let column = &table.columns[at];
        let cells = || table.rows[..rows].iter().map(|row| &row[at]);
        let title = column.title.clone().unwrap_or_default();
        columns.push(Column {
            cells: [title].into_iter().chain(cells().map(spelled)).collect(),
            is_number: column.is_number,
            is_flexible: column.is_flexible,
            rank: column.rank,
        });
        let bars = cells().map(|cell| cell.bar.filter(|bar| bar.fair.is_some()));
        if bars.clone().any(|bar| bar.is_some()) {
            let bars = bars.map(|of| of.map_or(String::new(), |of| bar(of.part, longest_bar)));
            columns.push(Column {
                cells: [String::new()].into_iter().chain(bars).collect(),
                is_number: false,
                is_flexible: false,
                rank: Rank::Usual,
            });
        }
    }
    columns
}

/// What could ever be shown of a cell; the grid cuts it further where it must.
fn spelled(cell: &Cell<'_>) -> String {
    match cell.value {
        Value::None => String::from("-"),
        _ => cell.spelled(*WIDTHS.end()),
    }
}

/// The width of all columns with the flexible ones at their narrowest.
fn least_width(columns: &[Column]) -> usize {
    let width = |column: &Column| match column.is_flexible {
        true => 2 + column.widest().min(NARROWEST),
        false => 2 + column.widest(),
    };
    1 + columns.iter().map(width).sum::<usize>()
}

fn grid(columns: &[Column], width: usize) -> Grid {
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING);
    grid.set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width as u16);
    grid.set_truncation_indicator("…");
    let line = |at: usize| columns.iter().map(move |column| column.cells[at].as_str());
    grid.set_header(line(0));
    for at in 1..columns.first().map_or(0, |column| column.cells.len()) {
        let mut row = Row::from(line(at));
        row.max_height(1);
        grid.add_row(row);
    }
    for (at, (to, column)) in grid.column_iter_mut().zip(columns).enumerate() {
        if column.is_number {
            to.set_cell_alignment(CellAlignment::Right);
        }
        to.set_padding(if at == 0 { (2, 1) } else { (1, 1) });
        to.set_constraint(match column.is_flexible {
            true => ColumnConstraint::LowerBoundary(Width::Fixed(CUT_TO as u16)),
            false => ColumnConstraint::ContentWidth,
        });
    }
    grid
}

/// A bar of at most `cells` characters for a value between 0 and 1, in eighths of a character.
fn bar(value: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * (cells * 8) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::name::Name;
    use crate::report::view::Column;

    #[test]
    fn columns_that_do_not_fit_are_left_out_the_lowest_rank_first() {
        let tag = Name::from("a tag that is long");
        let columns = || {
            let mut columns = vec![
                Column::words("tag").flexible(),
                Column::number("slots").rank(Rank::Detail),
            ];
            let metrics = [Metric::Keys, Metric::Bytes, Metric::Ops];
            columns.extend(metrics.map(|metric| Column::load(metric, Metric::Bytes)));
            columns.push(Column::number("share").rank(Rank::Main));
            columns
        };
        let row = || {
            let mut row = vec![Cell::name(&tag), Cell::count(16_384u64)];
            row.extend(
                [1_000_000, 1 << 30, 1_000_000]
                    .into_iter()
                    .zip(Metric::ALL)
                    .map(|(load, metric)| Cell::amount(metric, load)),
            );
            row.push(Cell::share(0.1234));
            row
        };
        let header = |width: usize| {
            let mut out = Vec::new();
            write(&Table::new(columns(), [row()]), 1, width, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            let fits = text.lines().all(|line| line.chars().count() <= width);
            assert!(fits && text.lines().count() == 2, "{text}");
            let words = text.lines().next().unwrap().split_whitespace();
            words.collect::<Vec<_>>().join(" ")
        };
        let mut headers: Vec<String> = (20..100).rev().map(header).collect();
        headers.dedup();
        let expected = [
            "tag slots keys bytes ops share",
            "tag slots keys bytes share",
            "tag slots bytes share",
            "tag bytes share",
            "tag bytes",
        ];
        assert_eq!(headers, expected);
    }

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(1.0, BAR).chars().count(), BAR);
        assert_eq!(bar(0.0, BAR), "");
        assert_eq!(bar(1.0 / 160.0, BAR), "▏");
    }
}
