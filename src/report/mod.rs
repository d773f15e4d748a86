//! Stage 6, REPORT: a `Summary` comes in, files and terminal text go out. One file an output, one line in `OUTPUTS`.

pub mod chart;
pub mod csv;
pub mod directory;
pub mod fanout;
pub mod html;
pub mod json;
pub mod page;
pub mod terminal;
pub mod units;
pub mod whatif;

use std::io::{self, Write};

use crate::summary::Summary;
use directory::Written;

/// A file of the output directory.
pub struct Output {
    /// Its name.
    pub file: &'static str,
    /// Whether there is anything to put in it.
    pub wanted: fn(&Summary) -> bool,
    /// Writes it.
    pub write: fn(&Summary, &mut dyn Write) -> io::Result<()>,
}

/// Every file that a report has.
pub static OUTPUTS: &[Output] = &[
    Output { file: "report.html", wanted: always, write: html::write },
    Output { file: "report.json", wanted: always, write: json::write },
    Output { file: "slots.csv", wanted: always, write: csv::write_slots },
    Output { file: "nodes.csv", wanted: always, write: csv::write_nodes },
    Output { file: "tags.csv", wanted: with_tags, write: csv::write_tags },
    Output { file: "prefixes.csv", wanted: with_patterns, write: csv::write_prefixes },
    Output { file: "patterns.csv", wanted: with_patterns, write: csv::write_patterns },
    Output { file: "slot-heatmap.png", wanted: always, write: chart::heatmap::write },
    Output { file: "slot-load.png", wanted: always, write: chart::slot_load::write },
    Output { file: "nodes.png", wanted: always, write: chart::nodes::write },
    Output { file: "top-tags.png", wanted: with_tags, write: chart::top_tags::write },
    Output { file: "lorenz.png", wanted: always, write: chart::lorenz::write },
    Output { file: "slot-distribution.png", wanted: always, write: chart::distribution::write },
    Output { file: "tag-sizes.png", wanted: with_tag_sizes, write: chart::tag_sizes::write },
    Output { file: "key-lengths.png", wanted: with_lengths, write: chart::key_lengths::write },
    Output { file: "value-sizes.png", wanted: with_sizes, write: chart::value_sizes::write },
    Output { file: "prefixes.png", wanted: with_patterns, write: chart::prefixes::write },
];

/// The names of all files.
pub fn files() -> impl Iterator<Item = &'static str> {
    OUTPUTS.iter().map(|output| output.file)
}

/// Writes the file called `name`, if the report has something to put in it.
pub fn write(summary: &Summary, name: &str, out: &mut dyn Write) -> io::Result<Written> {
    match OUTPUTS.iter().find(|output| output.file == name && (output.wanted)(summary)) {
        Some(output) => (output.write)(summary, out).map(|()| Written::Whole),
        None => Ok(Written::Nothing),
    }
}

fn always(_: &Summary) -> bool {
    true
}

fn with_patterns(summary: &Summary) -> bool {
    summary.patterns.is_some()
}

fn with_tag_sizes(summary: &Summary) -> bool {
    summary.tag_sizes.is_some()
}

fn with_lengths(summary: &Summary) -> bool {
    summary.lengths.is_some()
}

fn with_sizes(summary: &Summary) -> bool {
    summary.sizes.is_some()
}

fn with_tags(summary: &Summary) -> bool {
    summary.tags.is_some()
}
