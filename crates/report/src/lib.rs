//! The files and texts of a `Summary`. `view` has the tables, `render` the output formats. A file is a row of
//! `outputs`, a chart a file and a row of `CHARTS`, a table a file and a row of `view::SECTIONS`.
#![deny(missing_docs)]

#[cfg(feature = "charts")]
#[doc(hidden)]
pub mod charts;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod palette;
#[doc(hidden)]
pub mod plot;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod view;

use std::io::{self, Write};
use std::path::Path;

use slotscope_model::Summary;

use crate::output::{OutputSet, Written};
pub use crate::render::json;
use crate::render::{csv, html};
use crate::view::Table;

/// The files of a report.
pub fn outputs() -> OutputSet<Summary> {
    let files = OutputSet::marked("\"schema\":\"slotscope.report/")
        .file("report.json", json::write)
        .file("report.html", html::write)
        .file("slots.csv", |summary, out| {
            csv::write(&view::slots::table(summary), out)
        })
        .file("nodes.csv", |summary, out| {
            csv::write(&view::nodes::table(summary), out)
        })
        .maybe("tags.csv", |summary, out| {
            let tags = summary.tags.as_ref();
            table(tags.map(|_| view::tags::table(summary)), out)
        })
        .maybe("keys.csv", |summary, out| {
            let keys = Some(view::keys::table(summary));
            table(keys.filter(|keys| !keys.rows.is_empty()), out)
        })
        .maybe("prefixes.csv", |summary, out| {
            let patterns = summary.patterns.as_ref();
            table(
                patterns.map(|_| view::patterns::prefixes_table(summary)),
                out,
            )
        })
        .maybe("patterns.csv", |summary, out| {
            let patterns = summary.patterns.as_ref();
            table(
                patterns.map(|_| view::patterns::patterns_table(summary)),
                out,
            )
        });
    with_charts(files)
}

/// The names of all files.
pub fn files() -> impl Iterator<Item = &'static str> {
    let files: Vec<_> = outputs().files().collect();
    files.into_iter()
}

/// Whether a directory contains a report.
pub fn is_in(directory: &Path) -> bool {
    outputs().mark().is_of(directory)
}

fn table(table: Option<Table<'_>>, out: &mut dyn Write) -> io::Result<Written> {
    match table {
        Some(table) => csv::write(&table, out).map(|()| Written::Whole),
        None => Ok(Written::Nothing),
    }
}

#[cfg(feature = "charts")]
fn with_charts(files: OutputSet<Summary>) -> OutputSet<Summary> {
    charts::CHARTS.iter().fold(files, |files, chart| {
        files.maybe(chart.file, move |summary, out| {
            charts::write((chart.sheet)(summary), out)
        })
    })
}

#[cfg(not(feature = "charts"))]
fn with_charts(files: OutputSet<Summary>) -> OutputSet<Summary> {
    files
}
