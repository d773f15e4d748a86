//! The first rows of a table for display: as text in a console, as HTML in a notebook. Names come from a dump and are
//! hostile: tables escape control characters, and HTML is escaped here.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use slotscope::name::truncated;

/// Rows shown.
const ROWS: usize = 10;
/// Characters per cell in a console.
const WIDTH: usize = 40;
/// Characters per cell in a notebook.
const HTML_WIDTH: usize = 200;

/// The caption of a table: `nodes: 6 rows`.
fn caption(name: &str, rows: &RecordBatch) -> String {
    match rows.num_rows() {
        1 => format!("{name}: 1 row"),
        count @ 0..=ROWS => format!("{name}: {count} rows"),
        count => format!("{name}: the first {ROWS} of {count} rows"),
    }
}

/// Whether a column is right-aligned.
fn is_number(column: &dyn Array) -> bool {
    column.data_type() != &DataType::LargeUtf8
}

/// A cell; an unknown value is empty.
fn cell(column: &dyn Array, row: usize, most: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            let digits = format!("{value:.6}");
            let short = digits.trim_end_matches('0').trim_end_matches('.');
            short.to_owned()
        }
        _ => truncated(column.as_string::<i64>().value(row), most),
    }
}

/// The name of a column and its displayed cells.
fn shown(rows: &RecordBatch, most: usize) -> impl Iterator<Item = (bool, Vec<String>)> {
    let fields = rows.schema_ref().fields().iter();
    fields.zip(rows.columns()).map(move |(field, column)| {
        let cells = (0..rows.num_rows().min(ROWS)).map(|row| cell(column, row, most));
        let lines = std::iter::once(field.name().clone()).chain(cells).collect();
        (is_number(column), lines)
    })
}

/// The table as aligned text.
pub(crate) fn text(name: &str, rows: &RecordBatch) -> String {
    let mut lines = vec![String::new(); 1 + rows.num_rows().min(ROWS)];
    for (is_number, cells) in shown(rows, WIDTH) {
        let widths = cells.iter().map(|cell| cell.chars().count());
        let width = widths.max().unwrap_or_default();
        for (line, cell) in lines.iter_mut().zip(cells) {
            *line += &if is_number {
                format!("  {cell:>width$}")
            } else {
                format!("  {cell:width$}")
            };
        }
    }
    let trimmed = lines.iter().map(|line| line.trim_end());
    let caption = format!("<slotscope.Table {}>", caption(name, rows));
    std::iter::once(caption.as_str())
        .chain(trimmed)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The table as HTML.
pub(crate) fn html(name: &str, rows: &RecordBatch) -> String {
    let mut lines = vec![String::new(); 1 + rows.num_rows().min(ROWS)];
    for (is_number, cells) in shown(rows, HTML_WIDTH) {
        let side = if is_number { "right" } else { "left" };
        for (at, (line, cell)) in lines.iter_mut().zip(cells).enumerate() {
            let tag = if at == 0 { "th" } else { "td" };
            let cell = escaped(&cell);
            *line += &format!("<{tag} style=\"text-align:{side}\"><bdi>{cell}</bdi></{tag}>");
        }
    }
    let [head, body @ ..] = lines.as_slice() else {
        return String::new();
    };
    let body: String = body.iter().map(|row| format!("<tr>{row}</tr>")).collect();
    let caption = caption(name, rows);
    format!(
        "<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
}

/// `text` with HTML's special characters escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
