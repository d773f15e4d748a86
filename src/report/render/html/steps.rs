//! What to do as a table: each step with its command to copy, and every role after it.

use askama::Template;

use crate::report::render::html::spell::sentence;
use crate::report::view;
use crate::report::view::steps::COMMAND;

/// The steps.
#[derive(Template)]
#[template(path = "steps.html", config = "src/report/render/html/askama.toml")]
pub struct Steps<'a> {
    heads: &'a [String],
    rows: Vec<Step<'a>>,
    left: Vec<String>,
}

/// A step.
struct Step<'a> {
    number: &'a str,
    /// Whether it is in place of the one above it.
    is_alternative: bool,
    what: String,
    ratios: &'a [Option<String>],
    /// The words of its command, each of which stays whole where a line ends.
    command: Vec<String>,
}

impl<'a> Steps<'a> {
    /// The steps of a report.
    pub fn of(table: &'a view::StepTable) -> Self {
        let words = |command: &String| command.split(' ').map(str::to_owned).collect();
        let shown = |command: &&String| command.len() <= COMMAND;
        let rows = table.rows.iter().map(|row| Step {
            number: row.number.as_deref().unwrap_or_default(),
            is_alternative: row.number.as_deref() == Some("or"),
            what: sentence(&row.what),
            ratios: &row.ratios,
            command: row.command.as_ref().filter(shown).map_or(Vec::new(), words),
        });
        Steps {
            heads: &table.heads,
            rows: rows.collect(),
            left: table.left.iter().map(|left| sentence(left)).collect(),
        }
    }
}
