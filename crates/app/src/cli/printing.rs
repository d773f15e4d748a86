//! How a result is printed to standard output: as JSON, or as text to the width of the terminal, in colour if wanted.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_report::json;
use slotscope_report::output::Guard;
use slotscope_report::render::{csv, text};
use slotscope_report::view::{Section, Table};

use crate::options::headings::OUTPUT;

/// The suggested fix if a file not written by slotscope is in the way.
const OTHER_DIRECTORY: &str = "name another directory with --out";

/// The flags for the form of a result.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = OUTPUT)]
pub struct OutputArgs {
    /// One JSON object on standard output, in place of text
    #[arg(long)]
    pub json: bool,
}

/// The flags for the form of a result that is a table.
#[derive(Args, Debug, Clone, Copy, Default)]
#[command(next_help_heading = OUTPUT)]
pub struct TableArgs {
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// The numbers as one CSV table on standard output, in place of text
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

impl TableArgs {
    /// Prints `object` as JSON, its `table` as CSV, or its `sections` as text.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print<'a>(
        &self,
        object: &impl Serialize,
        rows: Rows<'_>,
        sections: impl FnOnce() -> Vec<Section<'a>>,
        table: impl FnOnce() -> Table<'a>,
    ) -> Result<()> {
        if self.csv {
            return print_lines(|out| csv::write(&table(), out));
        }
        self.output.print(object, rows, sections)
    }
}

/// The files that may be replaced in `--out DIR`.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct ReplaceArgs {
    /// Replace files that slotscope did not write, where an output has their name
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub force: bool,
}

impl ReplaceArgs {
    /// The guard of files in a directory, which are not among the inputs `read`.
    pub fn guard<'p>(self, read: impl IntoIterator<Item = &'p Path>) -> Guard {
        Guard::new(OTHER_DIRECTORY)
            .reading(read)
            .forced(self.force, ", or replace such files with --force")
    }
}

/// How long tables are.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Maximum rows of a table.
    pub most: usize,
    /// Where to find further rows, printed after "... and 12 more".
    pub rest: &'a str,
}

impl Rows<'static> {
    /// At most this many rows per table; all rows are in the JSON.
    pub fn or_json(most: usize) -> Self {
        Rows {
            most,
            rest: ", in --json",
        }
    }
}

impl OutputArgs {
    /// Prints `object` as JSON, or its `sections` as text.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print<'a>(
        &self,
        object: &impl Serialize,
        rows: Rows<'_>,
        sections: impl FnOnce() -> Vec<Section<'a>>,
    ) -> Result<()> {
        if self.json {
            return print_lines(|out| json::write_object(object, out));
        }
        let page = text::Page {
            width: width(),
            height: height(),
            whole_names: terminal_width().is_none(),
            rows: rows.most,
            rest: rows.rest,
        };
        let mut made = Vec::new();
        text::write(&sections(), page, &mut made).map_err(Error::stdout)?;
        let mut out = anstream::AutoStream::auto(io::stdout().lock());
        out.write_all(&made)
            .and_then(|()| out.flush())
            .map_err(Error::stdout)
    }
}

/// Writes to standard output through a buffer.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_lines(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(Error::stdout)
}

/// Terminal columns, else COLUMNS, else the default for files.
pub fn width() -> usize {
    terminal_width().unwrap_or(PIPE_WIDTH)
}

/// Terminal columns, else COLUMNS; `None` if a file or program reads the output.
fn terminal_width() -> Option<usize> {
    let wanted = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
    terminal.or_else(wanted)
}

/// The terminal lines available for a result: the line with the report's location and the next prompt follow.
fn height() -> Option<usize> {
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map(|(_, height)| usize::from(height.0).saturating_sub(BELOW))
}

/// Lines that follow a result.
const BELOW: usize = 4;

/// Text width if there is neither a terminal nor COLUMNS.
const PIPE_WIDTH: usize = 100;
