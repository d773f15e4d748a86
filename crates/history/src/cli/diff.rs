//! The flags of `slotscope diff OLD NEW`.

use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_app::cli::limits::{Limit, any_crossed};
use slotscope_app::cli::printing::{Rows, TableArgs};
use slotscope_app::cli::report_file;
use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::{ARGUMENTS, INPUT, LIMITS, OUTPUT};
use slotscope_base::error::Result;
use slotscope_base::metric::Metric;

use crate::diff::report::Report;
use crate::diff::{Diff, view};

/// What grew and what got hot between two reports
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct DiffArgs {
    /// The report.json before, or the directory that it is in
    #[arg(value_name = "OLD", help_heading = ARGUMENTS)]
    pub old: PathBuf,
    /// The report.json after, or the directory that it is in
    #[arg(value_name = "NEW", help_heading = ARGUMENTS)]
    pub new: PathBuf,
    /// The metric that is compared [default: that of NEW, if OLD has it]
    #[arg(long, value_enum, value_name = "METRIC", help_heading = OUTPUT)]
    pub by: Option<Metric>,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = OUTPUT)]
    pub top: usize,
    /// The format of the result
    #[command(flatten)]
    pub output: TableArgs,
    /// Exit with 1 if a number of the diff's JSON crosses a limit
    ///
    /// May be repeated: `totals.keys.ratio > 1.5`, `tags.grew[*].at_least > 100000`. An empty list crosses none.
    #[arg(long, value_name = "PATH OP NUMBER", help_heading = LIMITS)]
    pub fail_on: Vec<String>,
}

const EXAMPLES: &str = "\
Example:
  slotscope diff reports/monday reports/tuesday";

impl Run for DiffArgs {
    fn run(&self, command: &Command) -> Result<Ending> {
        let limits = Limit::parse_all(command, &self.fail_on)?;
        let diff = Diff::of(&read(&self.old)?, &read(&self.new)?, self.by)?;
        self.output.print(
            &diff,
            Rows::or_json(self.top),
            || view::sections(&diff),
            || view::rows(&diff),
        )?;
        if any_crossed(&limits, &diff, true)? {
            Ok(Ending::Crossed)
        } else {
            Ok(Ending::Done)
        }
    }
}

/// The report in a file, or report.json in a directory.
fn read(path: &Path) -> Result<Report> {
    let (file, summary) = report_file::read(path)?;
    Report::new(file, summary)
}
