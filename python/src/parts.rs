//! Counting in parts: bytes in, bytes out, so that any engine can transport them.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slotscope::Result;
use slotscope::cli::analyze::AnalyzeArgs;
use slotscope::partial::{self, Plan, Split};
use slotscope::pipeline::reading::Options;
use slotscope::slot::policy::Policy;

use crate::commands::{Inputs, Reads, run};
use crate::error::{bad, raised};
use crate::report::Report;
use crate::work::interruptible;

/// The plan of the inputs, and its splits of about `bytes` bytes as JSON.
#[pyfunction]
pub(crate) fn plan_splits<'py>(
    py: Python<'py>,
    inputs: Inputs<'_>,
    words: Vec<OsString>,
    bytes: u64,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    if inputs.has_objects() {
        return Err(bad(
            "inputs",
            "parts are counted by other processes, so inputs are paths and URLs",
        ));
    }
    let planned = run(py, inputs, words, |args: &AnalyzeArgs| {
        let plan = args.plan()?;
        Ok((plan.to_bytes(), plan.splits(bytes)))
    });
    let (plan, splits) = planned?;
    let splits = serde_json::to_string(&splits).map_err(raised)?;
    Ok((PyBytes::new(py, &plan), splits))
}

/// Counts splits of a plan: a tally file.
#[pyfunction]
pub(crate) fn tally<'py>(
    py: Python<'py>,
    plan: Vec<u8>,
    splits: &str,
    words: Vec<OsString>,
) -> PyResult<Bound<'py, PyBytes>> {
    counted(py, splits, words, |splits, options| {
        partial::tally(&Plan::from_bytes(&plan)?, splits, options)
    })
}

/// Merges tally files, or recount files.
#[pyfunction]
#[pyo3(signature = (files, /))]
pub(crate) fn merge(py: Python<'_>, files: Vec<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| partial::merge(&files)).map_err(raised)?;
    Ok(PyBytes::new(py, &merged))
}

/// Whether a report of this merged tally file needs a second pass.
///
/// Raises Error if it is not a merged tally file, or a part is missing.
#[pyfunction]
#[pyo3(signature = (tally, /))]
pub(crate) fn needs_recount(py: Python<'_>, tally: Vec<u8>) -> PyResult<bool> {
    py.detach(|| partial::needs_recount(&tally)).map_err(raised)
}

/// Counts the names that a merged tally file asks for, in splits of its plan: a recount file.
#[pyfunction]
pub(crate) fn recount<'py>(
    py: Python<'py>,
    tally: Vec<u8>,
    splits: &str,
    words: Vec<OsString>,
) -> PyResult<Bound<'py, PyBytes>> {
    counted(py, splits, words, |splits, options| {
        partial::recount(&tally, splits, options)
    })
}

/// The report of a merged tally file and recount files.
#[pyfunction]
pub(crate) fn report_from_parts(
    py: Python<'_>,
    tally: Vec<u8>,
    again: Vec<Vec<u8>>,
    words: Vec<OsString>,
) -> PyResult<Report> {
    let args = AnalyzeArgs::of(words, Vec::new())?;
    let summary = py.detach(|| args.summary_of(&tally, &again));
    summary.map(Report::new).map_err(raised)
}

/// The file that `count` makes of splits.
fn counted<'py>(
    py: Python<'py>,
    splits: &str,
    words: Vec<OsString>,
    count: impl FnOnce(&[Split], &Options) -> Result<Vec<u8>> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let splits: Vec<Split> = serde_json::from_str(splits)
        .map_err(|error| bad("splits", format!("not those of plan_splits: {error}")))?;
    let args = AnalyzeArgs::of(words, Vec::new())?;
    let file = interruptible(py, |hook| {
        let mut options = args.reading.options(Policy::Oss)?;
        options.on_progress = Some(hook);
        count(&splits, &options)
    });
    Ok(PyBytes::new(py, &file?))
}
