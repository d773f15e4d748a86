//! The flags of `slotscope capacity REPORT...`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use slotscope_app::cli::limits::{Limit, any_crossed};
use slotscope_app::cli::printing::{ReplaceArgs, Rows, TableArgs};
use slotscope_app::cli::values::{memory_size, part_percent};
use slotscope_app::cli::{Command, Ending, Run, report_file};
use slotscope_app::options::headings::{ARGUMENTS, CHANGES, INPUT, LIMITS, OUTPUT};
use slotscope_app::options::times;
use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_model::Summary;

use crate::capacity::grow::Rule;
use crate::capacity::outputs::outputs;
use crate::capacity::{Capacity, History, Options, table, view};

/// What shards will hold, when they are full, and how many it takes
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct CapacityArgs {
    /// One or more report.json of a cluster, or their directories, in any order
    #[arg(value_name = "REPORT", required = true, help_heading = ARGUMENTS)]
    pub reports: Vec<PathBuf>,
    /// The metric of the tables [default: bytes, else that of the newest report]
    #[arg(long, value_enum, value_name = "METRIC", help_heading = OUTPUT)]
    pub by: Option<Metric>,
    /// The months ahead that are shown
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,3,6,12", value_parser = clap::value_parser!(u32).range(1..=120), help_heading = OUTPUT)]
    pub months: Vec<u32>,
    /// Growth that is assumed: 40%, '{TAG}=2x' or 'PATTERN=1.5x'
    ///
    /// The growth of everything, of the keys of a hash tag, or of the keys of a pattern that the newest report lists. May be repeated.
    #[arg(long, value_name = "GROWTH", help_heading = CHANGES, allow_hyphen_values = true)]
    pub grow: Vec<String>,
    /// Numbers of shards to try, at most 16 [default: some from today's to twice that]
    #[arg(long, value_name = "N,...", value_delimiter = ',', help_heading = CHANGES)]
    pub shards: Vec<u64>,
    /// The memory limit of a shard, as in redis.conf: 4gb
    ///
    /// [default: that of the newest report that has one]
    #[arg(long, value_name = "SIZE", help_heading = LIMITS)]
    pub maxmemory: Option<String>,
    /// The part of its limit at which a shard counts as full
    #[arg(long, value_name = "PERCENT", default_value = "80%", value_parser = full_at, help_heading = LIMITS)]
    pub full_at: f64,
    /// Which date a report is of [default: that in the dump, else in its path, else of its file]
    #[arg(long, value_enum, value_name = "DATE")]
    pub date: Option<DateOf>,
    /// Count reports of incomplete, suspicious and partly seen inputs too
    ///
    /// Without it they are shown and left out.
    #[arg(long)]
    pub with_doubtful: bool,
    /// Compare reports that differ in nodes, policy or kind of sizes, with a note
    ///
    /// With --out also replace files that slotscope did not write, where an output has their name.
    #[arg(long)]
    pub force: bool,
    /// The format of the result
    #[command(flatten)]
    pub output: TableArgs,
    /// Also write capacity.json, capacity.html, capacity.csv and capacity.png here
    #[arg(short, long, value_name = "DIR", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Exit with 1 if a number of the review's JSON crosses a limit
    ///
    /// May be repeated: 'full.months.low < 3', 'total.bytes.a_month.estimate > 0.1'.
    #[arg(long, value_name = "PATH OP NUMBER", help_heading = LIMITS)]
    pub fail_on: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  slotscope capacity reports/2026-*/ --maxmemory 4gb
  slotscope capacity reports/today --grow 40% --shards 6,8,12";

/// A date of a report.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOf {
    /// When the dump was written, by `analyze --date`, itself or its file
    Dump,
    /// In its path: 2026-10-24, 20261024 or 2026-W43
    Path,
    /// When analyze ran
    Run,
}

impl Run for CapacityArgs {
    fn run(&self, command: &Command) -> Result<Ending> {
        let limits = Limit::parse_all(command, &self.fail_on)?;
        let guard =
            ReplaceArgs { force: self.force }.guard(self.reports.iter().map(PathBuf::as_path));
        let open = |path: &PathBuf| outputs().open(path, guard);
        let files = self.out.as_ref().map(open).transpose()?;
        let review = self.review()?;
        let rows = Rows::or_json(usize::MAX);
        let printed = self.output.print(
            &review,
            rows,
            || view::sections(&review),
            || table::rows(&review),
        );
        if let Some(files) = files {
            files.publish(&review)?;
        }
        printed?;
        if any_crossed(&limits, &review, true)? {
            Ok(Ending::Crossed)
        } else {
            Ok(Ending::Done)
        }
    }
}

impl CapacityArgs {
    /// The review, without printing.
    ///
    /// # Errors
    /// A report cannot be read, or cannot be compared with the others.
    pub fn review(&self) -> Result<Capacity> {
        self.review_of(|_, path| report_file::read(path))
    }

    /// The review of reports that `read` has the names and contents of, by their places.
    ///
    /// # Errors
    /// As for `review`.
    pub fn review_of(
        &self,
        read: impl Fn(usize, &Path) -> Result<(Name, Summary)>,
    ) -> Result<Capacity> {
        let best = |path: &Path, summary: &Summary| self.best(path, summary);
        match self.date {
            Some(date) => self.history(|_, _| date, &read)?.0.review(),
            None => {
                let (history, is_by_path) = self.history(best, &read)?;
                // The date of a directory of all reports says nothing.
                if history.are_of_one_time() {
                    return self.history(|_, _| DateOf::Dump, &read)?.0.review();
                }
                let mut review = history.review()?;
                let note = "dates are those in the paths of the reports; the files of their dumps have other times";
                review
                    .notes
                    .splice(0..0, is_by_path.then(|| String::from(note)));
                Ok(review)
            }
        }
    }

    /// The time in a dump or of `analyze --date`; else that in its path, if all have one, as files that are copied lose theirs.
    fn best(&self, path: &Path, summary: &Summary) -> DateOf {
        let is_kept = summary.run.date.or(summary.input.written).is_some();
        let are_dated = self.reports.iter().all(|path| of_path(path).is_some());
        let is_dated = of_path(path).is_some() && are_dated;
        if is_dated && !is_kept {
            DateOf::Path
        } else {
            DateOf::Dump
        }
    }

    /// The reports, and whether one is dated by its path although its dump has another time.
    fn history(
        &self,
        date: impl Fn(&Path, &Summary) -> DateOf,
        read: impl Fn(usize, &Path) -> Result<(Name, Summary)>,
    ) -> Result<(History, bool)> {
        let (mut history, mut is_by_path) = (History::new(self.options()?), false);
        for (at, path) in self.reports.iter().enumerate() {
            let (file, summary) = read(at, path)?;
            let date = date(path, &summary);
            let time = date.of(path, &file, &summary)?;
            let dumped = summary.dumped().map_or(time, |dumped| dumped.last);
            is_by_path |= date == DateOf::Path && dumped.abs_diff(time) > 2 * 86_400;
            history.add(file, summary, time)?;
        }
        Ok((history, is_by_path))
    }

    fn options(&self) -> Result<Options> {
        let maxmemory = self.maxmemory.as_deref();
        let mut months = self.months.clone();
        months.sort_unstable();
        months.dedup();
        Ok(Options {
            by: self.by,
            maxmemory: maxmemory
                .map(|size| memory_size("--maxmemory", size))
                .transpose()?,
            full_at: self.full_at / 100.0,
            months,
            grow: self
                .grow
                .iter()
                .map(|text| Rule::parse(text))
                .collect::<Result<_>>()?,
            shards: self.shards.clone(),
            with_doubtful: self.with_doubtful,
            force: self.force,
        })
    }
}

/// A percentage, which a fraction such as 0.8 is not.
fn full_at(text: &str) -> std::result::Result<f64, String> {
    let percent = part_percent(text)?;
    (percent >= 1.0)
        .then_some(percent)
        .ok_or_else(|| format!("less than 1%; write {:.0}%", 100.0 * percent))
}

/// The date in a path, in its last part that has one.
fn of_path(path: &Path) -> Option<u64> {
    times::in_text(&path.to_string_lossy())
}

impl DateOf {
    /// The date of a report, in seconds since 1970.
    fn of(self, path: &Path, file: &Name, summary: &Summary) -> Result<u64> {
        let (date, reason) = match self {
            DateOf::Dump => (
                summary.dumped().map(|dumped| dumped.last),
                "does not say when its dump was written, as it came from a pipe; name it after its date, or analyze it with --date 2026-10-24",
            ),
            DateOf::Path => (
                of_path(path),
                "has no date in its path, as 2026-10-24, 20261024 or 2026-W43; take that of the dump with --date dump",
            ),
            DateOf::Run => (
                Some(summary.run.started).filter(|at| *at > 0),
                "does not say when analyze ran; take the date of the dump with --date dump",
            ),
        };
        date.ok_or_else(|| Error::bad(file.to_string(), reason))
    }
}
