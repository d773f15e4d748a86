//! The flags of `slotscope trend REPORT...`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_model::Summary;

use crate::cli::limits::{Limit, any_crossed};
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::values::memory_size;
use crate::cli::{Ending, Run, report_file};
use crate::options::headings::{ARGUMENTS, INPUT, LIMITS, OUTPUT};
use crate::trend::{History, Options, view};

/// Many reports in the order of their dates: growth, forecast.
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct TrendArgs {
    /// Two or more report.json, or their directories, in any order
    #[arg(value_name = "REPORT", required = true, help_heading = ARGUMENTS)]
    pub reports: Vec<PathBuf>,
    /// The metric of the sentence [default: that of the newest report]
    #[arg(long, value_enum, value_name = "METRIC", help_heading = OUTPUT)]
    pub by: Option<Metric>,
    /// The memory limit of a node, as in redis.conf: 4gb
    ///
    /// [default: that of the newest report that has one]
    #[arg(long, value_name = "SIZE", help_heading = LIMITS)]
    pub maxmemory: Option<String>,
    /// Which date a report is of
    #[arg(long, value_enum, value_name = "DATE", default_value_t = DateOf::Dump)]
    pub date: DateOf,
    /// Count reports of incomplete and suspicious inputs too
    ///
    /// Without it they are shown and left out of the growth.
    #[arg(long)]
    pub with_doubtful: bool,
    /// Compare reports that differ in nodes, policy or kind of sizes
    ///
    /// With a note.
    #[arg(long)]
    pub force: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// Exit with 1 if a number of the trend's JSON crosses a limit
    ///
    /// May be repeated: 'forecast.full.months.low < 3', 'forecast.growth.bytes.a_month.estimate > 0.1'.
    #[arg(long, value_name = "PATH OP NUMBER", help_heading = LIMITS)]
    pub fail_on: Vec<String>,
}

const EXAMPLES: &str = "\
Example:
  slotscope trend reports/2026-*/ --maxmemory 4gb";

/// A date of a report.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOf {
    /// When the dump was written
    Dump,
    /// When analyze ran
    Run,
}

impl Run for TrendArgs {
    fn run(&self) -> Result<Ending> {
        let limits = Limit::parse_all("trend", &self.fail_on)?;
        let maxmemory = self
            .maxmemory
            .as_deref()
            .map(|size| memory_size("--maxmemory", size))
            .transpose()?;
        let mut history = History::default();
        for path in &self.reports {
            let (file, summary) = report_file::read(path)?;
            let at = self.date.of(&file, &summary)?;
            history.add(file, summary, at)?;
        }
        let trend = history.trend(&Options {
            by: self.by,
            maxmemory,
            with_doubtful: self.with_doubtful,
            force: self.force,
        })?;
        let rows = Rows::or_json(usize::MAX);
        self.output.print(&trend, rows, || view::sections(&trend))?;
        if any_crossed(&limits, &trend, true)? {
            Ok(Ending::Crossed)
        } else {
            Ok(Ending::Done)
        }
    }
}

impl DateOf {
    /// The date of a report, in seconds since 1970.
    fn of(self, file: &Name, summary: &Summary) -> Result<u64> {
        let bad = |reason: &str| Error::bad(file.to_string(), reason);
        match self {
            DateOf::Dump => summary.dumped().map(|dumped| dumped.last).ok_or_else(|| {
                bad(
                    "does not say when its dump was written, as it came from a pipe; take the time of the run with --date run",
                )
            }),
            DateOf::Run => Some(summary.run.started).filter(|at| *at > 0).ok_or_else(|| {
                bad("does not say when analyze ran; take the date of the dump with --date dump")
            }),
        }
    }
}
