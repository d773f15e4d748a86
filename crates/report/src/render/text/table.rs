//! A table limited in width: columns of the lowest rank are dropped if they do not fit.

use std::io::{self, Write};

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Row, Table as Grid, Width, presets,
};

use slotscope_base::name::{ISOLATION, isolated};
use slotscope_base::text::{truncated, without_middle};

use crate::render::text::{Page, WIDTHS, shown_chars};
use crate::view::table::Rank;
use crate::view::{Cell, Table, Value};

/// Minimum length that names are cut to: first those of nodes, then those of flexible columns.
const NODE: usize = 12;
const CUT_TO: usize = 8;
/// Columns are dropped before names get this close to their minimum.
const SPARE: usize = 2;
/// Maximum characters of a name if names are not truncated.
const WHOLE: usize = 2048;
/// Blanks before a table and around columns.
const INDENT: usize = 1;
const BESIDE: usize = 2;
/// Maximum length of a bar, and space taken by other columns: some for each number.
const BAR: usize = 20;
const BESIDE_BAR: (usize, usize) = (6, 14);

/// A column of text.
struct Column {
    /// Its title, then its cells.
    cells: Vec<String>,
    is_number: bool,
    /// The minimum length of its names; `None` if they are not truncated.
    least: Option<usize>,
    is_of_nodes: bool,
    rank: Rank,
}

impl Column {
    fn widest(&self) -> usize {
        let widths = self.cells.iter().map(|cell| shown_chars(cell));
        widths.max().unwrap_or(0).max(1) // an empty cell takes a character as well
    }

    fn narrowest(&self) -> usize {
        self.least
            .map_or(self.widest(), |least| least.min(self.widest()))
    }

    fn wanted(&self) -> usize {
        let spare = self.least.map_or(0, |_| SPARE);
        (self.narrowest() + spare).min(self.widest())
    }
}

/// Writes the first `rows` rows of `table`, without trailing blanks. Names are truncated to fit the page, those of
/// nodes before those of keys; a page with whole names has longer lines.
pub(super) fn write(
    table: &Table<'_>,
    rows: usize,
    page: Page<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = page.width;
    let mut columns = columns(table, rows, page);
    while columns.len() > 2 && line_width(columns.iter().map(Column::wanted)) > width {
        // The rightmost column of the lowest rank.
        let lowest = (0..columns.len()).rev().min_by_key(|at| columns[*at].rank);
        columns.remove(lowest.unwrap_or_default());
    }
    if !page.whole_names {
        cut(&mut columns, width);
    }
    let width = line_width(columns.iter().map(Column::widest)).max(width);
    grid(&columns, width)
        .lines()
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// The line width for these column widths.
fn line_width(columns: impl Iterator<Item = usize>) -> usize {
    INDENT + columns.map(|width| width + BESIDE).sum::<usize>()
}

/// Truncates names until lines fit `width`.
fn cut(columns: &mut [Column], width: usize) {
    for is_of_nodes in [true, false] {
        let line = line_width(columns.iter().map(Column::widest));
        let mut excess = line.saturating_sub(width);
        for column in columns
            .iter_mut()
            .filter(|column| column.is_of_nodes == is_of_nodes)
        {
            let widest = column.widest();
            let most = widest.saturating_sub(excess).max(column.narrowest());
            excess -= widest - most;
            let cells = column
                .cells
                .iter_mut()
                .filter(|cell| shown_chars(cell) > most);
            cells.for_each(|cell| *cell = cut_name(cell, most, is_of_nodes));
        }
    }
}

/// A spelled name in at most `most` characters. Node names keep both ends, one of which identifies the node.
fn cut_name(name: &str, most: usize, is_of_node: bool) -> String {
    let whole = name.replace(ISOLATION, "");
    isolated(if is_of_node {
        without_middle(&whole, most)
    } else {
        truncated(&whole, most)
    })
}

/// The display columns, each followed by the bars of its cells.
fn columns(table: &Table<'_>, rows: usize, page: Page<'_>) -> Vec<Column> {
    let shown = table.for_people();
    let numbers = shown
        .iter()
        .filter(|at| table.columns[**at].is_number)
        .count();
    let beside = BESIDE_BAR.0 + BESIDE_BAR.1 * numbers;
    let longest_bar = page.width.saturating_sub(beside).min(BAR);
    let most = if page.whole_names {
        WHOLE
    } else {
        *WIDTHS.end()
    };
    let mut columns = Vec::with_capacity(shown.len() + 1);
    for at in shown {
        let column = &table.columns[at];
        let cells = || table.rows[..rows].iter().map(|row| &row[at]);
        let title = column.title.clone().unwrap_or_default();
        let spelled = cells().map(|cell| spelled(cell, most));
        let is_of_nodes = cells().any(|cell| matches!(cell.value, Value::Node(..)));
        columns.push(Column {
            cells: [title].into_iter().chain(spelled).collect(),
            is_number: column.is_number,
            least: match (is_of_nodes, column.is_flexible) {
                (true, _) => Some(NODE),
                (false, true) => Some(CUT_TO),
                (false, false) => None,
            },
            is_of_nodes,
            rank: column.rank,
        });
        let bars = cells().map(|cell| cell.bar.filter(|bar| bar.fair.is_some()));
        if longest_bar > 0 && bars.clone().any(|bar| bar.is_some()) {
            let filled =
                bars.map(|shown| shown.map_or(String::new(), |shown| bar(shown.part, longest_bar)));
            columns.push(Column {
                cells: [String::new()].into_iter().chain(filled).collect(),
                is_number: false,
                least: None,
                is_of_nodes: false,
                rank: Rank::Usual,
            });
        }
    }
    columns
}

/// The visible part of the text of a cell.
fn spelled(cell: &Cell<'_>, most: usize) -> String {
    match cell.value {
        Value::None => String::from("-"),
        _ => cell.spelled(most),
    }
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
        // Double-width characters make a name wider than its character count.
        to.set_constraint(match column.least {
            Some(_) => ColumnConstraint::LowerBoundary(Width::Fixed(column.narrowest() as u16)),
            None => ColumnConstraint::ContentWidth,
        });
    }
    grid
}

/// A bar of at most `cells` characters for a value from 0 to 1, in eighths of a character.
fn bar(value: f64, cells: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (value.clamp(0.0, 1.0) * (cells * 8) as f64).round() as usize;
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Column;
    use slotscope_base::metric::Metric;
    use slotscope_base::name::Name;

    fn text(table: &Table<'_>, width: usize, whole_names: bool) -> String {
        let page = Page {
            height: None,
            width,
            rows: 1,
            rest: "",
            whole_names,
        };
        let mut out = Vec::new();
        write(table, 1, page, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_of_nodes_are_cut_before_those_of_keys_and_none_is_in_a_pipe() {
        let (key, id) = (Name::from("user:0123456789:profile"), Name::from("id"));
        let node = Name::from("a-node-with-a-long-name-and-number-17");
        let row = || {
            let node = Value::Node(&id, node.clone()).into();
            vec![Cell::name(&key), node, Cell::count(7u64)]
        };
        let columns = || {
            let [key, node] = ["key", "node"].map(Column::words);
            vec![
                key.flexible(),
                node.rank(Rank::Detail),
                Column::number("keys"),
            ]
        };
        let last_line = |width: usize, whole: bool| {
            let text = text(&Table::new(columns(), [row()]), width, whole);
            text.lines().last().unwrap().trim().to_owned()
        };
        let line = last_line(60, false);
        assert!(
            line.starts_with("user:0123456789:profile  a-node-with-"),
            "{line}"
        );
        assert!(
            line.contains('…') && line.ends_with("number-17     7"),
            "{line}"
        );
        let line = last_line(40, false);
        assert!(
            line.starts_with("user:0123456789:…  a-nod…ber-17 "),
            "{line}"
        );
        for width in [40, 60] {
            let words: Vec<String> = last_line(width, true)
                .split_whitespace()
                .map(String::from)
                .collect();
            assert_eq!(words, [&key.to_string(), &node.to_string(), "7"]);
        }
    }

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
            let text = text(&Table::new(columns(), [row()]), width, false);
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
