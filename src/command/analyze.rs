//! `slotscope analyze`: key dumps come in; a report goes to the terminal and to a directory.

mod destination;
pub(super) mod facts;
pub(super) mod ready_made;
mod redacted;
pub(super) mod room;
mod schema;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use clap::{Args, ValueEnum};

use super::Ending;
use super::cluster::Cluster;
use super::hashing::Hashing;
use super::limits::Limit;
use super::printing::print;
use super::reading::{Reader, Reading, format_help};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::name::Name;
use crate::redact::Redaction;
use crate::report::directory::Directory;
use crate::report::{self, json, terminal};
use crate::scan::Scanned;
use crate::source::Input;
use crate::summary::node_counts::NodeCounts;
use crate::summary::patterns::Levels;
use crate::summary::{self, Listing, Summary};
use crate::tally::heavy::TagCounts;
use crate::tally::origins::Origins;
use crate::tally::recount::{Candidates, Recount};
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;
use crate::topology::cluster_info::{self, NodeKeys};
use destination::{check_apart, report_name};
use facts::{input_facts, run_facts};
use room::RoomFlags;

/// Key dumps in, a skew report out.
#[derive(Args, Debug)]
pub struct Analyze {
    /// What is read
    #[command(flatten)]
    pub reading: Reading,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
    /// The hash policy
    #[command(flatten)]
    pub hashing: Hashing,
    /// What `redis-cli --cluster info` printed: a dump that is over 1 % short of it is told; without INPUT, the nodes
    /// are judged by that alone (`-` reads a dump from standard input)
    #[arg(long, value_name = "FILE")]
    pub cluster_info: Option<PathBuf>,
    /// The metric of the verdict and the tables; all that the input carries are counted
    #[arg(long, value_enum, value_name = "METRIC", default_value_t = Metric::Keys)]
    pub by: Metric,
    /// Rows in every table on the terminal
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// What parts the segments of a key
    #[arg(long, value_name = "STR", default_value = ":", allow_hyphen_values = true)]
    pub separator: String,
    /// Levels of prefixes; 0: no prefixes and no patterns
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub depth: usize,
    /// Nothing but this part: slots, nodes and their balance
    #[arg(long, value_enum, value_name = "PART")]
    pub only: Option<Part>,
    /// Never read a file twice: past 65,536 distinct tags their counts come with bounds
    #[arg(long)]
    pub one_pass: bool,
    /// Exit with 1 where a number of report.json crosses a limit; may be repeated: `nodes.keys.max_over_mean > 1.2`,
    /// `tags.top[*].share >= 0.05`
    #[arg(long, value_name = "PATH OP NUMBER")]
    pub fail_on: Vec<String>,
    /// Replace the names of keys, tags, prefixes, files and nodes by keyed hashes in every output; the key is
    /// SLOTSCOPE_REDACT_KEY, else random
    #[arg(long)]
    pub redact: bool,
    /// How much room the nodes have
    #[command(flatten)]
    pub room: RoomFlags,
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
        if self.separator.is_empty() {
            return Err(Error::bad("--separator", "must not be empty"));
        }
        let limits = self.limits()?;
        let room = self.room.room(&topology)?;
        let redaction = self.redact.then(Redaction::from_environment).transpose()?;
        let mut said = self.cluster_info.as_deref().map(cluster_info::read).transpose()?.unwrap_or_default();
        if let Some(redaction) = &redaction {
            redacted::said(redaction, &topology, &mut said);
        }
        if let (Some(path), []) = (&self.cluster_info, self.reading.inputs.as_slice()) {
            let path = Name::from(path.as_path());
            let path = redaction.map_or(path.clone(), |redaction| redaction.name(&path));
            return self.report_counts(path, &said);
        }
        let mut reader = self.reading.reader()?;
        reader.policy = self.hashing.policy()?;
        reader.only.not_of = topology.replicas.clone();
        let directory = self.directory(&reader.inputs)?;

        let scanned = self.count(&reader, &topology)?;
        let recount = recount(&reader, &scanned.tally)?;
        self.check_carried(&scanned.tally)?;
        let mut input = input_facts(&reader.inputs, &scanned);
        if reader.passed_over > 0 {
            let what = "entries of directories that are no files, passed over (directories are not searched deeper)";
            input.notes.push(format!("{what}: {}", reader.passed_over));
        }
        let mut topology = topology;
        if let Some(redaction) = &redaction {
            redacted::input(redaction, &mut input);
            if self.cluster.topology.is_some() {
                topology = topology.renamed(|name| redaction.text(name));
            }
        }
        input.notes.extend(facts::policy_note(&reader.policy));
        let listing = self.listing(redaction.as_ref());
        let mut summary = summary::summarise(&scanned.tally, recount.as_ref(), &topology, listing, input);
        summary.input.warnings.extend(summary.nodes.shortfalls(&said));
        summary.capacity = room.map(|room| room::capacity(&summary, &room)).transpose()?;
        summary.run = run_facts(&reader, started, 1 + u32::from(recount.is_some()), &summary);
        if let Some(redaction) = &redaction {
            redacted::summary(redaction, &mut summary);
        }

        // Whoever reads the text may have read enough of it; the files are wanted all the same.
        let printed = self.print(&summary);
        if let Some((directory, path)) = directory {
            directory.publish(|name, out| report::write(&summary, name, out))?;
            if !self.json && printed.is_ok() {
                self.say_where(&path)?;
            }
        }
        printed?;
        let crossed = crossed(&limits, &summary)?;
        Ok(match summary.input.incomplete.is_empty() {
            false => Ending::Incomplete,
            true if crossed => Ending::Crossed,
            true => Ending::Done,
        })
    }

    /// The limits that the user set.
    fn limits(&self) -> Result<Vec<Limit>> {
        if self.fail_on.is_empty() {
            return Ok(Vec::new());
        }
        let schema = schema::whole_report()?;
        let limits = self.fail_on.iter().map(|text| Limit::parse(text, &schema)).collect::<Result<Vec<_>>>()?;
        let assumed = self.cluster.topology.is_none() && self.cluster.nodes.is_none();
        match limits.iter().any(|limit| assumed && limit.part() == "nodes") {
            true => {
                Err(Error::bad("--fail-on nodes...", "the nodes are not known; name them with --topology or --nodes"))
            }
            false => Ok(limits),
        }
    }

    /// Counts all keys, or takes over what servers counted.
    fn count(&self, reader: &Reader, topology: &Topology) -> Result<Scanned<Tallies>> {
        if let Some(taken) = ready_made::take(&reader.inputs, self.reading.ops_column.as_deref())? {
            if !reader.policy.is_oss() {
                let what = "CLUSTER SLOT-STATS tells slots as the server hashed them; leave --policy out";
                return Err(Error::bad("--policy", what));
            }
            return Ok(taken);
        }
        let parts = self.parts(reader);
        // Only a topology of the user's can be at odds with the files.
        let origins = match self.cluster.topology {
            Some(_) => {
                let addresses: Vec<_> = topology.nodes.iter().map(|node| node.address.as_deref()).collect();
                Origins::new(reader.inputs.len(), &addresses, |slot| topology.owner(slot))
            }
            None => Origins::default(),
        };
        let make = || Tallies { origins: origins.clone(), ..Tallies::new(parts) };
        match self.depth {
            0 => reader.scan("counting", make),
            _ => reader.scan("counting", || make().with_patterns()),
        }
    }

    /// The node part of the report, from what the nodes say of themselves: there is no dump.
    fn report_counts(&self, source: Name, said: &[NodeKeys]) -> Result<Ending> {
        let counts = NodeCounts::of(source, said);
        print(
            self.json,
            |out| json::write_object(&counts, out),
            |width, out| terminal::node_counts::write(&counts, width, self.top, out),
        )?;
        Ok(Ending::Done)
    }

    /// Opens the files of the report, unless none are wanted.
    fn directory(&self, inputs: &[Input]) -> Result<Option<(Directory, PathBuf)>> {
        let path = match &self.out {
            Some(path) => path.clone(),
            None if self.no_files || self.json => return Ok(None),
            None if self.redact => Path::new("reports").join("redacted"),
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

    fn listing<'a>(&'a self, redaction: Option<&'a Redaction>) -> Listing<'a> {
        let levels = Levels { separator: self.separator.as_bytes(), depth: self.depth };
        Listing { by: self.by, levels, rows: self.top, redaction }
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
        let text = |width, out: &mut dyn Write| terminal::write(summary, width, self.top, out);
        print(self.json, |out| json::write(summary, out), text)
    }

    fn say_where(&self, path: &Path) -> Result<()> {
        let path = Name::from(path.join("").as_path());
        writeln!(io::stdout(), "\nThe report with its charts is in {path}").map_err(Error::stdout)
    }
}

/// Whether a number of the report crossed a limit; each that did is told.
fn crossed(limits: &[Limit], summary: &Summary) -> Result<bool> {
    if limits.is_empty() {
        return Ok(false);
    }
    let report = serde_json::to_value(summary).unwrap_or_default();
    let mut lines = Vec::new();
    for limit in limits {
        lines.extend(limit.crossed(&report)?);
    }
    // Where standard error is closed, the exit code tells.
    lines.iter().for_each(|line| drop(writeln!(io::stderr(), "slotscope: {line}")));
    Ok(!lines.is_empty())
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
