//! The front door: from sources to a `Summary` in one call.
//!
//! Everything between the options and the numbers happens here and nowhere else: detection of ready-made counts, the
//! two passes, redaction, and the facts about the run.

pub mod beside;
pub mod captured;
pub mod collected;
pub(crate) mod collected_nodes;
pub mod counted;
pub mod counters;
mod distinct_tags;
pub mod file_nodes;
mod in_table;
pub mod input_info;
pub mod inputs;
pub mod judging;
pub mod likely_heavy;
mod nothing_left;
pub mod observed;
#[doc(hidden)]
pub mod reading;
pub mod rejected;
mod run_info;
pub mod slot_stats;
pub(crate) mod strays;
pub mod tally_spec;
pub mod two_pass;

use std::path::Path;
use std::sync::Arc;

use crate::source;
use slotscope_engine::error::Result;
use slotscope_engine::format::Format;
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::redact::Redaction;
use slotscope_engine::slot::Kernel;
use slotscope_engine::slot::policy::Policy;
use slotscope_findings::steps::Service;
use slotscope_findings::summary::capacity::Room;
use slotscope_findings::summary::measure::Measure;
use slotscope_findings::summary::node_counts::NodeCounts;
use slotscope_findings::summary::state::State;
use slotscope_findings::summary::{Summary, redacted};
use slotscope_findings::topology::Topology;
use slotscope_findings::topology::cluster_info::NodeKeys;

use crate::pipeline::likely_heavy::Sampling;
use crate::pipeline::reading::{Options, Progress, Reading};

/// The settings of an analysis, with defaults for everything.
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
    by: Vec<Metric>,
    weights: Vec<(String, f64)>,
    previous: Vec<(Measure, State)>,
    service: Option<&'static Service>,
    rows: usize,
    separator: String,
    depth: usize,
    slots_only: bool,
    one_pass: bool,
    ops_column: Option<String>,
    captured: Vec<String>,
    node_counts: Vec<NodeKeys>,
    room: Option<RoomOn>,
    redaction: Option<Arc<Redaction>>,
    reading_words: Option<Vec<String>>,
    judging_words: Option<Vec<String>>,
    sampling: Sampling,
}

/// The memory limits of the nodes of a topology.
type RoomOn = Arc<dyn Fn(&Topology) -> Result<Option<Room>> + Send + Sync>;

/// The source of the nodes and their slots.
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
            by: Vec::new(),
            weights: Vec::new(),
            previous: Vec::new(),
            service: None,
            rows: 20,
            separator: String::from(":"),
            depth: 4,
            slots_only: false,
            one_pass: false,
            ops_column: None,
            captured: Vec::new(),
            node_counts: Vec::new(),
            room: None,
            redaction: None,
            reading_words: None,
            judging_words: None,
            sampling: Sampling::default(),
        }
    }
}

impl Analysis {
    /// Everything is counted on all cores. Several inputs that share no slot are one node each; else there are three equal
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

    /// Sets what nodes are judged by, the first metric being that of the tables; everything that the input carries is
    /// counted. Without any, memory and load are judged, each by the best metric that the input has.
    pub fn by(mut self, metrics: impl IntoIterator<Item = Metric>) -> Self {
        self.by = metrics.into_iter().collect();
        self
    }

    /// Sets relative capacities of nodes by hostname, address or id, or the start of one; 1 for all others.
    pub fn weights(mut self, weights: Vec<(String, f64)>) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the service that runs the servers: steps are those that are possible there. Without it, the names of the nodes tell.
    pub fn service(mut self, service: Option<&'static Service>) -> Self {
        self.service = service;
        self
    }

    /// Sets the report before: a state falls only when its figure is a little below the band that raised it.
    pub fn previous(mut self, report: Option<&Summary>) -> Self {
        let roles = report.iter().flat_map(|report| &report.verdict.roles);
        self.previous = roles.map(|role| (role.metric, role.state)).collect();
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

    /// Never reads a source again to its end: past 65,536 distinct tags the counts of RDB files and compressed files come with
    /// bounds.
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

    /// Makes a row that is not a key an error.
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

    /// Says which nodes captures are of, by ids, addresses or hostnames; none where the inputs show it.
    pub fn captured(mut self, nodes: Vec<String>) -> Self {
        self.captured = nodes;
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

    /// Sets the words of a command line that say how nodes are judged; the plans of remedies have them. Without them they
    /// have the metrics.
    pub fn judging_words(mut self, words: Vec<String>) -> Self {
        self.judging_words = Some(words);
        self
    }

    /// Sets from how many bytes on a sample of the inputs is taken first, and of how much; the default is the fastest.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
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
        self.count(reading)?.summary()
    }

    /// The nodes as far as they are known without the inputs; checked against what names nodes, unless the inputs may
    /// show others.
    fn first_owners(&self, inputs: usize) -> Result<Topology> {
        let topology = self.owners()?;
        if !self.may_find_nodes(inputs) {
            self.room_of(&topology)?;
        }
        Ok(topology)
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

    fn may_find_nodes(&self, inputs: usize) -> bool {
        matches!(self.nodes, Nodes::Assumed) && inputs > 1
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
}

#[cfg(test)]
mod tests;
