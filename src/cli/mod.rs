//! The subcommands, one file each with its flags and `run`.

pub mod advise;
pub mod analyze;
pub mod bench;
pub mod by;
pub mod capacity;
pub(crate) mod capacity_args;
pub mod collect;
mod collect_bar;
mod collect_view;
pub mod diff;
pub mod dump;
pub mod exporter;
pub mod fanout;
pub mod find_tag;
mod first_contact;
mod full_screen;
pub mod generate;
pub mod help;
pub mod input;
pub mod inputs;
pub(crate) mod judging;
pub mod keyslot;
pub mod limits;
pub mod lint;
pub mod live;
pub mod load_args;
pub mod manual;
pub mod overrides;
pub mod plan;
pub(crate) mod printing;
pub mod progress;
pub mod reading;
pub mod report_file;
pub mod schema;
mod service;
mod synonyms;
pub mod tally;
pub mod timeline;
pub mod top;
pub mod values;
pub mod whatif;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::{Name, shown};
use slotscope_engine::redact::Redaction;
use slotscope_engine::source::pipe;
use slotscope_model::Incomplete;

use crate::options::headings::GENERAL;

/// The suggested fix if a file not written by slotscope is in the way.
const OTHER_DIRECTORY: &str = "name another directory with --out";

/// Exit code: a limit set by the user was crossed.
const CROSSED: u8 = 1;
/// Exit code: usage error, I/O error, or bad input.
const FAILED: u8 = 2;

/// Restores the terminal from full screen, for whoever ends the program.
pub fn leave_screen() {
    full_screen::leave();
}

/// Runs the command line `words`, starting with the program's name, and returns the exit code. Signals are up to the
/// caller.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let cli = match Cli::parse_words(words.clone()) {
        Ok(cli) => cli,
        Err(error) => {
            // clap reports help and version as errors.
            match first_contact::answer(&error, &words) {
                Some(answer) => {
                    drop(write!(anstream::stderr(), "{answer}"));
                    return FAILED;
                }
                None if error.use_stderr() => drop(write!(
                    anstream::stderr(),
                    "{}",
                    first_contact::rendered(&error)
                )),
                None => {
                    let printed = error.print().and_then(|()| std::io::stdout().flush());
                    return ended(printed.map(|()| Ending::Done).map_err(Error::stdout));
                }
            }
            return u8::try_from(error.exit_code()).unwrap_or(FAILED);
        }
    };
    match cli.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    let reads_stdin = cli.command.args().reads_stdin();
    // Nobody types a dump by hand.
    let is_typed = reads_stdin && (std::io::stdin().is_terminal() || pipe::stdin_is_null());
    let code = if is_typed {
        FAILED
    } else {
        cli.command.exit_code()
    };
    if is_typed || (reads_stdin && pipe::stdin_was_empty()) {
        say(&first_contact::no_input(&words));
        return FAILED;
    }
    code
}

/// Prints a line to standard error, ignoring failures.
pub fn say(message: &str) {
    let lines: Vec<String> = message.lines().map(shown).collect();
    drop(writeln!(
        std::io::stderr(),
        "slotscope: {}",
        lines.join("\n")
    ));
}

/// Prints what is at a place of an input to standard error.
pub(crate) fn say_at(file: &Name, byte: u64, what: &str) {
    say(&format!("{file}: byte {byte}: {what}"));
}

/// The same for the end of what could be read of it.
pub(crate) fn say_stop(stop: &Incomplete) {
    say_at(&stop.file, stop.byte, &stop.reason);
}

/// Calls `run` with the redaction, if any; redacts its error, too.
pub(crate) fn redacted<R>(
    is_redacted: bool,
    run: impl FnOnce(Option<Arc<Redaction>>) -> Result<R>,
) -> Result<R> {
    let keyed = || Redaction::from_environment().map(Arc::new);
    let redaction = is_redacted.then(keyed).transpose()?;
    run(redaction.clone()).map_err(|error| match redaction {
        Some(redaction) => redaction.error(error),
        None => error,
    })
}

/// The command line; what the program is for is in Cargo.toml.
#[derive(Parser, Debug)]
#[command(
    name = "slotscope",
    version,
    about = env!("CARGO_PKG_DESCRIPTION"),
    propagate_version = true,
    max_term_width = 100,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
    after_help = help::footer()
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colours; NO_COLOR is honoured too
    #[arg(
        long,
        value_enum,
        default_value_t = Color::Auto,
        global = true,
        value_name = "WHEN",
        help_heading = GENERAL,
        hide_short_help = true
    )]
    pub color: Color,
    /// -h the flags that matter, --help all of them
    #[arg(short, long, action = ArgAction::Help, global = true, help_heading = GENERAL)]
    pub help: Option<bool>,
    /// The version
    #[arg(short = 'V', long, action = ArgAction::Version, global = true, help_heading = GENERAL)]
    pub version: Option<bool>,
}

impl Cli {
    /// Parses a command line; the command keeps its words.
    ///
    /// # Errors
    /// The words are not a command, or ask for help or version, which clap reports as errors.
    pub fn parse_words(words: Vec<OsString>) -> std::result::Result<Self, clap::Error> {
        let mut program = program();
        let matched = program.try_get_matches_from_mut(&words);
        let parsed = matched.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
        let mut cli = parsed.map_err(|mut error| {
            if error.kind() == ErrorKind::UnknownArgument {
                let command = words.iter().find_map(|word| program.find_subcommand(word));
                synonyms::tip(&mut error, command.map_or("", |command| command.get_name()));
            }
            error
        })?;
        if let Command::Analyze(analyze) = &mut cli.command {
            analyze.reading.overrides.words = words;
        }
        Ok(cli)
    }
}

/// The definition of the command line. A negative number is an invalid value of its flag, not an unknown flag.
fn program() -> clap::Command {
    let with_numbers = |arg: clap::Arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_value)
    };
    Cli::command().mut_subcommands(|command| command.mut_args(with_numbers))
}

/// When to use colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// On a terminal
    Auto,
    /// Also into files and pipes
    Always,
    /// Not at all
    Never,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Key dumps in, a report out: the main job
    Analyze(Box<analyze::AnalyzeArgs>),
    /// The keys of a running cluster, as a directory that analyze reads
    ///
    /// Servers are only read, never changed: SCAN and details of each key, at most a part of the time, from replicas where
    /// there are any. Slots that move and primaries that fail meanwhile are read again from their new owners.
    Collect(Box<collect::CollectArgs>),
    /// The state of a running cluster for Prometheus
    ///
    /// At most 200 series, whatever the size of the cluster. Servers are only read: INFO, CLUSTER NODES and, where they have it,
    /// CLUSTER SLOT-STATS, at intervals.
    Exporter(Box<exporter::ExporterArgs>),
    /// A running cluster on the terminal: what is hot now
    ///
    /// Shards with memory, load and replication lag, the hottest slots; Enter lists the keys of a slot.
    /// Servers are only read, without MONITOR.
    Top(Box<top::TopArgs>),
    /// Which slots to move where, to even out the nodes
    Plan(Box<plan::PlanArgs>),
    /// The same keys with other nodes, hash policy or tags
    Whatif(Box<whatif::WhatIfArgs>),
    /// Operations over time and slots, and bursts by name
    Timeline(Box<timeline::TimelineArgs>),
    /// What grew and what got hot between two reports
    Diff(diff::DiffArgs),
    /// What shards will hold, when they are full, and how many it takes
    Capacity(Box<capacity::CapacityArgs>),
    /// How many slots and nodes batches touch, and which are CROSSSLOT
    Fanout(Box<fanout::FanoutArgs>),
    /// Which part of a key belongs in braces
    Advise(Box<advise::AdviseArgs>),
    /// Key names against a naming convention
    ///
    /// Exits with 1 where there is an error. The convention is env:service:module:{domain:id}:...; slotscope.toml
    /// in the current directory changes it.
    Lint(Box<lint::LintArgs>),
    /// The hash slot of each key
    Keyslot(keyslot::KeyslotArgs),
    /// Hash tags for a slot or a node, or spread evenly
    ///
    /// Prints for each the slot, a tab, the tag in its braces as in a key and, where nodes are named, another tab
    /// and the node. Tags are short words of lower-case letters and digits without look-alikes, the same in every run.
    FindTag(find_tag::FindTagArgs),
    /// The keys of RDB files, one per line: type, sizes, expiry, slot
    ///
    /// What is odd about a file, and where one cannot be read on, goes to standard error; then the exit code is 2.
    Dump(dump::DumpArgs),
    /// Distributed counting: the counts of dumps, as a file
    Tally(Box<tally::TallyArgs>),
    /// Distributed counting: tally files merged into one
    Merge(tally::MergeArgs),
    /// Distributed counting: the second pass, where one is needed
    Recount(tally::RecountArgs),
    /// A synthetic key dump on standard output
    Generate(generate::GenerateArgs),
    /// CRC16 throughput of every kernel on this machine, or a scan of a dump by stage
    Bench(bench::BenchArgs),
    /// A completion script for a shell, on standard output
    Completions(manual::CompletionsArgs),
    /// The manual page, on standard output
    Man(manual::ManArgs),
    /// The JSON Schema of a JSON output
    Schema(schema::SchemaArgs),
    /// A command's flags, or a page of the manual
    Help(help::HelpArgs),
}

/// How a command ended successfully.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Complete.
    Done,
    /// Complete, but a limit set by the user was crossed.
    Crossed,
    /// The report covers only a part of the input; the rest could not be read.
    Incomplete,
}

impl Ending {
    /// `Incomplete` if an input could not be read to its end.
    pub(crate) fn of(stops: &[Incomplete]) -> Self {
        match stops {
            [] => Ending::Done,
            _ => Ending::Incomplete,
        }
    }
}

/// Reports a failure, and returns the exit code. A closed output does not count as a failure.
fn ended(result: Result<Ending>) -> u8 {
    match result {
        Ok(Ending::Done) | Err(Error::BrokenPipe) => 0,
        Ok(Ending::Crossed) => CROSSED,
        Ok(Ending::Incomplete) => FAILED,
        Err(error) => {
            say(&error.to_string());
            FAILED
        }
    }
}

impl Command {
    /// Runs the command, reports a failure, and returns the exit code.
    fn exit_code(&self) -> u8 {
        let args = self.args();
        let asks_formats = args
            .reading()
            .is_some_and(|reading| reading.format == "help");
        let result = if asks_formats {
            reading::print_format_help()
        } else {
            args.run()
        };
        ended(result)
    }

    /// Its flags.
    fn args(&self) -> &dyn Run {
        match self {
            Command::Analyze(args) => &**args,
            Command::Collect(args) => &**args,
            Command::Exporter(args) => &**args,
            Command::Top(args) => &**args,
            Command::Keyslot(args) => args,
            Command::Dump(args) => args,
            Command::Diff(args) => args,
            Command::Capacity(args) => &**args,
            Command::Timeline(args) => &**args,
            Command::Advise(args) => &**args,
            Command::Lint(args) => &**args,
            Command::FindTag(args) => args,
            Command::Fanout(args) => &**args,
            Command::Whatif(args) => &**args,
            Command::Bench(args) => args,
            Command::Generate(args) => args,
            Command::Plan(args) => &**args,
            Command::Tally(args) => &**args,
            Command::Merge(args) => args,
            Command::Recount(args) => args,
            Command::Completions(args) => args,
            Command::Man(args) => args,
            Command::Schema(args) => args,
            Command::Help(args) => args,
        }
    }
}

/// What the flags of every command do.
pub(crate) trait Run {
    /// Runs the command.
    ///
    /// # Errors
    /// Why the command has no result; the message is for the user.
    fn run(&self) -> Result<Ending>;

    /// How dumps are read, for commands with `--format`.
    fn reading(&self) -> Option<&reading::ReadingArgs> {
        None
    }

    /// Whether it reads standard input for lack of arguments.
    fn reads_stdin(&self) -> bool {
        self.reading()
            .is_some_and(reading::ReadingArgs::reads_stdin)
    }
}
