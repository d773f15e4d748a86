//! From counts to a summary, without the inputs.

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::redact::Redact;
use slotscope_count::scan::Scanned;
use slotscope_count::tally::Tallies;
use slotscope_findings::summary;
use slotscope_findings::summary::Listing;
use slotscope_findings::summary::evidence;
use slotscope_findings::summary::migration::Migration;
use slotscope_findings::summary::observed::Observed;
use slotscope_findings::summary::patterns::Levels;
use slotscope_model::capacity::Room;
use slotscope_model::role_load::Asked;
use slotscope_model::{InputFacts, Summary, redacted};
use slotscope_moves::steps::{self, Commands, Service};
use slotscope_read::format::slot_stats;
use slotscope_topology::Topology;
use slotscope_topology::cluster_info::NodeKeys;
use slotscope_topology::of_files::OfFiles;

use crate::options::counting::CountSpec;
use crate::pipeline::counted::CountedInputs;
use crate::pipeline::counters::Counters;
use crate::pipeline::inputs::Inputs;
use crate::pipeline::{Analysis, Nodes, captured, file_nodes, input_info, observed};

/// Rows in tables for people, by default.
const ROWS: usize = 20;

impl Analysis {
    /// The analysis with this node listing for counts, if any; `is_of_input` tells that an input contains it.
    ///
    /// # Errors
    /// The nodes differ: leaving out replicas and checking nodes of inputs happens while counting.
    pub(crate) fn on_nodes_of(
        &self,
        listing: Option<Topology>,
        is_of_input: bool,
    ) -> Result<Analysis> {
        let refused = |hint: &str| {
            let text = format!("{hint}; the nodes of a listing are needed while keys are counted");
            Err(Error::option("topology", "", text))
        };
        let nodes = match (&self.nodes, listing) {
            (Nodes::Assumed, Some(listing)) if is_of_input => Nodes::OfInput(listing),
            (Nodes::Assumed, Some(listing)) => Nodes::Listed(listing),
            (Nodes::Assumed | Nodes::Even(_), None) => self.nodes.clone(),
            (Nodes::Listed(mine) | Nodes::OfInput(mine), Some(listing)) if *mine == listing => {
                self.nodes.clone()
            }
            (_, None) => return refused("give slotscope tally the same --topology, for all parts"),
            (_, Some(_)) => {
                return refused("leave --topology and --nodes out, the tally file has another one");
            }
        };
        Ok(Analysis {
            nodes,
            ..self.clone()
        })
    }

    /// The analysis for names counted with these options; `words` are the command's, unless it has others.
    ///
    /// # Errors
    /// The user chose another separator.
    pub(crate) fn on_counts_of(&self, counts: &CountSpec, words: &[String]) -> Result<Analysis> {
        let usual = CountSpec::default().separator;
        if ![&counts.separator, &usual].contains(&&self.counting.separator) {
            let reason = "the tally file was counted with another one; give it to slotscope tally, for all parts";
            return Err(Error::option("separator", "", reason));
        }
        let depth = counts.has_patterns().then_some(self.counting.depth);
        let words = Some(words.to_vec()).filter(|words| !words.is_empty());
        Ok(Analysis {
            reading_words: self.reading_words.clone().or(words),
            ..self.clone().segments(&counts.separator, depth.unwrap_or(0))
        })
    }

    /// Whether bounds suffice for names not counted in the first pass.
    pub(crate) fn is_one_pass(&self) -> bool {
        self.counting.one_pass
    }

    /// Drops counts that are not requested.
    pub(crate) fn drop_unwanted(&self, tallies: &mut Tallies) {
        if self.counting.slots_only() {
            tallies.names = None;
        }
        let names = tallies.names.as_mut();
        if let Some(names) = names.filter(|_| !self.counting.has_patterns()) {
            names.patterns = None;
        }
    }
}

/// The findings before steps are computed.
pub struct Findings {
    /// The nodes.
    pub topology: Topology,
    /// Everything except the steps and facts about the run.
    pub summary: Summary,
    observed: Observed,
    room: Option<Room>,
    /// The nodes' own key counts.
    node_counts: Vec<NodeKeys>,
}

impl CountedInputs {
    /// The nodes, as named by the user or the inputs.
    pub fn nodes(&self) -> Topology {
        let shown = self.shown_nodes();
        shown.map_or_else(|_| self.topology.clone(), |nodes| nodes.topology)
    }

    /// The nodes that the inputs show, if the user named none; the note on why they show none.
    fn shown_nodes(&self) -> Result<OfFiles, Option<String>> {
        let first = &self.counted.first;
        if !self.analysis.may_find_nodes(self.inputs.files.len()) {
            return Err(None);
        }
        file_nodes::of(self.inputs.paths(), first, &first.tally.inputs)
    }

    /// Facts about the input.
    pub fn input_facts(&self) -> InputFacts {
        let redaction = self.analysis.redaction.as_deref();
        input_info::of_inputs(&self.inputs, &self.counted.first, redaction)
    }

    /// The counts of the first pass.
    pub fn into_tallies(self) -> Tallies {
        self.counted.first.tally
    }

    /// The findings with steps.
    ///
    /// # Errors
    /// As for `findings`, or a memory limit without key sizes.
    pub fn summary(&self) -> Result<Summary> {
        let Findings {
            topology,
            mut summary,
            observed,
            room,
            node_counts,
        } = self.findings()?;
        let commands = self.analysis.commands(&self.inputs, &topology, &observed);
        steps::add(&mut summary, &topology, &observed, &commands);
        // Nodes also count keys excluded by a filter.
        if self.inputs.options.only.filter.is_none() {
            let shortfalls = evidence::shortfalls(&summary.nodes, &node_counts);
            summary.input.warnings.extend(shortfalls);
        }
        check_capacity(&summary, room.as_ref())?;
        summary.run = self
            .started
            .run(&self.inputs, self.counted.passes, &summary);
        if let Some(redaction) = self.analysis.redaction.as_deref() {
            summary.redact(redaction);
        }
        Ok(summary)
    }

    /// The findings.
    ///
    /// # Errors
    /// A topology or option is unusable, or a metric is missing from the inputs.
    pub fn findings(&self) -> Result<Findings> {
        let CountedInputs {
            analysis, inputs, ..
        } = self;
        let (first, redaction) = (&self.counted.first, analysis.redaction.as_deref());
        for metric in analysis.by.iter().copied() {
            let flag = format!("--by {}", metric.name());
            first.tally.slots.loads.required(metric, &flag)?;
        }

        let mut input = self.input_facts();
        let (mut topology, files, overlap, why_not) = match self.shown_nodes() {
            Ok(nodes) => (nodes.topology, nodes.files, nodes.overlap, None),
            Err(why) => (self.topology.clone(), Vec::new(), None, why),
        };
        // Nodes are looked up by their real names, so before redaction.
        let mut observed = observed(inputs, first, &topology, &files);
        let mut node_counts = analysis.node_counts.clone();
        let room = analysis.room_of(&topology)?;
        if let Some(redaction) = redaction {
            captured::redact(&mut observed, redaction);
            input.redact(redaction);
            redacted::node_counts(redaction, &topology, &mut node_counts);
            if analysis.nodes.listed().is_some() || !files.is_empty() {
                topology = topology.renamed(|name| redaction.text(name));
            }
        }
        file_nodes::note_overlap(overlap.as_ref(), &mut input);
        if let Nodes::Listed(_) = analysis.nodes {
            // Inputs of different nodes have no common slots.
            let nodes = file_nodes::of(inputs.paths(), first, &first.tally.inputs);
            input.are_one_node_each = nodes.is_ok_and(|nodes| nodes.overlap.is_none());
        }
        input.notes.extend(why_not);
        let is_shown = redaction.is_none();
        input.policy = input_info::policy(&inputs.options.policy, is_shown);
        let filter = inputs.options.only.filter.as_deref();
        input.filter = input_info::filtered(filter, first, is_shown);
        let policy_note = input.policy.as_ref().map(input_info::policy_note);
        input.notes.extend(policy_note);

        let asked = analysis.asked(&topology)?;
        let listing = analysis.listing(&asked, room.as_ref());
        let recount = self.counted.recount.as_ref();
        let mut summary =
            summary::summarise(&first.tally, recount, &topology, &observed, listing, input);
        file_nodes::warn_of_several(&files, &mut summary);
        let notes = captured::notes(inputs, &observed, is_shown);
        summary.input.notes.extend(notes);
        let of_times = captured::note_of_times(summary.input.written, &observed);
        summary.input.notes.extend(of_times);
        let of_lfu = input_info::lfu_note(inputs.options.walking.lfu, &summary);
        summary.input.notes.extend(of_lfu);
        Ok(Findings {
            topology,
            summary,
            observed,
            room,
            node_counts,
        })
    }
}

/// Facts about the nodes besides their keys.
fn observed(
    inputs: &Inputs,
    first: &Scanned<Tallies>,
    topology: &Topology,
    files: &[Vec<usize>],
) -> Observed {
    let are_counts = first
        .inputs
        .iter()
        .all(|input| input.format == slot_stats::NAME);
    let counters = inputs.counters.as_ref().filter(|_| are_counts);
    Observed {
        counted_slots: counters.map(Counters::slots),
        captures: captured::captures(inputs, first, topology),
        counters: captured::counters(inputs, topology),
        accesses_from_replicas: captured::accesses_from_replicas(inputs, &first.tally),
        ..observed::of(inputs, first, topology, files)
    }
}

impl Analysis {
    /// The parts shared by the commands of remedies.
    fn commands(&self, inputs: &Inputs, topology: &Topology, observed: &Observed) -> Commands {
        let reading = match (&self.redaction, &self.reading_words) {
            (_, Some(words)) if words.is_empty() => Vec::new(),
            (Some(_), _) => vec!["DUMP".into()],
            (None, Some(words)) => words.clone(),
            (None, None) => inputs
                .paths()
                .map(|path| path.display().to_string())
                .collect(),
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
        let by = || match self.by.as_slice() {
            [] => Vec::new(),
            metrics => {
                let names: Vec<&str> = metrics.iter().map(|metric| metric.name()).collect();
                vec!["--by".into(), names.join(",")]
            }
        };
        let servers = observed.servers.iter();
        let versions = servers.map(|server| server.as_ref()?.version.as_deref());
        Commands {
            reading: if reading.is_empty() {
                reading
            } else {
                [reading, nodes].concat()
            },
            is_real,
            judging: self.judging_words.clone().unwrap_or_else(by),
            migration: Migration::of(versions),
            has_tls: inputs
                .collections
                .iter()
                .any(|collection| collection.manifest.settings.tls.is_some()),
            service: self.service.or_else(|| Service::of(topology)),
        }
    }

    /// The user's settings of the verdict.
    fn asked(&self, topology: &Topology) -> Result<Asked> {
        let mut weights = Vec::new();
        for (name, weight) in &self.weights {
            let place = format!("--weight {}={weight}", Name::from(name.as_str()));
            let at = topology
                .find(name)
                .map_err(|reason| Error::bad(place, reason))?;
            weights.resize(topology.nodes.len(), 1.0);
            weights[at] = *weight;
        }
        Ok(Asked {
            by: self.by.clone(),
            weights,
            previous: self.previous.clone(),
        })
    }

    fn listing<'a>(&'a self, asked: &'a Asked, room: Option<&'a Room>) -> Listing<'a> {
        let levels = Levels {
            separator: self.counting.separator.as_bytes(),
            depth: self.counting.depth,
        };
        Listing {
            asked,
            room,
            levels,
            rows: self.rows.unwrap_or(ROWS),
            redaction: self.redaction.as_deref(),
        }
    }
}

/// Fails for a user-defined limit if nothing tells what nodes use.
fn check_capacity(summary: &Summary, room: Option<&Room>) -> Result<()> {
    let is_asked = room.is_some_and(|room| room.maxmemory.is_some());
    if is_asked && summary.capacity.is_none() {
        let reason = "the input has no sizes, so the memory of nodes is not known; give a dump with sizes, or --used-memory ID=SIZE for every node";
        return Err(Error::option("maxmemory", "", reason));
    }
    Ok(())
}
