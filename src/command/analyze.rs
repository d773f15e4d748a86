//! `slotscope analyze`: key dumps come in; a report goes to the terminal and to a directory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, ValueEnum};

use super::Ending;
use super::cluster::Cluster;
use super::reading::{Reader, Reading, format_help};
use crate::error::{Error, Result};
use crate::format::{FORMATS, Format};
use crate::metric::Metric;
use crate::name::Name;
use crate::report::directory::Directory;
use crate::report::{self, json, terminal};
use crate::scan::{Scanned, SeenInput};
use crate::source::Input;
use crate::source::file::line_of;
use crate::summary::balance::tidy;
use crate::summary::{self, FileFacts, Incomplete, InputFacts, Rejected, RejectedLine, Run, Summary};
use crate::tally::heavy::TagCounts;
use crate::tally::recount::{Candidates, Recount};
use crate::tally::rejects::Reject;
use crate::tally::{Parts, Tallies};
use crate::topology::cluster_info;

/// Columns of the report where there is no terminal to ask.
const PIPE_WIDTH: usize = 100;

/// Key dumps in, a skew report out.
#[derive(Args, Debug)]
pub struct Analyze {
    /// What is read
    #[command(flatten)]
    pub reading: Reading,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
    /// What `redis-cli --cluster info` printed: a dump that is over 1 % short of it is told
    #[arg(long, value_name = "FILE")]
    pub cluster_info: Option<PathBuf>,
    /// The metric of the verdict and the tables; all that the input carries are counted
    #[arg(long, value_enum, value_name = "METRIC", default_value_t = Metric::Keys)]
    pub by: Metric,
    /// Rows in every table on the terminal
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Nothing but this part: slots, nodes and their balance
    #[arg(long, value_enum, value_name = "PART")]
    pub only: Option<Part>,
    /// Never read a file twice: past 65,536 distinct tags their counts come with bounds
    #[arg(long)]
    pub one_pass: bool,
    /// Where the report's files go [default: reports/NAME, after the first input]
    #[arg(long, value_name = "DIR", conflicts_with = "no_files")]
    pub out: Option<PathBuf>,
    /// Write no files
    #[arg(long)]
    pub no_files: bool,
    /// report.json on standard output in place of the text, and no files unless --out is given
    #[arg(long)]
    pub json: bool,
}

/// A part of the analysis.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Slots, nodes and their balance
    Slots,
}

impl Analyze {
    /// Reads, counts, judges and reports.
    ///
    /// # Errors
    /// An input, a topology or an output that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            io::stdout().write_all(format_help().as_bytes()).map_err(Error::stdout)?;
            return Ok(Ending::Done);
        }
        let started = (Instant::now(), SystemTime::now());
        let topology = self.cluster.topology()?;
        let said = self.cluster_info.as_deref().map(cluster_info::read).transpose()?;
        let reader = self.reading.reader()?;
        let directory = self.directory(&reader.inputs)?;

        let parts = self.parts(&reader);
        let scanned = reader.scan("counting", || Tallies::new(parts))?;
        let recount = recount(&reader, &scanned.tally)?;
        let mut input = input_facts(&reader.inputs, &scanned);
        if reader.passed_over > 0 {
            let what = "entries of directories that are no files, passed over (directories are not searched deeper)";
            input.notes.push(format!("{what}: {}", reader.passed_over));
        }
        self.check_carried(&scanned.tally)?;
        let mut summary = summary::summarise(&scanned.tally, recount.as_ref(), &topology, self.by, input);
        summary.input.warnings.extend(summary.nodes.shortfalls(&said.unwrap_or_default()));
        summary.run = run_facts(&reader, started, 1 + u32::from(recount.is_some()), &summary);

        // Whoever reads the text may have read enough of it; the files are wanted all the same.
        let printed = self.print(&summary);
        if let Some((directory, path)) = directory {
            directory.publish(|name, out| report::write(&summary, name, out))?;
            if !self.json && printed.is_ok() {
                self.say_where(&path)?;
            }
        }
        printed?;
        Ok(if summary.input.incomplete.is_empty() { Ending::Done } else { Ending::Incomplete })
    }

    /// Opens the files of the report, unless none are wanted.
    fn directory(&self, inputs: &[Input]) -> Result<Option<(Directory, PathBuf)>> {
        let path = match &self.out {
            Some(path) => path.clone(),
            None if self.no_files || self.json => return Ok(None),
            None => Path::new("reports").join(report_name(self.reading.inputs.first())),
        };
        check_apart(&path, inputs)?;
        Ok(Some((Directory::open(&path, report::files())?, path)))
    }

    /// What is counted; without a second pass tags are followed in the first.
    fn parts(&self, reader: &Reader) -> Parts {
        let once = self.one_pass || reader.inputs.iter().any(|input| input.bytes().is_none());
        match self.only {
            Some(Part::Slots) => Parts::Slots,
            None if once => Parts::InOnePass,
            None => Parts::All,
        }
    }

    /// A report by a metric that is not there would be one by another.
    fn check_carried(&self, tallies: &Tallies) -> Result<()> {
        let loads = &tallies.slots.loads;
        if loads.get(self.by).is_some() {
            return Ok(());
        }
        let carried: Vec<_> = loads.iter().map(|(metric, _)| metric.name()).collect();
        let name = self.by.name();
        let what = format!("the input tells no {name} of its keys; it has: {}", carried.join(", "));
        Err(Error::bad(format!("--by {name}"), what))
    }

    fn print(&self, summary: &Summary) -> Result<()> {
        let stdout = io::stdout();
        if self.json {
            let mut out = io::BufWriter::new(stdout.lock());
            return json::write(summary, &mut out).and_then(|()| out.flush()).map_err(Error::stdout);
        }
        let width = terminal_size::terminal_size_of(&stdout).map_or(PIPE_WIDTH, |(width, _)| usize::from(width.0));
        let mut text = Vec::new();
        terminal::write(summary, width, self.top, &mut text).map_err(Error::stdout)?;
        let mut out = anstream::AutoStream::auto(stdout.lock());
        out.write_all(&text).and_then(|()| out.flush()).map_err(Error::stdout)
    }

    fn say_where(&self, path: &Path) -> Result<()> {
        let path = Name::from(path.join("").as_path());
        writeln!(io::stdout(), "\nThe report with its charts is in {path}").map_err(Error::stdout)
    }
}

/// Counts the heavy tags exactly in a second pass, where the first could only count cells.
fn recount(reader: &Reader, tallies: &Tallies) -> Result<Option<Recount>> {
    let Some(TagCounts::Rows(rows)) = tallies.names.as_ref().map(|names| &names.tags.counts) else { return Ok(None) };
    let candidates = Arc::new(Candidates::choose(rows.clone(), &tallies.slots.loads));
    let scanned = reader.scan("recounting tags", || Recount::new(candidates.clone()))?;
    match scanned.incomplete.first() {
        None => Ok(Some(scanned.tally)),
        Some(stop) => Err(Error::bad(
            format!("{}: byte {}", Name::from(reader.inputs[stop.input].path()), stop.byte),
            format!("{} when it was read again to count tags; --one-pass reads it once", stop.reason),
        )),
    }
}

/// Endings of a dump's name that say its form, not what it is of.
const EXTENSIONS: [&str; 16] = [
    "keys", "txt", "csv", "tsv", "json", "jsonl", "ndjson", "log", "out", "dump", "rdb", "gz", "zst", "zstd", "lz4",
    "resp",
];

/// The name of a report: that of the first input that the user named, without its extensions.
fn report_name(input: Option<&PathBuf>) -> PathBuf {
    let whole = match input {
        Some(path) if path.as_os_str() != "-" => path.canonicalize().unwrap_or_else(|_| path.clone()),
        _ => PathBuf::from("stdin"),
    };
    let mut name = PathBuf::from(whole.file_name().unwrap_or("keys".as_ref()));
    while name.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
    {
        name.set_extension("");
    }
    // What is left of `...keys` would lead elsewhere.
    if name.as_os_str().as_encoded_bytes().iter().all(|byte| *byte == b'.') { PathBuf::from("keys") } else { name }
}

/// Refuses an output directory where the report would replace an input.
fn check_apart(path: &Path, inputs: &[Input]) -> Result<()> {
    let Ok(directory) = path.canonicalize() else { return Ok(()) };
    for input in inputs.iter().filter_map(|input| input.path().canonicalize().ok()) {
        let is_output = input.file_name().is_some_and(|name| report::files().any(|file| name == file));
        if is_output && input.parent() == Some(&directory) {
            let what = "the report would replace this input; name another directory with --out";
            return Err(Error::bad(Name::from(input.as_path()).to_string(), what));
        }
    }
    Ok(())
}

/// What was read, and what is to be said about it.
fn input_facts(inputs: &[Input], scanned: &Scanned<Tallies>) -> InputFacts {
    let name = |index: usize| Name::from(inputs[index].path());
    let file = |(index, seen): (usize, &SeenInput)| FileFacts {
        name: name(index),
        format: seen.format,
        bytes: seen.bytes,
        keys: seen.seen.keys,
    };
    let stop = |stop: &crate::scan::Incomplete| Incomplete {
        file: name(stop.input),
        byte: stop.byte,
        reason: stop.reason.clone(),
    };
    let rejected = |line: &Reject| RejectedLine {
        file: name(line.input as usize),
        line: line_of(&inputs[line.input as usize], line.byte),
        byte: line.byte,
        reason: line.reason.clone(),
    };
    let seen =
        scanned.inputs.iter().map(|input| input.seen).fold(Default::default(), |mut sum: crate::format::Seen, seen| {
            sum += seen;
            sum
        });
    let mut notes = seen.notes();
    let read = |format: &&&dyn Format| scanned.inputs.iter().any(|input| input.format == format.name());
    notes.extend(FORMATS.iter().filter(read).filter_map(|format| format.note()).map(String::from));
    InputFacts {
        files: scanned.inputs.iter().enumerate().map(file).collect(),
        bytes_read: scanned.inputs.iter().map(|input| input.bytes).sum(),
        rejected: Rejected {
            count: scanned.rejects.count,
            first: scanned.rejects.first.iter().map(rejected).collect(),
        },
        incomplete: scanned.incomplete.iter().map(stop).collect(),
        warnings: seen.warnings(),
        notes,
        ..InputFacts::default()
    }
}

/// How the report was made.
fn run_facts(reader: &Reader, started: (Instant, SystemTime), passes: u32, summary: &Summary) -> Run {
    let elapsed_secs = started.0.elapsed().as_secs_f64();
    let rate = |count: f64| tidy(count / elapsed_secs.max(1e-9));
    Run {
        version: env!("CARGO_PKG_VERSION").into(),
        started: started.1.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        elapsed_secs: tidy(elapsed_secs),
        threads: reader.threads(),
        kernel: reader.kernel.name.into(),
        passes,
        bytes_per_sec: rate(summary.input.bytes_read as f64 * f64::from(passes)),
        keys_per_sec: rate(summary.input.keys as f64),
        peak_rss_bytes: peak_rss_bytes(),
    }
}

/// The most memory that was resident, where the system says it (Linux).
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_named_after_what_the_user_named_first() {
        let name = |path: &str| report_name(Some(&PathBuf::from(path))).to_str().unwrap().to_string();
        assert_eq!(name("dumps/node-1.keys.gz"), "node-1");
        assert_eq!(name("dumps/10.0.0.1-6379.keys"), "10.0.0.1-6379");
        assert_eq!(name("dumps/"), "dumps");
        assert_eq!(name(".hidden"), ".hidden");
        assert_eq!(name("-"), "stdin");
        assert_eq!((name("...keys"), name("/")), ("keys".into(), "keys".into()));
        assert_eq!(report_name(None), PathBuf::from("stdin"));
    }
}
