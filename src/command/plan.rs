//! `slotscope plan`: key dumps and a topology come in, the moves of slots that even out the nodes go out.

mod question;
mod script;
mod text;

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use super::Ending;
use super::analyze::facts::input_facts;
use super::analyze::ready_made;
use super::cluster::Cluster;
use super::hashing::Hashing;
use super::reading::{Reading, format_help};
use crate::advice::plan::outcome::{Known, Outcome};
use crate::advice::plan::{mix, plan};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::report::json;
use crate::summary::verdict::Verdict;
use crate::summary::{self, Summary};
use crate::tally::{Parts, Tallies};
use question::Wishes;

/// Which slots to move where.
#[derive(Args, Debug)]
pub struct Plan {
    /// What is read
    #[command(flatten)]
    pub reading: Reading,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
    /// What of a key is hashed
    #[command(flatten)]
    pub hashing: Hashing,
    /// What the plan is to be like
    #[command(flatten)]
    pub wishes: Wishes,
    /// A script to review and run, in place of the text
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "json")]
    pub commands: Option<Commands>,
    /// One JSON object on standard output in place of the text
    #[arg(long)]
    pub json: bool,
}

/// The commands that move slots.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// CLUSTER SETSLOT and MIGRATE: every version
    Setslot,
    /// CLUSTER MIGRATESLOTS: Valkey 9.0 or later
    Valkey,
    /// CLUSTER MIGRATION: Redis 8.4 or later
    #[value(name = "redis-8.4")]
    Redis84,
}

impl Plan {
    /// Reads, plans and prints.
    ///
    /// # Errors
    /// An input, a topology or a flag that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            io::stdout().write_all(format_help().as_bytes()).map_err(Error::stdout)?;
            return Ok(Ending::Done);
        }
        let topology = self.cluster.named()?.ok_or_else(|| {
            Error::bad("no nodes", "say who owns which slot: --topology FILE, or --nodes N for an even split")
        })?;
        let by = self.wishes.by()?;
        let nodes = self.wishes.nodes(&topology)?;
        let fixed = self.wishes.fixed(&topology)?;
        let limits = self.wishes.limits()?;
        let tolerance = self.wishes.tolerance()?;

        let summary = self.summarise(&topology)?;
        let loads = &summary.slots.loads;
        self.check_carried(&by, &summary)?;
        let blended = mix::blend(loads, &by, |slot| topology.owner(slot as u16).is_some()).ok_or_else(|| {
            Error::bad(
                "no load",
                "no slot of these nodes holds any; redis-cli --cluster rebalance evens out slot counts",
            )
        })?;
        let problem = crate::advice::plan::Problem {
            loads: &blended,
            bytes: loads.bytes.as_deref(),
            owner: (0..loads.keys.len()).map(|slot| topology.owner(slot as u16)).collect(),
            capacity: nodes.iter().map(|node| node.capacity).collect(),
            fixed,
            limits,
            tolerance,
        };
        let known = Known { nodes: &nodes, loads, by: &by, units: &summary.units };
        let mut outcome = Outcome::of(&problem, &plan(&problem), &known);
        outcome.warnings = question::warnings(&summary);

        let out = &mut io::BufWriter::new(io::stdout().lock());
        match (self.commands, self.json) {
            (_, true) => json::write_object(&outcome, out),
            (Some(commands), _) => script::write(commands, &outcome, &nodes, out),
            (None, _) => text::write(&outcome, out),
        }
        .and_then(|()| out.flush())
        .map_err(Error::stdout)?;
        Ok(if summary.input.incomplete.is_empty() { Ending::Done } else { Ending::Incomplete })
    }

    /// Counts the keys. Tags are followed by name in the one pass: they only name what sets the floor.
    fn summarise(&self, topology: &crate::topology::Topology) -> Result<Summary> {
        let mut reader = self.reading.reader()?;
        reader.policy = self.hashing.policy()?;
        reader.only.not_of = topology.replicas.clone();
        let scanned = match ready_made::take(&reader.inputs, self.reading.ops_column.as_deref())? {
            Some(taken) => taken,
            None => reader.scan("counting", || Tallies::new(Parts::InOnePass))?,
        };
        let input = input_facts(&reader.inputs, &scanned);
        Ok(summary::summarise(&scanned.tally, None, topology, Metric::Keys, input))
    }

    /// A plan by a metric that is not there would be one by another.
    fn check_carried(&self, by: &[(Metric, f64)], summary: &Summary) -> Result<()> {
        let loads = &summary.slots.loads;
        let carried: Vec<_> = loads.iter().map(|(metric, _)| metric.name()).collect();
        let lacks = |name: &str, place: String| {
            Err(Error::bad(place, format!("the input tells no {name} of its keys; it has: {}", carried.join(", "))))
        };
        match by.iter().find(|(metric, _)| loads.get(*metric).is_none()) {
            Some((metric, _)) => lacks(metric.name(), format!("--by {}", metric.name())),
            None if self.wishes.max_bytes.is_some() && loads.bytes.is_none() => lacks("bytes", "--max-bytes".into()),
            None => Ok(()),
        }
    }
}

/// Whether the dump is one that no plan should be made from.
pub(super) fn is_suspicious(summary: &Summary) -> bool {
    summary.skew.verdict == Verdict::Suspicious
}
