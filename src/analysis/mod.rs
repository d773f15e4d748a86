//! The front door: from sources to a `Summary` in one call.
//!
//! Everything between the options and the numbers happens here and nowhere else: detection of ready-made counts, the
//! two passes, redaction, and the facts about the run.

pub mod collected;
pub mod file_nodes;
pub mod input_info;
pub mod likely_heavy;
pub mod reading;
mod redacted;
pub mod rejected;
mod run_info;
pub mod slot_stats;
pub mod two_pass;

use std::path::Path;
use std::sync::Arc;

use crate::analysis::likely_heavy::Sampling;
use crate::analysis::reading::{Options, Progress, Reading};
use crate::analysis::run_info::Started;
use crate::analysis::two_pass::{Again, Counted};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::metric::Metric;
use crate::name::Name;
use crate::redact::Redaction;
use crate::remedies::{self, Commands};
use crate::scan::Scanned;
use crate::slot::Kernel;
use crate::slot::policy::Policy;
use crate::source;
use crate::summary;
use crate::summary::capacity::{Capacity, Room};
use crate::summary::evidence::Evidence;
use crate::summary::node_counts::NodeCounts;
use crate::summary::patterns::Levels;
use crate::summary::{Listing, Summary};
use crate::tally::keys_by_node::KeysByNode;
use crate::tally::slots_by_input::SlotsByInput;
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;
use crate::topology::cluster_info::NodeKeys;

/// What is counted and reported, with defaults for everything.
///
/// ```
/// let dump = std::env::temp_dir().join("slotscope-doc.keys");
/// std::fs::write(&dump, "user:1\nuser:2\n{cart}:1\n{cart}:2\n")?;
/// let summary = slotscope::Analysis::new().nodes(6).run(&[&dump])?;
/// assert_eq!(summary.input.keys, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Analysis {
    reading: Options,
    nodes: Nodes,
    by: Option<Metric>,
    rows: usize,
    separator: String,
    depth: usize,
    slots_only: bool,
    one_pass: bool,
    ops_column: Option<String>,
    node_counts: Vec<NodeKeys>,
    room: Option<RoomOn>,
    redaction: Option<Arc<Redaction>>,
    reading_words: Option<Vec<String>>,
}

/// The memory limits of the nodes of a topology.
type RoomOn = Arc<dyn Fn(&Topology) -> Result<Option<Room>> + Send + Sync>;

/// Which node owns which slot.
#[derive(Clone)]
enum Nodes {
    /// Each input is one where they share no slot, else three equal ones.
    Assumed,
    Even(usize),
    Listed(Topology),
    /// The input lists them itself.
    OfInput(Topology),
}

impl Nodes {
    /// Those of a real cluster.
    fn listed(&self) -> Option<&Topology> {
        match self {
            Nodes::Listed(topology) | Nodes::OfInput(topology) => Some(topology),
            Nodes::Assumed | Nodes::Even(_) => None,
        }
    }
}

impl Default for Analysis {
    fn default() -> Self {
        Analysis {
            reading: Options::default(),
            nodes: Nodes::Assumed,
            by: None,
            rows: 20,
            separator: String::from(":"),
            depth: 4,
            slots_only: false,
            one_pass: false,
            ops_column: None,
            node_counts: Vec::new(),
            room: None,
            redaction: None,
            reading_words: None,
        }
    }
}

impl Analysis {
    /// Everything is counted on all cores. Several inputs that share no slot are a node each; else there are three equal
    /// nodes.
    pub fn new() -> Self {
        Analysis::default()
    }

    /// Assumes an even split of the slots over `count` primaries.
    pub fn nodes(mut self, count: usize) -> Self {
        self.nodes = Nodes::Even(count);
        self
    }

    /// Sets which node owns which slot.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.nodes = Nodes::Listed(topology);
        self
    }

    /// Sets the metric of the tables; everything that the input carries is counted, and the verdict is by all of it.
    pub fn by(mut self, metric: impl Into<Option<Metric>>) -> Self {
        self.by = metric.into();
        self
    }

    /// Sets the rows of the tables for people.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = rows;
        self
    }

    /// Sets the separator between the segments of a key and the levels of prefixes; with 0 levels there are neither
    /// prefixes nor patterns.
    pub fn segments(mut self, separator: &str, depth: usize) -> Self {
        (self.separator, self.depth) = (separator.to_owned(), depth);
        self
    }

    /// Counts slots and nodes and nothing else.
    pub fn slots_only(mut self, slots_only: bool) -> Self {
        self.slots_only = slots_only;
        self
    }

    /// Never reads a source twice: beyond 65,536 distinct tags their counts come with bounds.
    pub fn one_pass(mut self, one_pass: bool) -> Self {
        self.one_pass = one_pass;
        self
    }

    /// Sets what part of a key is hashed.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.reading.policy = policy;
        self
    }

    /// Sets the format of every source, which is detected otherwise.
    pub fn format(mut self, format: &'static dyn Format) -> Self {
        self.reading.format = Some(format);
        self
    }

    /// Counts only the keys of this database, where the input shows it.
    pub fn database(mut self, number: u64) -> Self {
        self.reading.only.database = Some(number);
        self
    }

    /// Makes a row that is no key an error.
    pub fn strict(mut self, strict: bool) -> Self {
        self.reading.strict = strict;
        self
    }

    /// Sets the number of worker threads.
    pub fn threads(mut self, count: usize) -> Self {
        self.reading.threads = Some(count);
        self
    }

    /// Sets how slots are computed.
    pub fn kernel(mut self, kernel: &'static Kernel) -> Self {
        self.reading.kernel = kernel;
        self
    }

    /// Calls `hook` at the start and the end of each pass and after every block; `Error::Cancelled` where it returns false.
    pub fn on_progress(mut self, hook: impl Fn(Progress) -> bool + Send + Sync + 'static) -> Self {
        self.reading.on_progress = Some(Arc::new(hook));
        self
    }

    /// Sets the statistic of CLUSTER SLOT-STATS that counts as operations.
    pub fn slot_stats_ops(mut self, name: Option<&str>) -> Self {
        self.ops_column = name.map(str::to_owned);
        self
    }

    /// Compares the dump with the numbers of keys that the nodes themselves report.
    pub fn node_counts(mut self, counts: Vec<NodeKeys>) -> Self {
        self.node_counts = counts;
        self
    }

    /// Sets the memory limits of the nodes, for the capacity part.
    pub fn room(self, room: Option<Room>) -> Self {
        self.room_on(move |_| Ok(room.clone()))
    }

    /// The same for nodes that only the inputs may show: `room` has their limits, or an error where it names others.
    pub fn room_on(
        mut self,
        room: impl Fn(&Topology) -> Result<Option<Room>> + Send + Sync + 'static,
    ) -> Self {
        self.room = Some(Arc::new(room));
        self
    }

    /// Sets the words of a command line that name the inputs and say how they are read; the commands of remedies have
    /// them. Without them they have the paths of the sources.
    pub fn reading_words(mut self, words: Vec<String>) -> Self {
        self.reading_words = Some(words);
        self
    }

    /// Replaces the names of keys, tags, prefixes, files and nodes by keyed hashes.
    pub fn redaction(mut self, redaction: Option<Arc<Redaction>>) -> Self {
        self.redaction = redaction;
        self
    }

    /// Reads and counts what `paths` name: files, directories (every file in them), `-` for standard input.
    ///
    /// # Errors
    /// A source, a topology or an option that cannot be used; `Cancelled`.
    pub fn run(&self, paths: &[impl AsRef<Path>]) -> Result<Summary> {
        self.run_on(Reading::new(source::find(paths)?, self.reading.clone())?)
    }

    /// As `run`, on sources that are found already; how they are read is taken from `reading`.
    ///
    /// # Errors
    /// As `run`.
    pub fn run_on(&self, reading: Reading) -> Result<Summary> {
        let listed = match self.nodes {
            Nodes::Assumed => collected::topology(&reading.collections)?,
            _ => None,
        };
        match listed.map(Nodes::OfInput) {
            None => self.summary_of(reading),
            Some(nodes) => Analysis {
                nodes,
                ..self.clone()
            }
            .summary_of(reading),
        }
    }

    fn summary_of(&self, mut reading: Reading) -> Result<Summary> {
        let started = Started::now();
        let topology = self.owners()?;
        // What names nodes that the inputs may show is looked at once they do.
        if !self.may_find_nodes(&reading) {
            self.room_of(&topology)?;
        }
        reading.options.only.not_of = topology.replicas.iter().cloned().collect();
        let Counted {
            first,
            recount,
            passes,
        } = self.count(&reading, &topology)?;
        if let Some(by) = self.by {
            let flag = format!("--by {}", by.name());
            first.tally.slots.loads.required(by, &flag)?;
        }

        let mut input = input_info::of_reading(&reading, &first, self.redaction.is_some());
        let (mut topology, files) = self.found_nodes(&reading, &first, topology);
        let mut node_counts = self.node_counts.clone();
        let room = self.room_of(&topology)?;
        if let Some(redaction) = self.redaction.as_deref() {
            redacted::input(redaction, &mut input, &first.rejects);
            redacted::node_counts(redaction, &topology, &mut node_counts);
            if self.nodes.listed().is_some() || !files.is_empty() {
                topology = topology.renamed(|name| redaction.text(name));
            }
        }
        let is_shown = self.redaction.is_none();
        input.policy = input_info::policy(&reading.options.policy, is_shown);
        let policy_note = input.policy.as_ref().map(input_info::policy_note);
        input.notes.extend(policy_note);

        let tallies = &first.tally;
        let mut summary =
            summary::summarise(tallies, recount.as_ref(), &topology, self.listing(), input);
        file_nodes::warn_of_several(&files, &mut summary);
        let of_lfu = input_info::lfu_note(reading.options.walking.lfu, &summary);
        summary.input.notes.extend(of_lfu);
        let commands = self.commands(&reading, &topology);
        remedies::add(&mut summary, &topology, &commands);
        let shortfalls = summary.nodes.shortfalls(&node_counts);
        let shortfalls = shortfalls.into_iter().map(Evidence::Shortfall);
        summary.input.warnings.extend(shortfalls.map(Into::into));
        summary.capacity = room.map(|room| capacity(&summary, &room)).transpose()?;
        summary.run = started.run(&reading, passes, &summary);
        if let Some(redaction) = self.redaction.as_deref() {
            redacted::summary(redaction, &mut summary);
        }
        Ok(summary)
    }

    /// The node part of a report from what the nodes themselves report in the file `source`, without a dump.
    pub fn of_node_counts(
        &self,
        source: &Path,
        mut counts: Vec<NodeKeys>,
        topology: &Topology,
    ) -> NodeCounts {
        let mut source = Name::from(source);
        if let Some(redaction) = self.redaction.as_deref() {
            redacted::node_counts(redaction, topology, &mut counts);
            source = redaction.name(&source);
        }
        NodeCounts::of(source, &counts)
    }

    fn may_find_nodes(&self, reading: &Reading) -> bool {
        matches!(self.nodes, Nodes::Assumed) && reading.sources.len() > 1
    }

    /// The nodes and the inputs of each, where the inputs show them; else the nodes of `topology`.
    fn found_nodes(
        &self,
        reading: &Reading,
        first: &Scanned<Tallies>,
        topology: Topology,
    ) -> (Topology, Vec<Vec<usize>>) {
        let found = file_nodes::of(reading, first, &first.tally.inputs);
        let found = found.filter(|_| self.may_find_nodes(reading));
        found.map_or((topology, Vec::new()), |found| {
            (found.topology, found.files)
        })
    }

    fn room_of(&self, topology: &Topology) -> Result<Option<Room>> {
        self.room.as_ref().map_or(Ok(None), |room| room(topology))
    }

    fn owners(&self) -> Result<Topology> {
        match &self.nodes {
            Nodes::Assumed => Topology::assumed(),
            Nodes::Even(count) => Topology::even(*count, format!("even {count}")),
            Nodes::Listed(topology) | Nodes::OfInput(topology) => Ok(topology.clone()),
        }
    }

    /// Counts all keys, or takes over what servers counted.
    fn count(&self, reading: &Reading, topology: &Topology) -> Result<Counted> {
        if let Some(first) = slot_stats::take(&reading.sources, self.ops_column.as_deref())? {
            if !reading.options.policy.is_oss() {
                let what =
                    "CLUSTER SLOT-STATS has slots as the server hashed them; leave --policy out";
                return Err(Error::bad("--policy", what));
            }
            return Ok(Counted::of(first, None));
        }
        let mut first = self.first_pass(reading, topology)?;
        let again = Again::of(&mut first.tally)
            .map(|again| {
                reading.with_scan("recounting names", |scan| {
                    again.run(scan, &reading.sources, &first.incomplete)
                })
            })
            .transpose()?;
        Ok(Counted::of(first, again))
    }

    fn first_pass(&self, reading: &Reading, topology: &Topology) -> Result<Scanned<Tallies>> {
        let parts = match (self.slots_only, self.one_pass || !reading.is_rereadable()) {
            (true, _) => Parts::Slots,
            (_, true) => Parts::InOnePass,
            (_, false) => Parts::All,
        };
        // Only the listing of a real cluster can contradict the files.
        let origins = match self.nodes.listed() {
            Some(_) => {
                let nodes = topology.nodes.iter();
                let addresses: Vec<_> = nodes.map(|node| node.address.as_deref()).collect();
                KeysByNode::new(reading.sources.len(), &addresses, |slot| {
                    topology.owner(slot)
                })
            }
            None => KeysByNode::default(),
        };
        let inputs = match self.nodes {
            Nodes::Assumed => SlotsByInput::new(reading.sources.len()),
            _ => SlotsByInput::default(),
        };
        let sampling = Sampling::default();
        let known = match parts {
            Parts::All if sampling.is_worth_it(&reading.sources) => {
                reading.with_scan("sampling", |scan| Ok(sampling.tags(scan, &reading.sources)))?
            }
            _ => None,
        };
        let make = || {
            let tallies = Tallies {
                origins: origins.clone(),
                inputs: inputs.clone(),
                ..Tallies::new(parts)
            };
            tallies.knowing(known.clone())
        };
        match self.depth {
            0 => reading.scan("counting", make),
            _ => reading.scan("counting", || {
                make().with_patterns(self.separator.as_bytes())
            }),
        }
    }

    /// What the commands of remedies have in common.
    fn commands(&self, reading: &Reading, topology: &Topology) -> Commands {
        let paths = || {
            let paths = reading
                .sources
                .iter()
                .map(|source| source.path().display().to_string());
            paths.collect::<Vec<_>>()
        };
        let reading = match (&self.redaction, &self.reading_words) {
            (Some(_), _) => vec!["DUMP".into()],
            (None, Some(words)) => words.clone(),
            (None, None) => paths(),
        };
        let listing = match self.redaction {
            Some(_) => "cluster.nodes".into(),
            None => topology.source.clone(),
        };
        let (nodes, is_real) = match &self.nodes {
            Nodes::Listed(_) => (vec!["--topology".into(), listing], true),
            Nodes::OfInput(_) => (Vec::new(), true),
            Nodes::Assumed if topology.source == Topology::ONE_A_FILE => (Vec::new(), false),
            _ => (
                vec!["--nodes".into(), topology.nodes.len().to_string()],
                false,
            ),
        };
        Commands {
            reading,
            nodes,
            is_real,
        }
    }

    fn listing(&self) -> Listing<'_> {
        let levels = Levels {
            separator: self.separator.as_bytes(),
            depth: self.depth,
        };
        Listing {
            by: self.by,
            levels,
            rows: self.rows,
            redaction: self.redaction.as_deref(),
        }
    }
}

/// The capacity part of a report.
fn capacity(summary: &Summary, room: &Room) -> Result<Capacity> {
    Capacity::of(&summary.nodes, summary.units.per.bytes(), room).ok_or_else(|| {
        let what = "the input has no sizes, so the memory of nodes is not known; give a dump with sizes, or --used-memory ID=SIZE for every node";
        Error::bad("--maxmemory", what)
    })
}

#[cfg(test)]
mod tests;
