//! `slotscope diff OLD NEW`: two report.json come in; what changed goes out, for people or as JSON.

mod schema;
mod text;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::Ending;
use super::limits::Limit;
use crate::advice::diff;
use crate::advice::diff::report::Report;
use crate::error::{Error, Result};
use crate::name::Name;
use crate::report::json;

/// Longer than any report.json: one of all metrics and full lists has 3 MiB.
const MAX_REPORT_BYTES: u64 = 64 << 20;

/// What grew and what got hot between two reports.
#[derive(Args, Debug)]
pub struct Diff {
    /// The report.json before
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// The report.json after, by the same metric
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// One JSON object with all of it in place of the text
    #[arg(long)]
    pub json: bool,
    /// Limits on the numbers of the diff's JSON.
    #[arg(
        long,
        value_name = "PATH OP NUMBER",
        help = "Exit with 1 where a number of the diff's JSON crosses a limit; may be repeated: \
            'totals.keys.ratio > 1.5', 'tags.grew[*].at_least > 100000'. A list without rows crosses none"
    )]
    pub fail_on: Vec<String>,
}

impl Diff {
    /// Reads both, compares and prints.
    ///
    /// # Errors
    /// A report or a limit that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        let limits = self.limits()?;
        let diff = diff::Diff::of(&read(&self.old)?, &read(&self.new)?)?;
        self.print(&diff).map_err(Error::stdout)?;
        match crossed(&limits, &diff)? {
            true => Ok(Ending::Crossed),
            false => Ok(Ending::Done),
        }
    }

    fn limits(&self) -> Result<Vec<Limit>> {
        if self.fail_on.is_empty() {
            return Ok(Vec::new());
        }
        let schema = schema::whole_diff()?;
        self.fail_on.iter().map(|text| Limit::parse(text, &schema)).collect()
    }

    fn print(&self, diff: &diff::Diff) -> io::Result<()> {
        if self.json {
            let mut out = io::BufWriter::new(io::stdout().lock());
            json::write_object(diff, &mut out)?;
            return out.flush();
        }
        let mut lines = Vec::new();
        text::write(diff, self.top, &mut lines)?;
        let mut out = anstream::AutoStream::auto(io::stdout().lock());
        out.write_all(&lines)?;
        out.flush()
    }
}

/// The report that a file holds.
fn read(path: &Path) -> Result<Report> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let mut bytes = Vec::new();
    file.take(MAX_REPORT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
    if bytes.len() as u64 > MAX_REPORT_BYTES {
        return Err(Error::bad(Name::from(path).to_string(), "more than 64 MiB: no report.json of analyze"));
    }
    Report::parse(Name::from(path), &bytes)
}

/// Whether a number of the diff crossed a limit; each that did is told.
fn crossed(limits: &[Limit], diff: &diff::Diff) -> Result<bool> {
    let diff: Value = serde_json::to_value(diff).unwrap_or_default();
    let mut lines = Vec::new();
    for limit in limits {
        lines.extend(limit.crossed_if_listed(&diff)?);
    }
    // Where standard error is closed, the exit code tells.
    lines.iter().for_each(|line| drop(writeln!(io::stderr(), "slotscope: {line}")));
    Ok(!lines.is_empty())
}
