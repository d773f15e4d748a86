//! The flags of `slotscope trend REPORT...`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use slotscope_engine::calendar;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_model::Summary;

use crate::cli::limits::{Limit, any_crossed};
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::values::memory_size;
use crate::cli::{Ending, Run, report_file};
use crate::options::headings::{ARGUMENTS, INPUT, LIMITS, OUTPUT};
use crate::trend::{History, Options, Trend, view};

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
    /// The last YYYY-MM-DD, YYYYMMDD or YYYY-MM in the path of the report
    Path,
}

impl Run for TrendArgs {
    fn run(&self) -> Result<Ending> {
        let limits = Limit::parse_all::<Trend>(&self.fail_on)?;
        let maxmemory = self
            .maxmemory
            .as_deref()
            .map(|size| memory_size("--maxmemory", size))
            .transpose()?;
        let mut history = History::default();
        for path in &self.reports {
            let (file, summary) = report_file::read(path)?;
            let at = self.date.of(path, &file, &summary)?;
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
    fn of(self, path: &Path, file: &Name, summary: &Summary) -> Result<u64> {
        let bad = |reason: &str| Error::bad(file.to_string(), reason);
        match self {
            DateOf::Dump => summary.dumped().map(|dumped| dumped.last).ok_or_else(|| {
                bad(
                    "does not say when its dump was written, as it came from a pipe; take the time of the run with --date \
                     run, or the date in the path with --date path",
                )
            }),
            DateOf::Run => Some(summary.run.started).filter(|at| *at > 0).ok_or_else(|| {
                bad("does not say when analyze ran; take the date of the dump with --date dump, or that in the path with --date path")
            }),
            DateOf::Path => date_in(&path.to_string_lossy()).ok_or_else(|| {
                bad("no date in the path; name it like reports/2026-05-01/report.json, or leave out --date path")
            }),
        }
    }
}

/// The last date in a text, in seconds since 1970; a month stands for its first day.
fn date_in(text: &str) -> Option<u64> {
    const FORMS: [&str; 3] = ["dddd-dd-dd", "dddddddd", "dddd-dd"];
    let is_digit = |c: char| c.is_ascii_digit();
    FORMS.iter().find_map(|form| {
        (0..text.len()).rev().find_map(|at| {
            let date = text.get(at..at + form.len())?;
            // Part of a longer number is not a date, and the month of a full date does not count separately.
            let ends =
                !text[..at].ends_with(is_digit) && !text[at + form.len()..].starts_with(is_digit);
            let is_day = *form == "dddd-dd" && text[at + form.len()..].starts_with('-');
            date_of(date, form).filter(|_| ends && !is_day)
        })
    })
}

fn date_of(text: &str, form: &str) -> Option<u64> {
    let fits = |(c, form): (char, char)| match form {
        'd' => c.is_ascii_digit(),
        form => c == form,
    };
    if !text.chars().zip(form.chars()).all(fits) {
        return None;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i64>().ok();
    let date = (number(0..4)?, number(4..6)?, number(6..8).unwrap_or(1));
    let days = calendar::days(date.0, date.1, date.2);
    // 2026-02-30 is not a date, nor is 99999999.
    let is_date = (1..=12).contains(&date.1) && calendar::date(days) == date;
    u64::try_from(days)
        .ok()
        .filter(|_| is_date)
        .map(|days| days * 86_400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_of_a_path_is_the_last_one_in_it() {
        for (path, date) in [
            ("reports/2026-05-01/report.json", Some("2026-05-01")),
            ("2025-01-01/of-2026-05-02.json", Some("2026-05-02")),
            ("dump-20260503.json", Some("2026-05-03")),
            ("2026-05/report.json", Some("2026-05-01")),
            ("2026-02-30/report.json", None),
            ("2026-13.json", None),
            ("report-7.json", None),
            ("é2026-05-04é", Some("2026-05-04")),
            ("99999999999999", None),
            ("1969-12-31", None),
        ] {
            let found = date_in(path).map(slotscope_engine::text::day);
            assert_eq!(found.as_deref(), date, "{path}");
        }
    }
}
