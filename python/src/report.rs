//! A report: its verdict, JSON, tables, HTML page and files.

use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping};
use slotscope::Summary;
use slotscope::output::Guard;
use slotscope::report::charts::{Chart, charts};
use slotscope::report::render::{html, text};
use slotscope::report::{self, json, view};

use crate::commands;
use crate::error::{bad, raised};
use crate::rows::escaped;
use crate::table::Table;

/// Limits for the output in a notebook: columns and rows.
const WIDTH: usize = 100;
const ROWS: usize = 10;

/// The result of an analysis. Its `repr` is the verdict in a sentence; a notebook shows the answer of the terminal.
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
        Ok(loads(py, self.to_json()?)?.cast_into()?)
    }

    /// report.json, which is parsed once.
    fn held<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        let parsed = || self.parsed(py).map(Bound::unbind);
        Ok(self.parsed.get_or_try_init(py, parsed)?.bind(py))
    }

    /// Says that there is no such part, and where members of that name are, or which parts there are.
    fn no_part(&self, part: &str) -> PyResult<String> {
        let whole = serde_json::to_value(&self.summary).map_err(raised)?;
        let (mut near, mut parts) = (Vec::new(), Vec::new());
        for (name, value) in whole.as_object().into_iter().flatten() {
            parts.push(name.as_str());
            if value.get(part).is_some() {
                near.push(format!("report[{name:?}][{part:?}]"));
            }
        }
        Ok(if near.is_empty() {
            format!("no part {part:?}; there are {}", parts.join(", "))
        } else {
            format!("no part {part:?}; is it {}?", near.join(" or "))
        })
    }

    /// Adds the name of the node that `row` is about.
    fn name_node(&self, row: &Bound<'_, PyDict>) -> PyResult<()> {
        let value = row.get_item("node")?;
        let id: Option<String> = value.and_then(|value| value.extract().ok());
        let mut nodes = self.summary.nodes.list.iter();
        let node = nodes.find(|node| id.as_ref() == Some(&node.id.to_string()));
        row.set_item("node_name", node.map(|node| node.label().to_string()))
    }

    fn part_of_verdict<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, "verdict")?.get_item(part)
    }
}

pub(crate) fn loads<'py>(py: Python<'py>, text: String) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (text,))
}

/// A page in a frame that can do nothing to the notebook around it.
#[pyclass(module = "slotscope", frozen)]
pub struct Page(String);

#[pymethods]
impl Page {
    fn _repr_html_(&self) -> String {
        let page = self.0.replace('&', "&amp;").replace('"', "&quot;");
        format!(
            "<iframe sandbox=\"allow-scripts\" style=\"width:100%;height:640px;border:0\" srcdoc=\"{page}\"></iframe>"
        )
    }
}

#[pymethods]
impl Report {
    /// The word of the first line: "HOT", "SKEWED", "BALANCED" ...
    #[getter]
    fn verdict(&self) -> &str {
        &self.summary.verdict.word
    }

    /// The state that the word stands for: "empty", "balanced", "unjudged", "watch", "skewed", "suspicious" (the dump is
    /// incomplete or damaged), "limit" or "down". docs/verdict.md describes them.
    #[getter]
    fn state(&self) -> &'static str {
        self.summary.verdict.state.name()
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
    /// Raises KeyError if the report does not have that part; it says where in the report that name is.
    fn __getitem__<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.held(py)?.get_item(part)?;
        value.map_or_else(|| Err(PyKeyError::new_err(self.no_part(part)?)), Ok)
    }

    fn __contains__(&self, py: Python<'_>, part: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.held(py)?.contains(part)
    }

    /// A part of report.json, or `default` if the report does not have it.
    #[pyo3(signature = (part, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        part: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.held(py)?.get_item(part)?.or(default))
    }

    /// The findings, most urgent first, as in report.json, with the names of their nodes.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = PyList::empty(py);
        for finding in self.part_of_verdict(py, "findings")?.try_iter()? {
            let finding = finding?.cast_into::<PyDict>()?.copy()?;
            self.name_node(&finding)?;
            findings.append(finding)?;
        }
        Ok(findings)
    }

    /// The steps in their order, as in report.json.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.part_of_verdict(py, "steps")
    }

    /// The causes of the excess of the fullest node, of memory and then of load, each with its role and metric.
    #[getter]
    fn causes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let causes = PyList::empty(py);
        for role in self.part_of_verdict(py, "roles")?.try_iter()? {
            let role = role?;
            for cause in role.get_item("causes")?.try_iter()? {
                let row = PyDict::new(py);
                row.set_item("role", role.get_item("role")?)?;
                row.set_item("metric", role.get_item("metric")?)?;
                row.update(cause?.cast::<PyMapping>()?)?;
                self.name_node(&row)?;
                causes.append(row)?;
            }
        }
        Ok(causes)
    }

    /// What changed from this report to `new`: the JSON of `slotscope diff --json`.
    #[pyo3(signature = (new, *, by=None))]
    fn diff<'py>(
        slf: PyRef<'py, Self>,
        new: PyRef<'py, Self>,
        by: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        loads(py, commands::diff(py, slf, new, by)?)
    }

    /// A chart as a PNG file: `png("nodes")`.
    ///
    /// Raises Error with the names of the charts of this report if it has no such chart.
    fn png<'py>(&self, py: Python<'py>, chart: &str) -> PyResult<Bound<'py, PyBytes>> {
        let name = |file: &'static str| file.trim_end_matches(".png");
        let wanted = charts().find(|wanted| name(wanted.file) == chart);
        let drawn = py.detach(|| {
            let sheet = wanted?.sheet(&self.summary)?;
            let mut out = Vec::new();
            Some(sheet.write(&mut out).map(|()| out))
        });
        let Some(drawn) = drawn else {
            let has = |chart: &Chart| chart.sheet(&self.summary).is_some();
            let known = charts().filter(has).map(|chart| name(chart.file));
            let known: Vec<_> = known.collect();
            let reason = format!("no chart {chart:?}; this report has {}", known.join(", "));
            return Err(bad("png", reason));
        };
        Ok(PyBytes::new(py, &drawn.map_err(raised)?))
    }

    /// The heaviest single keys by each weight that keys have; `by` names the list that a row is of.
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
            let files = report::outputs().open(&directory, guard)?;
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

    /// The page of the report, for a notebook.
    fn show(&self, py: Python<'_>) -> PyResult<Page> {
        self.to_html(py).map(Page)
    }

    /// The answer, as on a terminal.
    fn _repr_html_(&self) -> PyResult<String> {
        let page = text::Page {
            width: WIDTH,
            height: None,
            rows: ROWS,
            rest: "",
            whole_names: false,
        };
        let mut answer = Vec::new();
        text::write(&view::answer(&self.summary), page, &mut answer).map_err(raised)?;
        let coloured = String::from_utf8_lossy(&answer);
        let answer = anstream::adapter::strip_str(&coloured).to_string();
        Ok(format!(
            "<pre>{}\n\nreport.show() shows the whole page</pre>",
            escaped(answer.trim_end())
        ))
    }

    fn __repr__(&self) -> String {
        self.sentence()
    }
}
