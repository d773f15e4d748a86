//! The flags of `slotscope whatif`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use slotscope_app::cli::by::ByArgs;
use slotscope_app::cli::input::kind::{NEEDS_NAMES, NOTHING};
use slotscope_app::cli::input::servers::ServerArgs;
use slotscope_app::cli::input::{InputFlags, Keys};
use slotscope_app::cli::printing::{Rows, TableArgs};
use slotscope_app::cli::reading::ReadingArgs;
use slotscope_app::cli::values::memory_size;
use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::headings::{CHANGES, LIMITS, OUTPUT};
use slotscope_app::options::{HashSpec, NodeSpec};
use slotscope_app::pipeline::beside::Beside;
use slotscope_app::pipeline::reading::Reading;
use slotscope_app::pipeline::{Analysis, file_nodes, input_info};
use slotscope_app::renaming::RenameRules;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;
use slotscope_findings::summary::observed::Observed;
use slotscope_findings::summary::summarise;
use slotscope_model::InputFacts;
use slotscope_model::role_load::Asked;
use slotscope_topology::Topology;

use crate::whatif::findings::WhatIfFindings;
use crate::whatif::wording::sentence;
use crate::whatif::{WhatIf, WhatIfChange, view};

/// The same keys with other nodes, hash policy or tags
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct WhatIfArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes of today
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy of today
    #[command(flatten)]
    pub hashing: HashSpec,
    /// An even split of the slots over M primaries
    #[arg(long, help_heading = CHANGES, value_name = "M", conflicts_with = "to_topology")]
    pub to_nodes: Option<usize>,
    /// The nodes of a listing, in any format that --topology reads
    #[arg(long, help_heading = CHANGES, value_name = "FILE")]
    pub to_topology: Option<PathBuf>,
    /// Another hash policy: oss, enterprise or regex:PATTERN
    ///
    /// `regex:PATTERN` may be repeated.
    #[arg(long, help_heading = CHANGES, value_name = "POLICY")]
    pub to_policy: Vec<String>,
    /// Rename keys: $1 and ${name} are groups of REGEX
    ///
    /// The first match of REGEX becomes TEMPLATE. May be repeated.
    #[arg(long, help_heading = CHANGES, value_name = "REGEX => TEMPLATE", allow_hyphen_values = true)]
    pub retag: Vec<String>,
    /// Split a tag into K: {TAG} becomes {TAG:k}
    ///
    /// Or the tags that /REGEX/ matches whole. k is the CRC16 of the key, modulo K. May be repeated.
    #[arg(long, help_heading = CHANGES, value_name = "TAG = K", allow_hyphen_values = true)]
    pub split: Vec<String>,
    /// The memory limit of a node, as in redis.conf: 4gb
    #[arg(long, value_name = "SIZE", help_heading = LIMITS)]
    pub maxmemory: Option<String>,
    /// The statistics of both sides too
    #[arg(long, help_heading = OUTPUT)]
    pub full: bool,
    /// What load is
    #[command(flatten)]
    pub by: ByArgs,
    /// The format of the result
    #[command(flatten)]
    pub output: TableArgs,
    /// Servers among the inputs
    #[command(flatten)]
    pub servers: ServerArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope whatif dumps --topology cluster.nodes --split 'config = 64'
  slotscope whatif dumps --nodes 6 --to-nodes 12";

/// The note where servers counted loads by slot.
const LEFT_OUT: &str = "CPU time by slot is left out: how much of it each key takes along to another slot is not known";

/// A change to try.
struct Trial<'a> {
    policies: [&'a Policy; 2],
    topologies: [Topology; 2],
    asked: Asked,
}

impl Trial<'_> {
    /// The change, with keys renamed by `rules`.
    fn change(&self, rules: RenameRules) -> Arc<WhatIfChange> {
        let topologies = self.topologies.each_ref();
        Arc::new(WhatIfChange::new(
            rules,
            self.policies[1].clone(),
            topologies,
        ))
    }

    /// Both sides, with the keys of `reading` renamed by `rules`.
    fn try_on(&self, mut reading: Reading, rules: RenameRules) -> Result<WhatIfFindings> {
        let change = self.change(rules);
        let beside = Beside::take_from(&mut reading)?;
        let mut scanned = reading.scan("counting", || WhatIf::new(change.clone()))?;
        scanned.tally.settle_operations();
        let counters = beside.join(&mut scanned, &mut reading, None)?;
        let mut input = input_info::of_reading(&reading, &scanned);
        let has_loads = counters.is_some_and(|counters| counters.loads.iter().any(Option::is_some));
        input.notes.extend(has_loads.then(|| LEFT_OUT.to_owned()));
        self.compare(scanned.tally, input)
    }

    /// Both sides, once they are counted.
    fn compare(&self, counted: WhatIf, input: InputFacts) -> Result<WhatIfFindings> {
        for metric in &self.asked.by {
            let flag = format!("--by {}", metric.name());
            counted.before.slots.loads.required(*metric, &flag)?;
        }
        let observed = Observed::default();
        let [old, new] = &self.topologies;
        let before = summarise(
            &counted.before,
            None,
            old,
            &observed,
            &self.asked,
            input.clone(),
        );
        let after = summarise(counted.after(), None, new, &observed, &self.asked, input);
        let names = (self.policies).map(|policy| Name::from(policy.to_string().as_str()));
        let mut findings = WhatIfFindings::of(counted, [before, after], names);
        findings.sentence = sentence(&findings);
        Ok(findings)
    }
}

/// Rewrites an error about a flag for the present into one about its --to- variant.
fn of_flag_to(error: Error) -> Error {
    match error {
        Error::Option { name, value, what } => Error::option(format!("to-{name}"), value, what),
        error => error,
    }
}

impl Run for WhatIfArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let findings = self.findings()?;
        self.output.print(
            &findings,
            Rows::or_json(usize::MAX),
            || view::sections(&findings, self.full),
            || view::rows(&findings),
        )?;
        // A rule that matches no key is a typo.
        Ok(if findings.without_keys.is_empty() {
            Ending::of(&findings.input.incomplete)
        } else {
            Ending::Incomplete
        })
    }

    fn reading(&self) -> Option<&ReadingArgs> {
        Some(&self.reading)
    }
}

impl WhatIfArgs {
    /// Reads, counts and compares both sides without printing.
    ///
    /// # Errors
    /// As for `run`.
    pub fn findings(&self) -> Result<WhatIfFindings> {
        let named = self.cluster.named()?;
        let policy = self.hashing.policy()?;
        let policies = [&policy, &self.policy_after(&policy)?];
        let rules = RenameRules::parse(&self.retag, &self.split)?;
        let maxmemory = self.maxmemory.as_deref();
        let maxmemory = maxmemory.map(|size| memory_size("--maxmemory", size));
        let maxmemory = maxmemory.transpose()?;
        self.check_any()?;
        let is_same_policy = policies[0].to_string() == policies[1].to_string();
        let needs_names = !(rules.is_empty() && is_same_policy);
        let flags = InputFlags {
            reading: &self.reading,
            servers: &self.servers,
            hashing: Some(&self.hashing),
            refused: if needs_names { NEEDS_NAMES } else { NOTHING },
        };
        let input = flags.find()?.read(self.reading.progress)?;
        let trial = |topology: Topology| {
            Ok(Trial {
                policies,
                topologies: [topology.clone(), self.topology_after(topology)?],
                asked: Asked {
                    by: self.by.metrics()?,
                    ..Asked::default()
                },
            })
        };
        let mut findings = match input.keys {
            Keys::Reading(reading) if needs_names => {
                let topology = named.map_or_else(|| file_nodes::read(&reading), Ok)?;
                trial(topology)?.try_on(reading, rules)?
            }
            // If only nodes change, counts by slot suffice.
            keys => keys.count(&self.analysis(named), |counted| {
                let trial = trial(counted.nodes())?;
                let facts = counted.input_facts();
                let counted = WhatIf::of_counts(trial.change(rules), counted.into_tallies());
                trial.compare(counted, facts)
            })?,
        };
        findings.maxmemory = maxmemory;
        if let Some(collected) = &input.collected {
            collected.rename(&mut findings.input, &mut findings.before.source);
            collected.shorten([&mut findings.after.source].into_iter());
        }
        Ok(findings)
    }

    /// Counts slots and tags in one pass, for nodes either `named` or from the inputs.
    fn analysis(&self, named: Option<Topology>) -> Analysis {
        named
            .map_or_else(Analysis::new, |topology| self.cluster.analysis(&topology))
            .one_pass(true)
            .segments(":", 0)
            .slot_stats_ops(self.reading.ops_column.as_deref())
    }

    fn topology_after(&self, today: Topology) -> Result<Topology> {
        match (&self.to_topology, self.to_nodes) {
            (None, None) => Ok(today),
            (topology, nodes) => NodeSpec {
                topology: topology.clone(),
                nodes,
            }
            .topology()
            .map_err(of_flag_to),
        }
    }

    fn policy_after(&self, today: &Policy) -> Result<Policy> {
        if self.to_policy.is_empty() {
            Ok(today.clone())
        } else {
            Policy::parse(&self.to_policy).map_err(of_flag_to)
        }
    }

    fn check_any(&self) -> Result<()> {
        let rules = [&self.retag, &self.split, &self.to_policy];
        let any = rules.iter().any(|rules| !rules.is_empty())
            || self.to_nodes.is_some()
            || self.to_topology.is_some();
        let reason = "name what to try: --to-nodes, --to-topology, --to-policy, --retag or --split";
        if any {
            Ok(())
        } else {
            Err(Error::bad("nothing changes", reason))
        }
    }
}
