//! The flags of `slotscope fanout`, and reading batches line by line.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_app::cli::input::kind::{NEEDS_COMMANDS, check_paths, check_sources};
use slotscope_app::cli::printing::{OutputArgs, Rows};
use slotscope_app::cli::reading::input_word;
use slotscope_app::cli::values::part_percent;
use slotscope_app::cli::{Command, Ending, Run, inputs};
use slotscope_app::options::headings::{ARGUMENTS, INPUT, LIMITS, OUTPUT};
use slotscope_app::options::{HashSpec, NodeSpec, StorageSpec, words};
use slotscope_app::pipeline::rejected;
use slotscope_base::block::Block;
use slotscope_base::error::{Error, Result, reason};
use slotscope_base::name::Name;
use slotscope_base::redact::spelled;
use slotscope_base::text::shell_word;
use slotscope_count::tally::rejects::{Reject, Rejects};
use slotscope_model::Incomplete;
use slotscope_read::format::capture::whole_commands::{Stop, WholeCommands};
use slotscope_read::source::boundary::line_at;
use slotscope_read::source::chunk::{CHUNK, Trouble};
use slotscope_read::source::forward::Forward;
use slotscope_read::source::stream::RowReader;
use slotscope_read::source::{Source, stream};

use crate::fanout::kind::{HEAD, InputKind};
use crate::fanout::{Fanout, Lines, PassedOver, view};

/// Lines with a single key each are a key list, unless the user says otherwise.
const NO_COMMANDS: &str = "has no commands: each line is one key; name a MONITOR capture, an append-only file, or lines of commands";

/// How many slots and nodes batches touch, and which are CROSSSLOT
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct FanoutArgs {
    /// MONITOR captures, append-only files, or text with a batch per line
    ///
    /// Words are separated by blanks or quoted as in redis-cli: keys ("user:1 user:2"), or commands ("MGET user:1 user:2";
    /// MULTI to EXEC is one batch). Places are as for analyze.
    #[arg(value_name = "INPUT", help_heading = ARGUMENTS)]
    pub inputs: Vec<PathBuf>,
    /// What the inputs are
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Lines::Auto)]
    pub batches: Lines,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
    /// How places on the network are opened
    #[command(flatten)]
    pub storage: StorageSpec,
    /// The slowest replies of a node, in percent of all: how many batches meet one of them?
    #[arg(long, value_name = "PERCENT", value_parser = part_percent, default_value = "1%", help_heading = LIMITS)]
    pub slow: f64,
    /// Exit with 1 where a batch is refused: keys in several slots
    #[arg(long, help_heading = LIMITS)]
    pub deny_crossslot: bool,
    /// Fail at the first line that is not a batch, without a report
    #[arg(long, help_heading = LIMITS)]
    pub strict: bool,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT)]
    pub top: usize,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Example:
  timeout 10 redis-cli -h HOST -p PORT MONITOR > node.monitor
  slotscope fanout node.monitor --topology cluster.nodes";

impl Run for FanoutArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let topology = self.cluster.topology()?;
        let policy = self.hashing.policy()?;
        let paths = self.paths();
        check_paths(&paths, NEEDS_COMMANDS)?;
        let inputs = inputs::find(&paths, &self.storage.options()?)?.sources;
        check_sources(&inputs, NEEDS_COMMANDS)?;
        let mut fanout = Fanout::new(&topology, &policy, self.batches).with_slow(self.slow / 100.0);
        let mut read = Read::default();
        for (index, input) in inputs.iter().enumerate() {
            read.input(&**input, index as u32, self.batches, &mut fanout)?;
        }
        rejected::check_strict(self.strict, &inputs, &read.rejects)?;
        if let [only] = read.passed_over.as_slice()
            && inputs.len() == 1
        {
            return Err(Error::bad(only.file.to_string(), only.reason.clone()));
        }
        let rejects = rejected::of(&inputs, &read.rejects);
        let is_list = self.batches == Lines::Auto && !read.has_commands;
        let mut findings = fanout.findings(rejects, read.incomplete, read.passed_over);
        findings.refusals_unseen =
            read.is_monitor && findings.crossslot == 0 && findings.batches > 0;
        if is_list
            && !fanout.has_commands()
            && findings.batches > 1
            && findings.batches == findings.keys
        {
            return Err(Error::bad_file(inputs[0].path(), NO_COMMANDS));
        }
        let advise = self.advise();
        let rows = Rows::or_json(self.top);
        self.output.print(&findings, rows, || {
            view::sections(&findings, advise.as_deref())
        })?;
        Ok(match findings.incomplete.is_empty() {
            false => Ending::Incomplete,
            true if self.deny_crossslot && findings.crossslot > 0 => Ending::Crossed,
            true => Ending::Done,
        })
    }

    fn reads_stdin(&self) -> bool {
        self.inputs.is_empty()
    }
}

impl FanoutArgs {
    /// The inputs as named by the user; standard input by default.
    fn paths(&self) -> Vec<PathBuf> {
        match self.inputs.as_slice() {
            [] => vec![PathBuf::from("-")],
            paths => paths.to_vec(),
        }
    }

    /// The command that suggests hash tags for the same inputs; not of a pipe, which is read once, nor under a custom
    /// policy, which needs no hash tags.
    fn advise(&self) -> Option<String> {
        let is_possible = !self.reads_stdin() && words(&self.hashing).is_empty();
        let inputs = self.inputs.iter().map(|path| input_word(path));
        let inputs = inputs.flat_map(|input| ["--batches".to_owned(), input]);
        let flags = words(&self.cluster);
        let words: Vec<String> = inputs.chain(flags).map(|word| shell_word(&word)).collect();
        is_possible.then(|| format!("slotscope advise {}", words.join(" ")))
    }
}

/// Facts about the inputs besides their batches.
#[derive(Default)]
pub(super) struct Read {
    pub(super) rejects: Rejects,
    pub(super) incomplete: Vec<Incomplete>,
    pub(super) passed_over: Vec<PassedOver>,
    /// Whether an input has commands (as captures do) rather than lines of keys.
    has_commands: bool,
    /// Whether all inputs so far are MONITOR.
    is_monitor: bool,
}

impl Read {
    /// Adds the batches of an input.
    pub(super) fn input(
        &mut self,
        input: &dyn Source,
        index: u32,
        lines: Lines,
        fanout: &mut Fanout<'_>,
    ) -> Result<()> {
        let mut stream = stream::open(input)?;
        let mut head = Vec::new();
        let read = stream.by_ref().take(HEAD as u64).read_to_end(&mut head);
        read.map_err(|error| Error::io(input.path(), error))?;
        let kind = match lines {
            Lines::Auto => InputKind::of(&head),
            Lines::Keys | Lines::Commands => InputKind::Lines,
            Lines::Monitor => InputKind::Monitor,
            Lines::Aof => InputKind::Aof,
        };
        self.is_monitor = kind == InputKind::Monitor && (index == 0 || self.is_monitor);
        self.has_commands |= kind != InputKind::Lines;
        let file = Name::from(input.path());
        if let Some(reason) = without_commands(kind, input.path()) {
            let reason = String::from(reason);
            self.passed_over.push(PassedOver { file, reason });
            return Ok(());
        }
        let whole = io::Cursor::new(head).chain(stream);
        let stop = match kind {
            InputKind::Aof => self.commands(Forward::stream(Box::new(whole)), index, fanout),
            _ => self.lines((whole, &file), kind, index, fanout)?,
        };
        let incomplete = stop.map(|(byte, reason)| Incomplete { file, byte, reason });
        self.incomplete.extend(incomplete);
        Ok(())
    }

    /// Adds lines; returns where reading stopped early, and why.
    fn lines(
        &mut self,
        (input, file): (impl io::Read, &Name),
        kind: InputKind,
        index: u32,
        fanout: &mut Fanout<'_>,
    ) -> Result<Option<(u64, String)>> {
        let mut rows = RowReader::new(input, CHUNK);
        let mut block = Block::with_capacity(0);
        let mut end = 0;
        let stop = loop {
            let piece = match rows.next(&mut block) {
                Ok(Some(piece)) => piece,
                Ok(None) => break None,
                Err(Trouble::Long(byte)) => {
                    let reason = "a line longer than 64 MiB; a batch is one line";
                    return Err(Error::bad(format!("{file}: byte {byte}"), reason));
                }
                Err(Trouble::Read(byte, error)) => break Some((byte, reason(&error))),
                Err(Trouble::Damaged(byte, reason)) => break Some((byte, spelled(&reason, None))),
            };
            let mut from = 0;
            while from < block.len() {
                let (line, next) = line_at(block.content(), from);
                let added = match kind {
                    InputKind::Monitor => fanout.add_monitor(line),
                    _ => fanout.add(line),
                };
                self.reject(index, piece.offset + from as u64, added);
                from = next;
            }
            end = piece.offset + block.len() as u64;
        };
        self.reject(index, end, fanout.end_input());
        Ok(stop)
    }

    /// Adds RESP commands; returns where reading stopped early, and why.
    fn commands(
        &mut self,
        input: Forward,
        index: u32,
        fanout: &mut Fanout<'_>,
    ) -> Option<(u64, String)> {
        let mut reader = WholeCommands::new(input);
        let stop = loop {
            match reader.next_command() {
                Ok(Some(command)) => {
                    let byte = command.byte;
                    self.reject(index, byte, fanout.add_found(command));
                }
                Ok(None) => break None,
                Err(Stop::Torn) => {
                    fanout.sums.torn_commands += 1;
                    break None;
                }
                Err(Stop::Bad(byte, reason)) => break Some((byte, reason)),
            }
        };
        self.reject(index, reader.offset(), fanout.end_input());
        stop
    }

    fn reject(&mut self, input: u32, byte: u64, added: std::result::Result<(), String>) {
        if let Err(reason) = added {
            self.rejects.push(Reject {
                input,
                byte,
                reason,
            });
        }
    }
}

/// Why an input of this kind has no commands.
fn without_commands(kind: InputKind, path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let is_base = kind == InputKind::Aof && name.ends_with(b".base.aof");
    let has_none = matches!(
        kind,
        InputKind::Snapshot | InputKind::Manifest | InputKind::Table
    );
    (is_base || has_none).then_some(
        "has no commands: it is a snapshot, a manifest or a table of keys; name a MONITOR capture, the .incr.aof files of an \
         append-only directory, or lines of commands",
    )
}
