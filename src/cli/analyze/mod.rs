//! `slotscope analyze`: reads key dumps, and reports to the terminal and to a directory.

mod destination;
mod parts;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use slotscope_app::cli::input::kind::NOTHING;
use slotscope_app::cli::input::servers::{Collected, ServerArgs};
use slotscope_app::cli::input::{FoundInput, InputFlags, Keys, counted_already};
use slotscope_app::cli::judging::JudgeArgs;
use slotscope_app::cli::limits::{Limit, any_crossed};
use slotscope_app::cli::printing::{OutputArgs, ReplaceArgs, Rows};
use slotscope_app::cli::progress::When;
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::{Command, Ending, Run, redacted, report_file};
use slotscope_app::options::headings::{CLUSTER, INPUT, LIMITS, OUTPUT};
use slotscope_app::options::{self, CountSpec, HashSpec, NodeSpec, storage, times};
use slotscope_app::pipeline::Analysis;
use slotscope_app::pipeline::reading::pool;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_model::node_counts::NodeCounts;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::State;
use slotscope_model::{Summary, UnreadableValues};
use slotscope_read::format::Lost;
use slotscope_read::source::pipe;
use slotscope_read::source::remote;
use slotscope_report::output::{Guard, OpenSet, SingleFile};
use slotscope_report::render::openmetrics;
use slotscope_report::{self, view};
use slotscope_topology::Topology;
use slotscope_topology::cluster_info::{self, NodeKeys};

use crate::cli::analyze::destination::report_name;

/// Key dumps in, a report out: the main job
#[derive(Args, Debug)]
#[command(next_help_heading = OUTPUT, after_help = EXAMPLES)]
pub struct AnalyzeArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
    /// The output of `redis-cli --cluster info`
    ///
    /// Warns if the dump has over 1% fewer keys. Without INPUT the nodes are judged by it alone; `-` reads a dump from
    /// standard input.
    #[arg(long, value_name = "FILE", help_heading = CLUSTER, hide_short_help = true)]
    pub cluster_info: Option<PathBuf>,
    /// How nodes are judged
    #[command(flatten)]
    pub judging: JudgeArgs,
    /// Previous report; stops the state flapping at a threshold
    #[arg(long, value_name = "REPORT", help_heading = LIMITS, hide_short_help = true)]
    pub previous: Option<PathBuf>,
    /// What is counted
    #[command(flatten)]
    pub counting: CountSpec,
    /// All tables, not only the answer
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
    /// Rows in every table
    ///
    /// JSON and CSV always hold the first 1,000.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT)]
    pub top: usize,
    /// A title for the page, such as the name of the cluster
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    pub title: Option<String>,
    /// The date of the input, as 2026-10-24, where its files do not have it: capacity goes by it
    #[arg(long, value_name = "DATE", value_parser = times::day, help_heading = INPUT, hide_short_help = true)]
    pub date: Option<times::Day>,
    /// Hashes in place of names, in every output
    ///
    /// Keyed hashes replace the names of keys, tags, patterns, files and nodes; slots and numbers stay true. The key is
    /// SLOTSCOPE_REDACT_KEY, else random.
    #[arg(long, help_heading = OUTPUT)]
    pub redact: bool,
    /// Output directory [default: reports/NAME]
    ///
    /// NAME is that of the first input, without its extensions.
    #[arg(short, long, value_name = "DIR", conflicts_with = "no_files", help_heading = OUTPUT)]
    pub out: Option<PathBuf>,
    /// Write no files
    ///
    /// With --json none are written unless --out is given.
    #[arg(long, help_heading = OUTPUT)]
    pub no_files: bool,
    /// What may be replaced
    #[command(flatten)]
    pub replace: ReplaceArgs,
    /// Write the numbers of the report to FILE for Prometheus: the text format of node_exporter's textfile collector
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, hide_short_help = true)]
    pub openmetrics: Option<PathBuf>,
    /// What standard output gets: with --json it is report.json
    #[command(flatten)]
    pub output: OutputArgs,
    /// Exit with 1 if a number of report.json crosses a limit
    ///
    /// Exit with 2 if the verdict is suspicious or empty. May be repeated: `verdict >= watch`, `nodes.keys.max_over_mean >
    /// 1.2`, `tags.top[*].share >= 0.05`.
    #[arg(long, value_name = "PATH OP NUMBER", help_heading = LIMITS)]
    pub fail_on: Vec<String>,
    /// Servers among the inputs
    #[command(flatten)]
    pub servers: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope analyze dump-*.rdb                      one file of each primary
  slotscope analyze dumps --topology cluster.nodes  a directory of dumps
  slotscope analyze redis://HOST:6379               a running cluster, gently";

impl Run for AnalyzeArgs {
    fn run(&self, command: &Command) -> Result<Ending> {
        redacted(self.redact, |redaction| self.report(command, redaction))
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }

    fn reads_stdin(&self) -> bool {
        self.reading.reads_stdin() && self.cluster_info.is_none()
    }

    fn keep_words(&mut self, words: Vec<OsString>) {
        self.reading.overrides.words = words;
    }
}

impl AnalyzeArgs {
    /// Reads, counts and judges without printing.
    ///
    /// # Errors
    /// An input or topology is unusable.
    pub fn summary(&self) -> Result<Summary> {
        redacted(self.redact, |redaction| {
            let topology = self.cluster.topology()?;
            let analysis = self.analysis(&topology)?.redaction(redaction);
            self.summarise(analysis, self.node_counts()?, self.input()?)
        })
    }

    fn report(&self, command: &Command, redaction: Option<Arc<Redaction>>) -> Result<Ending> {
        let topology = self.cluster.topology()?;
        let limits = Limit::parse_all(command, &self.fail_on)?;
        let analysis = self.analysis(&topology)?.redaction(redaction);
        let node_counts = self.node_counts()?;
        if let (Some(path), []) = (&self.cluster_info, self.reading.inputs.as_slice()) {
            let counts = analysis.of_node_counts(path, node_counts, &topology);
            return self.print_node_counts(&counts);
        }
        let input = self.input()?;
        let guard = self.replace.guard(self.files_read(&input));
        let open = |path| {
            let own = guard.clone();
            let guard = own.with_way_out("name another file with --openmetrics");
            SingleFile::open(path, openmetrics::MARK, guard)
        };
        let metrics = self.openmetrics.as_deref().map(open).transpose()?;
        let files = self.open_files(guard, input.server_name())?;

        let is_live = input.server_name().is_some();
        let summary = self.summarise(analysis, node_counts, input)?;
        check_nodes(&limits, &summary)?;
        if self.reads_stdin() && pipe::stdin_was_empty() {
            // A report does not replace an older one; the last line says what to do.
            return Ok(Ending::Done);
        }

        // A closed standard output must not keep the files from being written.
        let printed = self.print(&summary);
        if let Some((files, path)) = files {
            files.publish_on(&pool(self.reading.threads)?, &summary)?;
            if !self.output.json && printed.is_ok() {
                self.say_where(&summary, Some(&path))?;
            }
        } else if !self.output.json && printed.is_ok() && !self.full {
            self.say_where(&summary, None)?;
        }
        if let Some(metrics) = metrics {
            metrics.publish(|out| openmetrics::write(&summary, out))?;
        }
        printed?;
        let crossed = any_crossed(&limits, &summary, false)?;
        let is_load =
            |values: &UnreadableValues| matches!(values.role, Lost::Size | Lost::Operations);
        let has_gap = summary.verdict.roles.iter().any(RoleVerdict::has_gap)
            || summary.input.unreadable_values.iter().any(is_load);
        let is_unfit = has_gap || matches!(summary.verdict.state, State::Suspicious | State::Empty);
        Ok(match summary.input.incomplete.is_empty() {
            false => Ending::Incomplete,
            // A dump with one expired password must not pass a check forever.
            true if is_unfit && !limits.is_empty() => Ending::Incomplete,
            // Dumps without keys usually come from a failed scan.
            true if !is_live && is_empty(&summary) => Ending::Incomplete,
            true if crossed => Ending::Crossed,
            true => Ending::Done,
        })
    }

    /// The input named by the flags.
    fn input(&self) -> Result<FoundInput<'_>> {
        let flags = InputFlags {
            reading: &self.reading,
            servers: &self.servers,
            hashing: Some(&self.hashing),
            refused: NOTHING,
        };
        let input = flags.find()?;
        if input.is_tally() && self.counting.one_pass {
            return Err(counted_already("--one-pass".into()));
        }
        Ok(input)
    }

    fn node_counts(&self) -> Result<Vec<NodeKeys>> {
        let path = self.cluster_info.as_deref();
        Ok(path
            .map(cluster_info::read)
            .transpose()?
            .unwrap_or_default())
    }

    fn summarise(
        &self,
        analysis: Analysis,
        node_counts: Vec<NodeKeys>,
        input: FoundInput<'_>,
    ) -> Result<Summary> {
        // Progress bars show node names.
        let progress = if self.redact {
            When::Never
        } else {
            self.reading.progress
        };
        let input = input.read(progress)?;
        let mut analysis = analysis.node_counts(node_counts);
        if let Keys::Reading(_) = input.keys {
            let reading = self
                .reading
                .words(input.collected.as_ref().map(Collected::word))?;
            let words = reading.map(|words| [words, options::words(&self.hashing)].concat());
            analysis = analysis.reading_words(words.unwrap_or_default());
        }
        let mut summary = input.keys.count(&analysis, |counted| counted.summary())?;
        if let Some(collected) = &input.collected {
            collected.rename(&mut summary.input, &mut summary.nodes.source);
            collected.note(&mut summary, self.redact);
        }
        self.name_run(&mut summary);
        Ok(summary)
    }

    fn name_run(&self, summary: &mut Summary) {
        summary.run.command = self.command_line();
        summary.run.date = self.date.map(|day| day.0);
        summary.run.title = self.title.as_deref().map(Name::from);
    }

    /// The analysis described by the flags.
    fn analysis(&self, topology: &Topology) -> Result<Analysis> {
        self.counting.check()?;
        let unjudged = self
            .cluster
            .analysis(topology)
            .previous(self.previous()?.as_ref())
            .rows(self.top)
            .counting(self.counting.clone())
            .slot_stats_ops(self.reading.ops_column.as_deref());
        let analysis = self.judging.on(unjudged, 0)?;
        Ok(if self.redact {
            analysis.judging_words(options::words(&self.judging.nameless()))
        } else {
            analysis
        })
    }

    /// The previous report.
    fn previous(&self) -> Result<Option<Summary>> {
        let path = self.previous.as_deref();
        let read = |path| report_file::read(path).map(|(_, report)| report);
        path.map(read).transpose()
    }

    /// The node part of a report, from the nodes' own key counts: there is no dump.
    fn print_node_counts(&self, counts: &NodeCounts) -> Result<Ending> {
        let rows = Rows::or_json(self.top);
        self.output
            .print(counts, rows, || view::node_bars::counts_only(counts))?;
        Ok(Ending::Done)
    }

    /// Opens the report files, unless none are requested.
    fn open_files(
        &self,
        guard: Guard,
        name: Option<String>,
    ) -> Result<Option<(OpenSet<Summary>, PathBuf)>> {
        let path = match &self.out {
            Some(path) => path.clone(),
            None if self.no_files || self.output.json => return Ok(None),
            None if self.redact => Path::new("reports").join("redacted"),
            None => {
                let of_files = || report_name(self.reading.inputs.first());
                Path::new("reports").join(name.map_or_else(of_files, PathBuf::from))
            }
        };
        let files = slotscope_report::outputs().open(&path, guard)?;
        Ok(Some((files, path)))
    }

    /// The inputs, which no output may replace.
    fn files_read<'a>(&'a self, input: &'a FoundInput<'_>) -> impl Iterator<Item = &'a Path> {
        let files = [&self.cluster.topology, &self.cluster_info];
        let listings = files.into_iter().flatten().map(PathBuf::as_path);
        input.paths().into_iter().chain(listings)
    }

    /// The command line as typed, joined by blanks; redacted as a whole.
    fn command_line(&self) -> Name {
        if self.redact {
            return Name::from("slotscope analyze ... --redact");
        }
        let typed = self.reading.overrides.words.iter().enumerate();
        let shown = typed.map(|(i, word)| match (i, word.to_str()) {
            // Regardless of the path to the program.
            (0, _) => b"slotscope".to_vec(),
            (_, Some(word)) => remote::without_password(word).into_bytes(),
            (_, None) => word.as_encoded_bytes().to_vec(),
        });
        let mut words: Vec<_> = shown.collect();
        storage::hide_values(&mut words);
        Name(words.join(&b' '))
    }

    fn print(&self, summary: &Summary) -> Result<()> {
        let rows = Rows {
            most: self.top,
            rest: " (--top)",
        };
        self.output.print(summary, rows, || {
            if self.full {
                view::report(summary)
            } else {
                view::answer(summary)
            }
        })
    }

    /// The last line: how much was read, and where the report is.
    fn say_where(&self, summary: &Summary, path: Option<&Path>) -> Result<()> {
        let path = path.map(|path| Name::from(path.join("report.html").as_path()));
        let read = view::input::read_in_words(summary);
        let line = match path {
            Some(path) if self.full => format!("Full report: {path}"),
            Some(path) => format!("{read}. Full report (--full prints it here): {path}"),
            None => format!("{read}. --full prints the full report"),
        };
        writeln!(io::stdout(), "\n{line}").map_err(Error::stdout)
    }
}

/// Whether nothing of any kind was read.
fn is_empty(summary: &Summary) -> bool {
    let is_filtered = summary.input.filter.is_some();
    summary.verdict.state == State::Empty && !summary.has_only_extremes() && !is_filtered
}

/// Refuses limits on nodes if nodes are unknown.
fn check_nodes(limits: &[Limit], summary: &Summary) -> Result<()> {
    let mut parts = limits.iter().map(Limit::part);
    if summary.verdict.assumed && parts.any(|part| matches!(part, "nodes" | "verdict")) {
        Err(Error::bad(
            "--fail-on nodes... and verdict...",
            "the nodes are not known; name them with --topology or --nodes",
        ))
    } else {
        Ok(())
    }
}
