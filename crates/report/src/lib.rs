//! The files and texts of a `Summary`. `view` has the tables, `render` the output formats. A file is a row of
//! `FILES`, a table or a figure a row of `view::SECTIONS`.
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

/// A file of a report.
struct File {
    name: &'static str,
    /// Its content, in a few words.
    about: &'static str,
    write: fn(&Summary, &mut dyn Write) -> io::Result<Written>,
}

/// All but the charts.
static FILES: [File; 8] = [
    File {
        name: "report.json",
        about: "all numbers, for scripts",
        write: |summary, out| json::write(summary, out).map(|()| Written::Whole),
    },
    File {
        name: "report.html",
        about: "the whole report as one self-contained page: problems, steps with their commands, a map of the slots",
        write: |summary, out| html::write(summary, out).map(|()| Written::Whole),
    },
    File {
        name: "slots.csv",
        about: "the slots; a metric that the input lacks is an empty cell in all tables",
        write: |summary, out| table(Some(view::slots::table(summary)), out),
    },
    File {
        name: "nodes.csv",
        about: "the primaries; `node` is the name of a node in all tables, and this one has its `node_id` too",
        write: |summary, out| table(Some(view::nodes::table(summary)), out),
    },
    File {
        name: "tags.csv",
        about: "the heaviest hash tags",
        write: |summary, out| {
            let tags = summary.tags.as_ref();
            table(tags.map(|_| view::tags::table(summary)), out)
        },
    },
    File {
        name: "keys.csv",
        about: "the 1,000 heaviest keys by bytes, and by each other weight that the input has; `by` names the list of a row",
        write: |summary, out| {
            let keys = Some(view::keys::table(summary));
            table(keys.filter(|keys| !keys.rows.is_empty()), out)
        },
    },
    File {
        name: "prefixes.csv",
        about: "prefixes of key names",
        write: |summary, out| {
            let patterns = summary.patterns.as_ref();
            let made = patterns.map(|_| view::patterns::prefixes_table(summary));
            table(made, out)
        },
    },
    File {
        name: "patterns.csv",
        about: "key names without their ids",
        write: |summary, out| {
            let patterns = summary.patterns.as_ref();
            let made = patterns.map(|_| view::patterns::patterns_table(summary));
            table(made, out)
        },
    },
];

/// The files of a report.
pub fn outputs() -> OutputSet<Summary> {
    let files = OutputSet::marked("\"schema\":\"slotscope.report/");
    let files = FILES
        .iter()
        .fold(files, |files, file| files.maybe(file.name, file.write));
    with_charts(files)
}

/// The names of all files, and what they hold.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = FILES.iter().map(|file| (file.name, file.about));
    #[cfg(feature = "charts")]
    let files = files.chain(charts::charts().map(|chart| (chart.file, chart.about)));
    files
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
    charts::charts().fold(files, |files, chart| {
        files.maybe(chart.file, move |summary, out| chart.write(summary, out))
    })
}

#[cfg(not(feature = "charts"))]
fn with_charts(files: OutputSet<Summary>) -> OutputSet<Summary> {
    files
}
