//! Tables of a report as columns: those of the CSV files, with their names, as numbers and text.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, LargeStringArray, RecordBatch, UInt64Array};
use arrow_schema::ArrowError;
use slotscope::report::view::{self, Cell, Value};
use slotscope::summary::Summary;

/// Makes a table of a report.
type Make = fn(&Summary) -> view::Table<'_>;

/// The tables of a report by name.
pub(crate) const TABLES: &[(&str, Make)] = &[
    ("keys", view::keys::heaviest_table),
    ("nodes", view::nodes::table),
    ("patterns", view::patterns::patterns_table),
    ("prefixes", view::patterns::prefixes_table),
    ("slots", view::slots::table),
    ("tags", view::tags::table),
];

/// The columns of `table` that files have.
pub(crate) fn columns(table: &view::Table<'_>) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter_with_nullable(table.for_files().into_iter().map(|at| {
        let cells: Vec<&Cell<'_>> = table.rows.iter().map(|row| &row[at]).collect();
        let column = &table.columns[at];
        (column.field, values(&cells, column.is_number), true)
    }))
}

/// The values of a column. One without any is of counts where it holds numbers.
fn values(cells: &[&Cell<'_>], is_number: bool) -> ArrayRef {
    let known = || cells.iter().filter(|cell| cell.value != Value::None);
    if known().all(|cell| whole(cell).is_some()) && is_number {
        let values = cells.iter().map(|cell| whole(cell));
        return Arc::new(values.collect::<UInt64Array>());
    }
    if known().all(|cell| cell.is_number()) && is_number {
        let values = cells.iter().map(|cell| real(cell));
        return Arc::new(values.collect::<Float64Array>());
    }
    let is_known = |cell: &&&Cell<'_>| cell.value != Value::None;
    let values = cells
        .iter()
        .map(|cell| Some(cell).filter(is_known).map(|cell| cell.exact()));
    Arc::new(values.collect::<LargeStringArray>())
}

fn whole(cell: &Cell<'_>) -> Option<u64> {
    match cell.value {
        Value::Count(n) | Value::Number(n) | Value::AtMost(n) | Value::Amount(_, n) => Some(n),
        _ => None,
    }
}

fn real(cell: &Cell<'_>) -> Option<f64> {
    match cell.value {
        Value::Ratio(number, _) | Value::Change(number) | Value::Share(number) => Some(number),
        Value::SignedBytes(bytes) => Some(bytes as f64),
        _ => whole(cell).map(|number| number as f64),
    }
}
