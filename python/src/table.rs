//! Tables of a report as columns: those of the CSV files, with their names, as numbers and text. Other packages read
//! them through the Arrow interface; a package is imported only when a method needs it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList};
use slotscope::report::view::{self, Cell, Value};
use slotscope::summary::Summary;

use crate::arrow;
use crate::error::{bad, raised};
use crate::rows;

/// Makes a table of a report.
type Make = fn(&Summary) -> view::Table<'_>;

/// The tables of a report by name.
const TABLES: &[(&str, Make)] = &[
    ("keys", view::keys::table),
    ("nodes", view::nodes::table),
    ("patterns", view::patterns::patterns_table),
    ("prefixes", view::patterns::prefixes_table),
    ("slots", view::slots::table),
    ("tags", view::tags::table),
];

/// A table of a report. Whatever reads Arrow streams takes it: `polars.DataFrame(table)`, `pyarrow.table(table)`,
/// `pandas.DataFrame(table)`, or DuckDB by the name of the variable.
#[pyclass(module = "slotscope", frozen)]
pub struct Table {
    name: &'static str,
    rows: RecordBatch,
}

impl Table {
    /// The table `name` of a report.
    pub(crate) fn new(name: &str, summary: &Summary) -> PyResult<Self> {
        let known = TABLES.iter().find(|(known, _)| *known == name);
        let (name, make) =
            known.ok_or_else(|| bad("table", format!("no table is called {name}")))?;
        let rows = columns(&make(summary)).map_err(raised)?;
        Ok(Table { name, rows })
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let fields = self.rows.schema_ref().fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.rows.num_rows()
    }

    /// The rows, each as a dict: `pandas.DataFrame(table)` takes them.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let rows = PyList::empty(py);
        for row in 0..self.rows.num_rows() {
            let cells = PyDict::new(py);
            for (field, column) in self
                .rows
                .schema_ref()
                .fields()
                .iter()
                .zip(self.rows.columns())
            {
                cells.set_item(field.name(), cell(py, column, row)?)?;
            }
            rows.append(cells)?;
        }
        rows.try_iter()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A requested type is only a wish, which the interface allows producers to ignore.
        drop(requested_schema);
        arrow::stream(py, &self.rows)
    }

    /// The table as a pandas DataFrame. It needs pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        // pyarrow by itself would only report that pandas is missing.
        package(slf.py(), "pandas", "to_pandas")?;
        let pyarrow = package(slf.py(), "pyarrow", "to_pandas")?;
        pyarrow
            .call_method1("table", (slf,))?
            .call_method0("to_pandas")
    }

    /// The table as a polars DataFrame. It needs polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        package(slf.py(), "polars", "to_polars")?.call_method1("DataFrame", (slf,))
    }

    /// The table as a pyarrow Table. It needs pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        package(slf.py(), "pyarrow", "to_arrow")?.call_method1("table", (slf,))
    }

    fn __repr__(&self) -> String {
        rows::text(self.name, &self.rows)
    }

    fn _repr_html_(&self) -> String {
        rows::html(self.name, &self.rows)
    }
}

/// A cell of a table; None if it is not known.
fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column.data_type() {
        _ if column.is_null(row) => py.None().into_bound(py),
        DataType::Int64 => {
            let value = column.as_primitive::<Int64Type>().value(row);
            value.into_pyobject(py)?.into_any()
        }
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            value.into_pyobject(py)?.into_any()
        }
        _ => column
            .as_string::<i64>()
            .value(row)
            .into_pyobject(py)?
            .into_any(),
    })
}

/// The package `name`, which the method `wanted_by` needs.
fn package<'py>(py: Python<'py>, name: &str, wanted_by: &str) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(|error| {
        if !error.is_instance_of::<PyImportError>(py) {
            return error;
        }
        let message = format!("{wanted_by} needs {name}: pip install {name}");
        let missing = PyImportError::new_err(message);
        missing.set_cause(py, Some(error));
        missing
    })
}

/// The columns of `table` that the files have.
fn columns(table: &view::Table<'_>) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter_with_nullable(table.for_files().into_iter().map(|at| {
        let cells: Vec<&Cell<'_>> = table.rows.iter().map(|row| &row[at]).collect();
        let column = &table.columns[at];
        (column.field, values(&cells, column.is_number), true)
    }))
}

/// The values of a column. A numeric column without values has counts.
fn values(cells: &[&Cell<'_>], is_number: bool) -> ArrayRef {
    let known = || cells.iter().filter(|cell| cell.value != Value::None);
    if known().all(|cell| whole(cell).is_some()) && is_number {
        let values = cells.iter().map(|cell| whole(cell));
        return Arc::new(values.collect::<Int64Array>());
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

/// A count; signed, so that a negative difference does not wrap.
fn whole(cell: &Cell<'_>) -> Option<i64> {
    match cell.value {
        Value::Count(n) | Value::Number(n) | Value::AtMost(n) | Value::Amount(_, n) => {
            Some(i64::try_from(n).unwrap_or(i64::MAX))
        }
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
