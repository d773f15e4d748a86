//! The flags of `slotscope advise`.

use std::path::PathBuf;
use std::thread;

use clap::Args;

use slotscope_advisor::batches::Batches;
use slotscope_advisor::findings::AdviseFindings;
use slotscope_app::cli::by::ByArgs;
use slotscope_app::cli::input::InputFlags;
use slotscope_app::cli::input::kind::{NEEDS_COMMANDS, NEEDS_NAMES, check_paths};
use slotscope_app::cli::input::servers::{Collected, LiveArgs, ServerArgs};
use slotscope_app::cli::printing::{OutputArgs, Rows};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::{Command, Ending, Run, inputs, say, say_stop};
use slotscope_app::options::NodeSpec;
use slotscope_app::options::headings::{INPUT, LIMITS, OUTPUT};
use slotscope_app::pipeline::reading::Reading;
use slotscope_app::pipeline::{collected, collected_nodes, rejected};
use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;
use slotscope_detect::chosen::AUTO;
use slotscope_read::source::{Source, stream};
use slotscope_report::view::advice;
use slotscope_topology::Topology;
use std::io::Read as _;

use crate::advise::{AdviseSpec, advise, names_in, owners};
use crate::cli::fanout::Read;
use crate::fanout::kind::InputKind;
use crate::fanout::{Fanout, Lines};

/// Which part of a key belongs in braces
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct AdviseArgs {
    /// What is read: names, and next to them MONITOR captures and append-only files
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Commands, as for fanout: lines of commands or keys, MONITOR, or an append-only file; may be repeated
    ///
    /// Captures may also be among the inputs. Without names, those in the commands are judged.
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub batches: Vec<PathBuf>,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// What load is
    #[command(flatten)]
    pub by: ByArgs,
    /// Names of this pattern must not change: as advise prints it, `cart:<n>:items`; may be repeated
    #[arg(long, value_name = "PATTERN", help_heading = LIMITS)]
    pub keep: Vec<String>,
    /// Names of both patterns must share a slot where they share an id; may be repeated
    #[arg(long, value_name = "A,B", help_heading = LIMITS)]
    pub together: Vec<String>,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = OUTPUT)]
    pub top: usize,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
    /// How servers among the inputs are reached; `--keep` is of patterns here
    #[command(flatten)]
    pub live: LiveArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope advise dump.rdb --batches node.monitor --nodes 6
  slotscope advise keys.txt --nodes 6 --together 'cart:<n>,user:<n>'";

/// The result of a thread; resumes its panic here.
fn resumed<T>(joined: thread::Result<T>) -> T {
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Run for AdviseArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let findings = self.findings()?;
        let rows = Rows::or_json(self.top);
        self.output
            .print(&findings, rows, || advice::sections(&findings))?;
        Ok(Ending::Done)
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }

    fn reads_stdin(&self) -> bool {
        self.reading.reads_stdin() && self.batches.is_empty()
    }
}

impl AdviseArgs {
    /// The advice, without printing it.
    ///
    /// # Errors
    /// As for `run`.
    pub fn findings(&self) -> Result<AdviseFindings> {
        let (mut reading, _collected) = self.names()?.unzip();
        let topology = self.topology(reading.as_ref())?;
        let spec = AdviseSpec {
            owners: owners(&topology),
            by: self.by.metrics()?.first().copied().unwrap_or(Metric::Bytes),
            keep: self.keep.clone(),
            together: self
                .together
                .iter()
                .map(|text| pair(text))
                .collect::<Result<_>>()?,
        };
        // With an explicit format, all inputs are names in that format.
        let mixed = reading.as_mut().filter(|_| self.reading.format == AUTO);
        let captures = mixed.map_or(Ok(Vec::new()), captures_of)?;
        let named = self.named_batches()?;
        let reading = reading
            .as_ref()
            .filter(|reading| !reading.sources.is_empty());
        let read_names = || reading.map(|reading| names_in(reading, spec.by));
        // One thread can read commands while the others read names.
        let (names, batches) = thread::scope(|scope| {
            let beside = thread::Builder::new().spawn_scoped(scope, read_names);
            let mut fanout = Fanout::new(&topology, &Policy::Oss, Lines::Auto).only_keeping();
            let batches = self
                .read(&captures, &mut fanout)
                .and_then(|()| self.read(&named, &mut fanout))
                .map(|()| fanout.take_batches());
            let names = beside.map_or_else(|_| read_names(), |thread| resumed(thread.join()));
            (names, batches)
        });
        let batches = batches?;
        let sample = reading.zip(names.transpose()?);
        check_any(reading, &batches)?;
        advise(sample, &batches, &spec)
    }

    /// The nodes named by flags, else those of a collected cluster.
    fn topology(&self, reading: Option<&Reading>) -> Result<Topology> {
        let collections = reading.filter(|_| !self.cluster.is_named());
        let collected = collections.map(|reading| collected_nodes::topology(&reading.collections));
        let several = |topology: &Topology| topology.nodes.len() > 1;
        match collected.transpose()?.flatten().filter(several) {
            Some(topology) => Ok(topology),
            None => self.cluster.topology(),
        }
    }

    /// The inputs of `--batches`.
    fn named_batches(&self) -> Result<Vec<Box<dyn Source>>> {
        if self.batches.is_empty() {
            return Ok(Vec::new());
        }
        check_paths(&self.batches, NEEDS_COMMANDS)?;
        let storage = self.reading.storage.options()?;
        Ok(inputs::find(&self.batches, &storage)?.sources)
    }

    /// The input with names; `None` if only batches are given.
    fn names(&self) -> Result<Option<(Reading, Option<Collected>)>> {
        if self.reading.reads_stdin() && !self.batches.is_empty() {
            return Ok(None);
        }
        let flags = InputFlags {
            reading: &self.reading,
            servers: &ServerArgs::for_now(self.live.clone()),
            hashing: None,
            refused: NEEDS_NAMES,
        };
        let (reading, collected) = flags.find()?.read(self.reading.progress)?.reading()?;
        collected::incomplete(&reading.collections)
            .iter()
            .for_each(|stop| say(&format!("{}: {}", stop.file, stop.reason)));
        Ok(Some((reading, collected)))
    }

    fn read(&self, sources: &[Box<dyn Source>], fanout: &mut Fanout<'_>) -> Result<()> {
        let mut read = Read::default();
        for (index, source) in sources.iter().enumerate() {
            read.input(&**source, index as u32, Lines::Auto, fanout)?;
        }
        rejected::check_strict(self.reading.strict, sources, &read.rejects)?;
        read.incomplete.iter().for_each(say_stop);
        let passed_over = read
            .passed_over
            .iter()
            .map(|input| format!("{} is passed over: {}", input.file, input.reason));
        let rejects = (read.rejects.count > 0).then(|| {
            format!(
                "{} lines are not batches and are not counted",
                read.rejects.count
            )
        });
        passed_over.chain(rejects).for_each(|remark| say(&remark));
        Ok(())
    }
}

/// Removes captures and append-only files from the sources of names.
fn captures_of(reading: &mut Reading) -> Result<Vec<Box<dyn Source>>> {
    let (mut names, mut captures) = (Vec::new(), Vec::new());
    for source in std::mem::take(&mut reading.sources) {
        if source.is_rereadable() && is_capture(&*source)? {
            captures.push(source)
        } else {
            names.push(source)
        }
    }
    reading.sources = names;
    Ok(captures)
}

fn is_capture(source: &dyn Source) -> Result<bool> {
    let mut head = Vec::new();
    let read = stream::open(source)?
        .take(crate::fanout::kind::HEAD as u64)
        .read_to_end(&mut head);
    read.map_err(|error| Error::io(source.path(), error))?;
    Ok(matches!(
        InputKind::of(&head),
        InputKind::Monitor | InputKind::Aof
    ))
}

fn check_any(names: Option<&Reading>, batches: &Batches) -> Result<()> {
    if !(names.is_none() && batches.is_empty()) {
        Ok(())
    } else {
        Err(Error::bad(
            "no keys",
            "name a dump, or --batches with commands that have keys",
        ))
    }
}

/// The two patterns of `--together`.
fn pair(text: &str) -> Result<[String; 2]> {
    let two = text
        .split_once(',')
        .map(|(a, b)| [a, b].map(|part| part.trim().to_owned()));
    two.ok_or_else(|| {
        let reason = "expected two patterns and a comma between them: cart:<n>:items,user:<n>";
        Error::option("together", Name::from(text), reason)
    })
}
