//! A report: its verdict, its JSON, its tables, its page and its files.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use slotscope::Summary;
use slotscope::output::Guard;
use slotscope::report::render::html;
use slotscope::report::{self, ChartSet, json};

use crate::error::raised;
use crate::table::Table;

/// What an analysis found. Its `repr` is the verdict in a sentence; in a notebook it is the whole page.
#[pyclass(module = "slotscope", frozen)]
pub struct Report {
    pub summary: Summary,
    parsed: PyOnceLock<Py<PyDict>>,
}

impl Report {
    pub fn new(summary: Summary) -> Self {
        Report {
            summary,
            parsed: PyOnceLock::new(),
        }
    }

    fn parsed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let text = self.to_json()?;
        Ok(py
            .import("json")?
            .call_method1("loads", (text,))?
            .cast_into()?)
    }
}

#[pymethods]
impl Report {
    /// The verdict in a word: "balanced", "watch", "skewed", "suspicious" (the dump is incomplete or damaged) or "empty".
    #[getter]
    fn verdict(&self) -> PyResult<String> {
        let word = serde_json::to_value(self.summary.verdict.state).map_err(raised)?;
        Ok(word.as_str().unwrap_or_default().to_owned())
    }

    /// The verdict in a sentence.
    #[getter]
    fn sentence(&self) -> String {
        self.summary.verdict.sentence.to_string()
    }

    /// report.json as text: one line; names of keys and tags in C escapes.
    fn to_json(&self) -> PyResult<String> {
        let mut text = Vec::new();
        json::write(&self.summary, &mut text).map_err(raised)?;
        String::from_utf8(text).map_err(raised)
    }

    /// report.json as a new dict; docs/schema describes it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.parsed(py)
    }

    /// A part of report.json: `report["nodes"]`.
    ///
    /// Raises KeyError if the report does not have that part.
    fn __getitem__<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyAny>> {
        let parsed = self
            .parsed
            .get_or_try_init(py, || self.parsed(py).map(Bound::unbind))?;
        parsed.bind(py).as_any().get_item(part)
    }

    /// The heaviest single keys: key, slot, node, weights, share. Empty where keys have no weights.
    #[getter]
    fn keys(&self) -> PyResult<Table> {
        Table::new("keys", &self.summary)
    }

    /// The nodes: node, address, slots, and their load (keys, and bytes, ops, accesses where the input carries them).
    #[getter]
    fn nodes(&self) -> PyResult<Table> {
        Table::new("nodes", &self.summary)
    }

    /// Patterns of key names, such as `user:<n>`: name, load, share (0 to 1), share in tags, slots.
    #[getter]
    fn patterns(&self) -> PyResult<Table> {
        Table::new("patterns", &self.summary)
    }

    /// What key names begin with, level by level; columns as of `patterns`.
    #[getter]
    fn prefixes(&self) -> PyResult<Table> {
        Table::new("prefixes", &self.summary)
    }

    /// All 16384 slots: slot, node, and their load.
    #[getter]
    fn slots(&self) -> PyResult<Table> {
        Table::new("slots", &self.summary)
    }

    /// The heaviest hash tags: tag, slot, node, load, share (0 to 1).
    #[getter]
    fn tags(&self) -> PyResult<Table> {
        Table::new("tags", &self.summary)
    }

    /// Writes report.json, report.html, the charts (png) and the tables (csv) into a directory, which is made.
    ///
    /// Raises Error where a file there is not one of slotscope; with `force` such files are replaced.
    #[pyo3(signature = (directory, *, force=false))]
    fn save(&self, py: Python<'_>, directory: PathBuf, force: bool) -> PyResult<()> {
        let guard = Guard::new("name another directory")
            .forced(force, ", or replace such files with force=True");
        py.detach(|| {
            let files = report::outputs(ChartSet::Usual).open(&directory, guard)?;
            files.publish(&self.summary)
        })
        .map_err(raised)
    }

    /// The page of the report: one HTML document that loads nothing.
    fn to_html(&self, py: Python<'_>) -> PyResult<String> {
        let mut page = Vec::new();
        py.detach(|| html::write(&self.summary, &mut page))
            .map_err(raised)?;
        String::from_utf8(page).map_err(raised)
    }

    /// The page in a frame that can do nothing to the notebook around it.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = self
            .to_html(py)?
            .replace('&', "&amp;")
            .replace('"', "&quot;");
        Ok(format!(
            "<iframe sandbox=\"allow-scripts\" style=\"width:100%;height:640px;border:0\" srcdoc=\"{page}\"></iframe>"
        ))
    }

    fn __repr__(&self) -> String {
        self.sentence()
    }
}
