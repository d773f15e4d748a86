//! The flags of `slotscope whatif`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use crate::analysis::input_info;
use crate::cli::Ending;
use crate::cli::cluster::ClusterArgs;
use crate::cli::hashing::HashingArgs;
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::reading::{ReadingArgs, print_format_help};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::name::Name;
use crate::slot::policy::Policy;
use crate::summary::summarise;
use crate::topology::Topology;
use crate::whatif::findings::WhatIfFindings;
use crate::whatif::rules::RenameRules;
use crate::whatif::view;
use crate::whatif::{WhatIf, WhatIfChange};

/// The same keys on other nodes, by another hash policy or with other tags.
#[derive(Args, Debug)]
pub struct WhatIfArgs {
    /// What is read
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The nodes of today
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The hash policy of today
    #[command(flatten)]
    pub hashing: HashingArgs,
    /// The metric of verdicts and tables
    #[arg(long, value_enum, value_name = "METRIC", default_value_t = Metric::Keys)]
    pub by: Metric,
    /// Try an even split of the slots over M primaries
    #[arg(long, value_name = "M", conflicts_with = "to_topology")]
    pub to_nodes: Option<usize>,
    /// Try the nodes of a listing, in any form that --topology reads
    #[arg(long, value_name = "FILE")]
    pub to_topology: Option<PathBuf>,
    /// Try another hash policy: oss, enterprise or regex:PATTERN, which may be repeated
    #[arg(long, value_name = "POLICY")]
    pub to_policy: Vec<String>,
    /// Rename keys: the first match of REGEX becomes TEMPLATE, in which $1 and ${name} are groups; may be repeated
    #[arg(long, value_name = "REGEX => TEMPLATE", allow_hyphen_values = true)]
    pub retag: Vec<String>,
    /// Take the braces out of keys that REGEX matches; may be repeated
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pub untag: Vec<String>,
    /// Split a tag, or the tags that /REGEX/ matches whole, into K: {TAG} becomes {TAG:k} with k = CRC16 of the key, modulo
    /// K; may be repeated
    #[arg(long, value_name = "TAG = K", allow_hyphen_values = true)]
    pub split: Vec<String>,
    /// The form of the result
    #[command(flatten)]
    pub output: OutputArgs,
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
        let topology = self.cluster.topology()?;
        let topologies = [&topology, &self.topology_after(&topology)?];
        let policy = self.hashing.policy()?;
        let policies = [&policy, &self.policy_after(&policy)?];
        let rules = RenameRules::parse(&self.retag, &self.untag, &self.split)?;
        self.check_any()?;
        let mut reading = self.reading.reading(policy.clone())?;
        reading.options.only.not_of = topology.replicas.clone();

        let change = Arc::new(WhatIfChange::new(rules, policies, topologies));
        let scanned = reading.scan("counting", || WhatIf::new(change.clone()))?;
        let input = input_info::of(&reading.sources, &scanned);
        let counted = scanned.tally;
        let by = format!("--by {}", self.by.name());
        counted.before.slots.loads.required(self.by, &by)?;
        let before = summarise(&counted.before, None, topologies[0], self.by, input.clone());
        let after = summarise(counted.after(), None, topologies[1], self.by, input);
        let names = policies.map(|policy| Name::from(policy.to_string().as_str()));
        let findings = WhatIfFindings::of(counted, [before, after], names);
        self.output
            .print(&findings, Rows::or_json(usize::MAX), || {
                view::sections(&findings)
            })?;
        Ok(Ending::of(&findings.input.incomplete))
    }

    fn topology_after(&self, today: &Topology) -> Result<Topology> {
        match (&self.to_topology, self.to_nodes) {
            (None, None) => Ok(today.clone()),
            (topology, nodes) => ClusterArgs {
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
        let renames = [&self.retag, &self.untag, &self.split]
            .iter()
            .any(|rules| !rules.is_empty());
        let any = renames
            || self.to_nodes.is_some()
            || self.to_topology.is_some()
            || !self.to_policy.is_empty();
        let what =
            "name what to try: --to-nodes, --to-topology, --to-policy, --retag, --untag or --split";
        if any {
            Ok(())
        } else {
            Err(Error::bad("nothing changes", what))
        }
    }
}
