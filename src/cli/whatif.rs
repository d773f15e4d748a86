//! The flags of `slotscope whatif`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::analysis::reading::Reading;
use crate::analysis::{collected, file_nodes, input_info};
use crate::cli::Ending;
use crate::cli::by::ByArgs;
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::reading::{ReadingArgs, print_format_help};
use crate::error::{Error, Result};
use crate::metric::PerMetric;
use crate::name::Name;
use crate::slot::policy::Policy;
use crate::spec::HashSpec;
use crate::spec::NodeSpec;
use crate::spec::headings::CHANGES;
use crate::summary::balance::tidy;
use crate::summary::observed::Observed;
use crate::summary::role_load::Asked;
use crate::summary::summarise;
use crate::summary::tags::Tag;
use crate::topology::Topology;
use crate::whatif::findings::{FoundParts, WhatIfFindings};
use crate::whatif::growth::Growth;
use crate::whatif::rules::RenameRules;
use crate::whatif::split::{Split, first_parts, planned_max_over_mean, search};
use crate::whatif::view;
use crate::whatif::{WhatIf, WhatIfChange};

/// The same keys on other nodes, by another hash policy or with other tags.
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
    /// Take the braces out of keys that REGEX matches; may be repeated
    #[arg(long, help_heading = CHANGES, value_name = "REGEX", allow_hyphen_values = true)]
    pub untag: Vec<String>,
    /// Split a tag into K: {TAG} becomes {TAG:k}
    ///
    /// Or the tags that /REGEX/ matches whole. k is the CRC16 of the key, modulo K. Without "= K" the smallest K that helps is
    /// found: no part is over 5 % of a node, and plan can level the nodes. May be repeated.
    #[arg(long, help_heading = CHANGES, value_name = "TAG = K", allow_hyphen_values = true)]
    pub split: Vec<String>,
    /// Keys that begin with PREFIX count N times, 1.5 or 20
    ///
    /// As if there were so many more of them, in the slots that they have. May be repeated.
    #[arg(long, help_heading = CHANGES, value_name = "PREFIX = Nx", allow_hyphen_values = true)]
    pub grow: Vec<String>,
    /// What load is
    #[command(flatten)]
    pub by: ByArgs,
    /// The format of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope whatif dumps --topology cluster.nodes --split 'config = 64'
  slotscope whatif dumps --nodes 6 --to-nodes 12";

/// What is read, and what is tried with it.
struct Trial<'a> {
    reading: &'a Reading,
    growth: Growth,
    policies: [&'a Policy; 2],
    topologies: [&'a Topology; 2],
    asked: Asked,
}

/// What a trial came to.
struct Compared {
    findings: WhatIfFindings,
    loads_after: PerMetric<Vec<u64>>,
    tags_after: Vec<Tag>,
}

impl Trial<'_> {
    /// Both sides, with keys renamed by `rules`.
    fn compare(&self, rules: RenameRules) -> Result<Compared> {
        let (growth, policies) = (self.growth.clone(), self.policies);
        let change = Arc::new(WhatIfChange::new(rules, growth, policies, self.topologies));
        let scanned = self
            .reading
            .scan("counting", || WhatIf::new(change.clone()))?;
        let mut input = input_info::of(&self.reading.sources, &scanned);
        collected::remark(&self.reading.collections, None, &mut input);
        let mut counted = scanned.tally;
        counted.grow();
        for by in &self.asked.by {
            let flag = format!("--by {}", by.name());
            counted.before.slots.loads.required(*by, &flag)?;
        }
        let observed = Observed::default();
        let [old, new] = self.topologies;
        let before = summarise(
            &counted.before,
            None,
            old,
            &observed,
            &self.asked,
            input.clone(),
        );
        let after = summarise(counted.after(), None, new, &observed, &self.asked, input);
        let names = policies.map(|policy| Name::from(policy.to_string().as_str()));
        Ok(Compared {
            loads_after: after.slots.loads.clone(),
            tags_after: after
                .tags
                .iter()
                .flat_map(|tags| tags.top.clone())
                .collect(),
            findings: WhatIfFindings::of(counted, [before, after], names),
        })
    }

    /// The same where a split names no number of parts: with the smallest that helps.
    fn find_parts(&self, rules: &RenameRules) -> Result<WhatIfFindings> {
        if !self.reading.is_rereadable() {
            let what = "K is found by reading the input several times, and a pipe can be read once; write TAG = K";
            return Err(Error::bad("--split", what));
        }
        let [_, topology] = self.topologies;
        let unsplit = self.compare(rules.clone())?;
        let open: Vec<&Split> = rules.open_splits().collect();
        if !unsplit.findings.without_keys.is_empty() {
            return Ok(unsplit.findings);
        }
        let by = unsplit.findings.by;
        let planned = |tried: &Compared| planned_max_over_mean(&tried.loads_after, by, topology);
        let total: u64 = unsplit
            .loads_after
            .get(by)
            .map_or(0, |loads| loads.iter().sum());
        let nodes = unsplit.findings.after.node_count;
        let first = first_parts(&open, &unsplit.tags_after, by, nodes, total as f64);
        let found = search(
            first,
            |parts| self.compare(rules.with_parts(parts)),
            planned,
        )?;
        let mut findings = found.counted.findings;
        findings.found_parts = Some(FoundParts {
            flags: open
                .iter()
                .zip(&found.parts)
                .map(|(split, parts)| split.flag(*parts))
                .collect(),
            planned_max_over_mean: tidy(found.planned),
            planned_without: tidy(planned(&unsplit)),
        });
        Ok(findings)
    }
}

/// An error of the flag for today, as one of its --to- flag.
fn of_flag_to(error: Error) -> Error {
    match error {
        Error::Bad { place, what } => match place.strip_prefix("--") {
            Some(flag) => Error::bad(format!("--to-{flag}"), what),
            None => Error::Bad { place, what },
        },
        other => other,
    }
}

impl WhatIfArgs {
    /// Reads, counts both sides and compares them.
    ///
    /// # Errors
    /// A flag, an input or a topology that cannot be used, or nothing to try.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            return print_format_help();
        }
        let findings = self.findings()?;
        self.output
            .print(&findings, Rows::or_json(usize::MAX), || {
                view::sections(&findings)
            })?;
        Ok(Ending::of(&findings.input.incomplete))
    }

    /// Reads, counts both sides and compares them; there is no output.
    ///
    /// # Errors
    /// As `run`.
    pub fn findings(&self) -> Result<WhatIfFindings> {
        let named = self.cluster.named()?;
        let policy = self.hashing.policy()?;
        let policies = [&policy, &self.policy_after(&policy)?];
        let rules = RenameRules::parse(&self.retag, &self.untag, &self.split)?;
        let growth = Growth::parse(&self.grow)?;
        self.check_any()?;
        let mut reading = self.reading.reading(policy.clone())?;
        let topology = named.map_or_else(|| file_nodes::read(&reading), Ok)?;
        let topologies = [&topology, &self.topology_after(&topology)?];
        reading.options.only.not_of = topology.replicas.iter().cloned().collect();

        let trial = Trial {
            reading: &reading,
            growth,
            policies,
            topologies,
            asked: Asked {
                by: self.by.metrics()?,
                ..Asked::default()
            },
        };
        let is_open = rules.open_splits().next().is_some();
        match is_open {
            true => trial.find_parts(&rules),
            false => Ok(trial.compare(rules)?.findings),
        }
    }

    fn topology_after(&self, today: &Topology) -> Result<Topology> {
        match (&self.to_topology, self.to_nodes) {
            (None, None) => Ok(today.clone()),
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
        let rules = [&self.retag, &self.untag, &self.split, &self.grow];
        let any = rules.iter().any(|rules| !rules.is_empty())
            || self.to_nodes.is_some()
            || self.to_topology.is_some()
            || !self.to_policy.is_empty();
        let what = "name what to try: --to-nodes, --to-topology, --to-policy, --retag, --untag, --split or --grow";
        if any {
            Ok(())
        } else {
            Err(Error::bad("nothing changes", what))
        }
    }
}
