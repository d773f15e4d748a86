//! The program's commands as functions: command line arguments in, results out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;

use pyo3::prelude::*;
use serde::Serialize;
use slotscope::cli::analyze::AnalyzeArgs;
use slotscope::cli::plan::PlanArgs;
use slotscope::cli::reading::ReadingArgs;
use slotscope::cli::whatif::WhatIfArgs;
use slotscope::cli::{self, Args, report_file};
use slotscope::metric::Metric;
use slotscope::name::Name;
use slotscope::output::abandon;
use slotscope::{Error, Result, Summary};
use slotscope_history::diff::Diff;
use slotscope_history::diff::report::Report as Compared;
use slotscope_names::cli::advise::AdviseArgs;

use crate::amounts::Amounts;
use crate::error::{bad, raised};
use crate::inputs::{self, Raised};
use crate::report::Report;
use crate::work;

/// The inputs given in Python.
#[derive(FromPyObject)]
pub(crate) struct Inputs<'py> {
    /// Paths and URLs.
    #[pyo3(item)]
    paths: Vec<OsString>,
    /// File objects.
    #[pyo3(item)]
    files: Vec<Bound<'py, PyAny>>,
    /// Keys.
    #[pyo3(item)]
    keys: Option<Bound<'py, PyAny>>,
    /// Their amounts: the column in CSV, the name of the column that the user has, and its values.
    #[pyo3(item)]
    amounts: Vec<(String, String, Bound<'py, PyAny>)>,
}

impl Inputs<'_> {
    /// Whether any of them is a Python object.
    pub(crate) fn has_objects(&self) -> bool {
        !self.files.is_empty() || self.keys.is_some()
    }
}

/// The words of a command line: the command `name` with the arguments `words` on `paths`.
fn line(name: &str, words: Vec<OsString>, paths: Vec<OsString>) -> Vec<OsString> {
    let words = ["slotscope".into(), name.into()].into_iter().chain(words);
    if paths.is_empty() {
        words.collect()
    } else {
        words.chain(["--".into()]).chain(paths).collect()
    }
}

/// The flags of the command `name` with the arguments `words` on `paths`.
pub(crate) fn flags<A: Args>(
    name: &str,
    words: Vec<OsString>,
    paths: Vec<OsString>,
) -> PyResult<A> {
    flags_in(&line(name, words, paths))
}

fn flags_in<A: Args>(line: &[OsString]) -> PyResult<A> {
    cli::flags(line).map_err(|error| {
        let message = error.render().to_string();
        let first = message.lines().next().unwrap_or_default();
        let line = first.strip_prefix("error: ").unwrap_or(first);
        let mut rest = message.lines().map(str::trim);
        let values = rest.find(|line| line.starts_with("[possible values: "));
        raised(values.map_or(line.into(), |values| format!("{line} {values}")))
    })
}

/// Flags of a command that reads dumps.
pub(crate) trait Reads: Args + Send {
    /// The name of the command.
    const NAME: &str;

    /// How they are read.
    fn reading(&mut self) -> &mut ReadingArgs;

    /// The flags in `words`, which they keep, for `paths`.
    fn of(words: Vec<OsString>, paths: Vec<OsString>) -> PyResult<Self> {
        let line = line(Self::NAME, words, paths);
        let mut args: Self = flags_in(&line)?;
        args.reading().overrides.words = line;
        Ok(args)
    }
}

/// The commands that read dumps.
macro_rules! reads {
    ($($name:literal: $args:ty,)*) => {
        $(impl Reads for $args {
            const NAME: &str = $name;

            fn reading(&mut self) -> &mut ReadingArgs {
                &mut self.reading
            }
        })*
    };
}

reads! {
    "analyze": AnalyzeArgs,
    "plan": PlanArgs,
    "whatif": WhatIfArgs,
    "advise": AdviseArgs,
}

/// Runs `work` on the flags of a command, with the inputs filled in.
pub(crate) fn run<A: Reads, T: Send>(
    py: Python<'_>,
    inputs: Inputs<'_>,
    mut words: Vec<OsString>,
    work: impl FnOnce(&A) -> Result<T> + Send,
) -> PyResult<T> {
    let raised = Raised::default();
    let mut sources = Vec::new();
    for file in &inputs.files {
        sources.push(inputs::file(file, &raised)?);
    }
    if let Some(keys) = &inputs.keys {
        if !inputs.paths.is_empty() || !sources.is_empty() {
            return Err(bad("keys", "next to other inputs; give one or the other"));
        }
        let read = |(role, name, column)| Ok((role, Amounts::of(name, &column)?));
        let amounts: Vec<_> = inputs
            .amounts
            .into_iter()
            .map(read)
            .collect::<PyResult<_>>()?;
        let format = if amounts.is_empty() {
            &["--format=resp"][..]
        } else {
            &["--format=csv", "--escapes=none"]
        };
        words.extend(format.iter().map(OsString::from));
        sources.push(inputs::keys(keys, amounts, &raised)?);
    }
    words.push("--progress=never".into());
    let mut args = A::of(words, inputs.paths)?;
    let result = work::interruptible(py, |hook| {
        let given = &mut args.reading().overrides;
        (given.sources, given.on_progress) = (sources, Some(hook));
        work(&args)
    });
    raised.check()?;
    result
}

fn json_of(object: &impl Serialize) -> Result<String> {
    serde_json::to_string(object).map_err(|error| Error::bad("JSON", error.to_string()))
}

/// A report of the inputs.
#[pyfunction]
pub(crate) fn analyze(
    py: Python<'_>,
    inputs: Inputs<'_>,
    words: Vec<OsString>,
) -> PyResult<Report> {
    let are_keys = inputs.keys.is_some();
    let mut summary = run(py, inputs, words, AnalyzeArgs::summary)?;
    if are_keys {
        // The form that they are handed over in is nobody's.
        let files = summary.input.files.iter_mut();
        files.for_each(|file| file.format = "memory".into());
    }
    Ok(Report::new(summary))
}

/// The result of plan, whatif or advise for the inputs, as JSON.
#[pyfunction]
pub(crate) fn findings(
    py: Python<'_>,
    name: &str,
    inputs: Inputs<'_>,
    words: Vec<OsString>,
) -> PyResult<String> {
    match name {
        PlanArgs::NAME => run(py, inputs, words, |args: &PlanArgs| {
            json_of(&args.outcome()?)
        }),
        WhatIfArgs::NAME => run(py, inputs, words, |args: &WhatIfArgs| {
            json_of(&args.findings()?)
        }),
        AdviseArgs::NAME => run(py, inputs, words, |args: &AdviseArgs| {
            json_of(&args.findings()?)
        }),
        _ => Err(raised(Error::bad(name, "no such command"))),
    }
}

/// What changed between two reports, as JSON.
#[pyfunction]
#[pyo3(signature = (old, new, by=None))]
pub(crate) fn diff(
    py: Python<'_>,
    old: PyRef<'_, Report>,
    new: PyRef<'_, Report>,
    by: Option<&str>,
) -> PyResult<String> {
    let asked = by.map(|name| {
        let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name);
        metric.ok_or_else(|| bad("by", "name keys, bytes, ops or accesses"))
    });
    let metric = asked.transpose()?;
    let (old, new) = (&old.summary, &new.summary);
    let diff = py.detach(|| {
        let compared = |name, summary: &Summary| Compared::new(Name::from(name), summary.clone());
        json_of(&Diff::of(
            &compared("old", old)?,
            &compared("new", new)?,
            metric,
        )?)
    });
    diff.map_err(raised)
}

/// The report in a report.json, or in the directory that has one.
///
/// Raises Error where there is none, or one of a version that cannot be read.
#[pyfunction]
#[pyo3(signature = (path, /))]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Report> {
    let read = py.detach(|| report_file::read(&path));
    read.map(|(_, summary)| Report::new(summary))
        .map_err(raised)
}

/// Runs the program on the words of a command line and returns its exit code. The exception of a signal handler ends it,
/// and removes what is half-written.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    let caller = thread::current();
    let program = thread::spawn(move || {
        let code = cli::run(words);
        caller.unpark();
        code
    });
    if let Err(signalled) = work::until(py, || program.is_finished()) {
        abandon(true);
        return Err(signalled);
    }
    program.join().map_err(|_| raised("the program panicked"))
}
