//! A capacity review: its JSON, the parts of it, and its chart.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slotscope::cli::report_file;
use slotscope::name::Name;
use slotscope::output::Written;
use slotscope::report::render::json;
use slotscope::{Error, Summary};
use slotscope_history::capacity::Capacity as Reviewed;
use slotscope_history::capacity::outputs;
use slotscope_history::cli::capacity::CapacityArgs;

use crate::commands::flags;
use crate::error::{bad, raised};
use crate::report::{Report, loads};

/// What the shards of a cluster hold today, later and after growth. Its `repr` is the review in a sentence.
#[pyclass(module = "slotscope", frozen)]
pub struct Capacity(Reviewed);

/// The review of reports, each one of `analyze` or the path of a report.json.
#[pyfunction]
pub(crate) fn capacity(
    py: Python<'_>,
    reports: Vec<Bound<'_, PyAny>>,
    words: Vec<OsString>,
) -> PyResult<Capacity> {
    let mut held: Vec<Option<Summary>> = Vec::new();
    let mut paths: Vec<OsString> = Vec::new();
    for (at, report) in reports.iter().enumerate() {
        let summary = report.cast::<Report>().ok();
        paths.push(match &summary {
            Some(_) => format!("report {}", at + 1).into(),
            None => report.extract::<PathBuf>()?.into(),
        });
        held.push(summary.map(|report| report.get().summary.clone()));
    }
    let args: CapacityArgs = flags("capacity", words, paths)?;
    let read = |at: usize, path: &std::path::Path| match held.get(at) {
        Some(Some(summary)) => Ok((Name::from(path), summary.clone())),
        _ => report_file::read(path),
    };
    py.detach(|| args.review_of(read))
        .map(Capacity)
        .map_err(|error: Error| raised(error))
}

#[pymethods]
impl Capacity {
    /// The review in a sentence.
    #[getter]
    fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// How many shards it takes, in a sentence; None where nothing is known of that.
    #[getter]
    fn answer(&self) -> Option<&str> {
        self.0.answer.as_deref()
    }

    /// The shards of the newest report, each with what it holds of each metric.
    #[getter]
    fn shards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, "shards")
    }

    /// The cluster with other numbers of shards.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, "counts")
    }

    /// The heaviest hash tags.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, "tags")
    }

    /// The heaviest keys.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, "keys")
    }

    /// The JSON of `slotscope capacity --json` as text.
    fn to_json(&self) -> PyResult<String> {
        let mut text = Vec::new();
        json::write_object(&self.0, &mut text).map_err(raised)?;
        String::from_utf8(text).map_err(raised)
    }

    /// The same as a new dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        loads(py, self.to_json()?)
    }

    /// A part of it: `review["total"]`.
    fn __getitem__<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyAny>> {
        let whole = self.to_dict(py)?;
        let missing = |_| PyKeyError::new_err(format!("no part {part:?}"));
        whole.get_item(part).map_err(missing)
    }

    /// The shards over time with their limit, as a PNG file.
    ///
    /// Raises Error where the reports tell no growth.
    fn png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        let drawn = py.detach(|| outputs::png(&self.0, &mut out).map_err(raised))?;
        if drawn == Written::Whole {
            Ok(PyBytes::new(py, &out))
        } else {
            Err(bad(
                "png",
                "no chart: two reports of different days tell growth",
            ))
        }
    }

    fn __repr__(&self) -> &str {
        &self.0.sentence
    }
}
