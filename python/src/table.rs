//! Tables of a report as columns: those of the CSV files, with their names, as numbers and text.

use slotscope::report::view::{self, Cell, Value};
use slotscope::summary::Summary;

use crate::arrow::{Column, Columns, Values};

/// Makes a table of a report.
type Make = fn(&Summary) -> view::Table<'_>;

/// The tables of a report by name.
pub const TABLES: &[(&str, Make)] = &[
    ("keys", view::keys::heaviest_table),
    ("nodes", view::nodes::table),
    ("patterns", view::patterns::patterns_table),
    ("prefixes", view::patterns::prefixes_table),
    ("slots", view::slots::table),
    ("tags", view::tags::table),
];

/// The columns of `table` that files have.
pub fn columns(table: &view::Table<'_>) -> Columns {
    let columns = table.for_files().into_iter().map(|at| {
        let cells: Vec<&Cell<'_>> = table.rows.iter().map(|row| &row[at]).collect();
        Column {
            name: table.columns[at].field,
            values: values(&cells, table.columns[at].is_number),
            nulls: nulls(&cells),
        }
    });
    Columns {
        len: table.rows.len(),
        columns: columns.collect(),
    }
}

/// The values of a column. One without any is of counts where it holds numbers.
fn values(cells: &[&Cell<'_>], is_number: bool) -> Values {
    let known = || cells.iter().filter(|cell| cell.value != Value::None);
    if known().all(|cell| whole(cell).is_some()) && is_number {
        return Values::U64(cells.iter().map(|cell| whole(cell).unwrap_or(0)).collect());
    }
    if known().all(|cell| cell.is_number()) && is_number {
        return Values::F64(cells.iter().map(|cell| real(cell)).collect());
    }
    let (mut offsets, mut text) = (vec![0], Vec::new());
    for cell in cells {
        text.extend_from_slice(cell.exact().as_bytes());
        offsets.push(text.len() as i64);
    }
    Values::Text(offsets, text)
}

fn whole(cell: &Cell<'_>) -> Option<u64> {
    match cell.value {
        Value::Count(n) | Value::Number(n) | Value::AtMost(n) | Value::Amount(_, n) => Some(n),
        _ => None,
    }
}

fn real(cell: &Cell<'_>) -> f64 {
    match cell.value {
        Value::Ratio(number, _) | Value::Change(number) | Value::Share(number) => number,
        Value::SignedBytes(bytes) => bytes as f64,
        _ => whole(cell).map_or(0.0, |number| number as f64),
    }
}

fn nulls(cells: &[&Cell<'_>]) -> Option<(Vec<u8>, usize)> {
    let is_null = |cell: &&&Cell<'_>| cell.value == Value::None;
    let count = cells.iter().filter(is_null).count();
    let bits = cells.chunks(8).map(|cells| {
        let bits = cells.iter().enumerate();
        bits.fold(0, |bits, (i, cell)| bits | u8::from(!is_null(&cell)) << i)
    });
    (count > 0).then(|| (bits.collect(), count))
}
