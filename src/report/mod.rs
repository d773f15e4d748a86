//! Stage 6, REPORT: the files and texts of a `Summary`. `view` has the tables, `render` the forms that they are written
//! in. An output is a file and a row of `OUTPUTS`, a chart a file and a row of `CHARTS`, a table a file and a row of
//! `view::SECTIONS`.

#[cfg(feature = "charts")]
pub mod charts;
pub mod directory;
mod palette;
pub mod render;
pub mod view;
mod wording;

use std::io::{self, Write};
use std::path::Path;

use crate::report::directory::{Mark, Written};
pub use crate::report::render::json;
use crate::report::render::{csv, html};
use crate::summary::Summary;

/// A file of the output directory.
pub struct Output {
    /// Its name.
    pub file: &'static str,
    /// Whether there is anything to put in it.
    pub wanted: fn(&Summary) -> bool,
    /// Writes it.
    pub write: fn(&Summary, &mut dyn Write) -> io::Result<()>,
}

const MARK_FILE: &str = "report.json";

/// How the directory of a report is recognised.
pub const MARK: Mark = Mark {
    file: Some(MARK_FILE),
    text: "\"schema\":\"slotscope.report/",
};

/// Whether a directory holds a report.
pub fn is_in(directory: &Path) -> bool {
    MARK.is_in(&directory.join(MARK_FILE))
}

/// Every file that a report has, besides `CHARTS`.
pub static OUTPUTS: &[Output] = &[
    // Shows whose the directory is, so it comes first.
    Output {
        file: MARK_FILE,
        wanted: always,
        write: json::write,
    },
    Output {
        file: "report.html",
        wanted: always,
        write: html::write,
    },
    Output {
        file: "slots.csv",
        wanted: always,
        write: |summary, out| csv::write(&view::slots::table(summary), out),
    },
    Output {
        file: "nodes.csv",
        wanted: always,
        write: |summary, out| csv::write(&view::nodes::table(summary), out),
    },
    Output {
        file: "tags.csv",
        wanted: with_tags,
        write: |summary, out| csv::write(&view::tags::table(summary), out),
    },
    Output {
        file: "prefixes.csv",
        wanted: with_patterns,
        write: |summary, out| csv::write(&view::patterns::prefixes_table(summary), out),
    },
    Output {
        file: "patterns.csv",
        wanted: with_patterns,
        write: |summary, out| csv::write(&view::patterns::patterns_table(summary), out),
    },
];

/// The names of all files.
pub fn files() -> impl Iterator<Item = &'static str> {
    let outputs = OUTPUTS.iter().map(|output| output.file);
    outputs.chain(charts::files())
}

/// Which charts a report has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ChartSet {
    /// Those that say more than a sentence
    #[default]
    Usual,
    /// All, with Lorenz curves and charts of a single bar
    All,
}

/// Writes the file called `name`, if the report has something to put in it; of the charts those in `set`.
pub fn write(
    summary: &Summary,
    set: ChartSet,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<Written> {
    let Some(output) = OUTPUTS.iter().find(|output| output.file == name) else {
        return charts::write(summary, set, name, out);
    };
    if !(output.wanted)(summary) {
        return Ok(Written::Nothing);
    }
    (output.write)(summary, out).map(|()| Written::Whole)
}

/// No charts without the feature.
#[cfg(not(feature = "charts"))]
mod charts {
    use std::io::{self, Write};

    use crate::report::ChartSet;
    use crate::report::directory::Written;
    use crate::summary::Summary;

    pub fn files() -> impl Iterator<Item = &'static str> {
        std::iter::empty()
    }

    pub fn write(_: &Summary, _: ChartSet, _: &str, _: &mut dyn Write) -> io::Result<Written> {
        Ok(Written::Nothing)
    }
}

fn always(_: &Summary) -> bool {
    true
}

fn with_patterns(summary: &Summary) -> bool {
    summary.patterns.is_some()
}

fn with_tags(summary: &Summary) -> bool {
    summary.tags.is_some()
}
