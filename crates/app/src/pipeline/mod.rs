//! The main API: from sources to a `Summary` in one call.
//!
//! Everything between options and numbers happens here: detecting precomputed counts, the two passes, redaction, and
//! facts about the run.

pub mod beside;
pub mod captured;
pub mod collected;
pub mod collected_nodes;
pub mod counted;
pub mod counters;
pub mod file_nodes;
mod in_table;
pub mod input_info;
pub mod inputs;
pub mod judging;
mod nothing_left;
pub mod observed;
#[doc(hidden)]
pub mod reading;
pub mod rejected;
mod run_info;
#[cfg(feature = "cli")]
pub mod running;
pub mod slot_stats;
pub mod strays;
pub mod tally_spec;
pub mod two_pass;

use std::path::Path;
use std::sync::Arc;

use crate::options::counting::{CountSpec, Part};
use crate::source;
use slotscope_base::error::Result;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_findings::summary::node_counts;
use slotscope_model::capacity::Room;
use slotscope_model::measure::Measure;
use slotscope_model::node_counts::NodeCounts;
use slotscope_model::state::State;
use slotscope_model::{Summary, redacted};
use slotscope_moves::steps::Service;
use slotscope_read::format::Format;
use slotscope_topology::Topology;
use slotscope_topology::cluster_info::NodeKeys;

use crate::pipeline::reading::{Options, Progress, Reading};

/// The settings of an analysis, all with defaults.
///
/// ```
/// # use slotscope_app as slotscope;
/// let dump = std::env::temp_dir().join("slotscope-doc.keys");
/// std::fs::write(&dump, "user:1\nuser:2\n{cart}:1\n{cart}:2\n")?;
/// let summary = slotscope::Analysis::new().nodes(6).run(&[&dump])?;
/// assert_eq!(summary.input.keys, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Analysis {
    reading: Options,
    nodes: Nodes,
    by: Vec<Metric>,
    weights: Vec<(String, f64)>,
    previous: Vec<(Measure, State)>,
    service: Option<&'static Service>,
    rows: Option<usize>,
    counting: CountSpec,
    ops_column: Option<String>,
    node_counts: Vec<NodeKeys>,
    room: Option<RoomOn>,
    redaction: Option<Arc<Redaction>>,
    reading_words: Option<Vec<String>>,
    judging_words: Option<Vec<String>>,
    most_tags: Option<usize>,
}

/// The memory limits of the nodes of a topology.
type RoomOn = Arc<dyn Fn(&Topology) -> Result<Option<Room>> + Send + Sync>;

/// Where the nodes and their slots come from.
#[derive(Clone, Default)]
enum Nodes {
    /// Each input is a node if they share no slot, else three equal nodes.
    #[default]
    Assumed,
    Even(usize),
    Listed(Topology),
    /// The input lists them.
    OfInput(Topology),
}

impl Nodes {
    /// The nodes of a real cluster.
    fn listed(&self) -> Option<&Topology> {
        match self {
            Nodes::Listed(topology) | Nodes::OfInput(topology) => Some(topology),
            Nodes::Assumed | Nodes::Even(_) => None,
        }
    }
}

impl Analysis {
    /// Counts everything, on all cores. Several inputs without common slots are one node each; otherwise three equal
    /// nodes are assumed.
    pub fn new() -> Self {
        Analysis::default()
    }

    /// Assumes an even split of the slots over `count` primaries.
    pub fn nodes(mut self, count: usize) -> Self {
        self.nodes = Nodes::Even(count);
        self
    }

    /// Sets the owners of slots.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.nodes = Nodes::Listed(topology);
        self
    }

    /// Sets the metrics that nodes are judged by, the first one also for tables; all metrics of the input are counted.
    /// By default, memory and load are judged, each by the best metric in the input.
    pub fn by(mut self, metrics: impl IntoIterator<Item = Metric>) -> Self {
        self.by = metrics.into_iter().collect();
        self
    }

    /// Sets relative capacities of nodes by hostname, address or id, or a prefix of one; 1 by default.
    pub fn weights(mut self, weights: Vec<(String, f64)>) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the managed service running the servers: steps are limited to those it allows. By default the node names
    /// tell.
    pub fn service(mut self, service: Option<&'static Service>) -> Self {
        self.service = service;
        self
    }

    /// Sets the previous report, for hysteresis: a state falls only once its figure is slightly below the band that
    /// raised it.
    pub fn previous(mut self, report: Option<&Summary>) -> Self {
        let roles = report.iter().flat_map(|report| &report.verdict.roles);
        self.previous = roles.map(|role| (role.metric, role.state)).collect();
        self
    }

    /// Sets the number of rows in tables for people.
    pub fn rows(mut self, rows: usize) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Sets the separator between segments of a key, and the levels of prefixes; with 0 levels there are neither
    /// prefixes nor patterns.
    pub fn segments(mut self, separator: &str, depth: usize) -> Self {
        (self.counting.separator, self.counting.depth) = (separator.to_owned(), depth);
        self
    }

    /// Counts only slots and nodes.
    pub fn slots_only(mut self, slots_only: bool) -> Self {
        self.counting.only = slots_only.then_some(Part::Slots);
        self
    }

    /// Never reads a source to its end twice: beyond 65,536 distinct tags, counts of RDB and compressed files are
    /// bounds.
    pub fn one_pass(mut self, one_pass: bool) -> Self {
        self.counting.one_pass = one_pass;
        self
    }

    /// Sets what is counted.
    #[doc(hidden)]
    pub fn counting(mut self, counting: CountSpec) -> Self {
        self.counting = counting;
        self
    }

    /// Sets the format of every source; by default it is detected.
    pub fn format(mut self, format: &'static dyn Format) -> Self {
        self.reading.format = Some(format);
        self
    }

    /// Sets the number of worker threads.
    pub fn threads(mut self, count: usize) -> Self {
        self.reading.threads = Some(count);
        self
    }

    /// Calls `hook` at the start and end of each pass and after every block; if it returns false, the run ends with
    /// `Error::Cancelled`.
    pub fn on_progress(mut self, hook: impl Fn(Progress) -> bool + Send + Sync + 'static) -> Self {
        self.reading.on_progress = Some(Arc::new(hook));
        self
    }

    /// Sets the statistic of CLUSTER SLOT-STATS that counts as operations.
    #[doc(hidden)]
    pub fn slot_stats_ops(mut self, name: Option<&str>) -> Self {
        self.ops_column = name.map(str::to_owned);
        self
    }

    /// Compares the dump with the key counts reported by the nodes.
    pub fn node_counts(mut self, counts: Vec<NodeKeys>) -> Self {
        self.node_counts = counts;
        self
    }

    /// Sets the nodes' memory limits, for the capacity part.
    pub fn room(self, room: Option<Room>) -> Self {
        self.room_on(move |_| Ok(room.clone()))
    }

    /// Like `room`, for nodes that only the inputs may show: `room` returns their limits, or an error if it names other
    /// nodes.
    pub(crate) fn room_on(
        mut self,
        room: impl Fn(&Topology) -> Result<Option<Room>> + Send + Sync + 'static,
    ) -> Self {
        self.room = Some(Arc::new(room));
        self
    }

    /// Sets the words of a command line that name the inputs and say how they are read; the commands of remedies have
    /// them. Without them they have the paths of the sources; where there is no word, there is no such command.
    #[doc(hidden)]
    pub fn reading_words(mut self, words: Vec<String>) -> Self {
        self.reading_words = Some(words);
        self
    }

    /// Sets command-line words for judging nodes, for the plans in remedies. By default these use the metrics.
    #[doc(hidden)]
    pub fn judging_words(mut self, words: Vec<String>) -> Self {
        self.judging_words = Some(words);
        self
    }

    /// Sets how many distinct hash tags are counted each, for tests.
    pub fn most_tags(mut self, most_tags: usize) -> Self {
        self.most_tags = Some(most_tags);
        self
    }

    /// Replaces the names of keys, tags, prefixes, files and nodes by keyed hashes.
    pub fn redaction(mut self, redaction: Option<Arc<Redaction>>) -> Self {
        self.redaction = redaction;
        self
    }

    /// Reads and counts the inputs named by `paths`: files, directories (every file in them), `-` for standard input.
    ///
    /// # Errors
    /// A source, topology or option is unusable; `Cancelled`.
    pub fn run(&self, paths: &[impl AsRef<Path>]) -> Result<Summary> {
        self.run_on(Reading::new(source::find(paths)?, self.reading.clone())?)
    }

    /// Like `run`, for sources already found, with the read settings of `reading`.
    ///
    /// # Errors
    /// As for `run`.
    pub fn run_on(&self, reading: Reading) -> Result<Summary> {
        self.count(reading)?.summary()
    }

    /// The nodes, if known without the inputs; node names are checked against them, unless the inputs may show
    /// others.
    fn first_owners(&self, inputs: usize) -> Result<Topology> {
        let topology = self.owners()?;
        if !self.may_find_nodes(inputs) {
            self.room_of(&topology)?;
        }
        Ok(topology)
    }

    /// The node part of a report from key counts of the nodes in the file `source`, without a dump.
    #[doc(hidden)]
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
        node_counts::of(source, &counts)
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
