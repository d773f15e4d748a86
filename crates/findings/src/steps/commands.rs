//! The commands of steps, with real file names, ready to paste.

use slotscope_engine::host::host_and_port;
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::text::shell_word;

use crate::steps::service::Service;
use crate::summary::migration::Migration;
use slotscope_topology::{Node, Topology};

/// The flags that name hot keys on a running cluster.
pub const MEASURING: &str = "--load 10s --monitor";

/// Nodes that one command weighs at most.
const WEIGHTED: usize = 20;

/// The parts shared by all commands of a run.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// The inputs and the flags that say how they are read; empty where a command cannot name the inputs.
    pub reading: Vec<String>,
    /// The flags that name the nodes.
    pub nodes: Vec<String>,
    /// Whether the nodes belong to a real cluster, between which slots can be moved.
    pub is_real: bool,
    /// The judging flags that the user gave, `--by` included.
    pub judging: Vec<String>,
    /// The flag for the metrics, if given.
    pub by: Vec<String>,
    /// How the servers migrate slots.
    pub migration: Migration,
    /// Whether the servers speak TLS.
    pub has_tls: bool,
    /// The service that runs the servers, if it is known.
    pub service: Option<&'static Service>,
}

impl Commands {
    pub(crate) fn service(&self) -> Option<&'static Service> {
        self.service.filter(|service| !service.is_self)
    }

    /// `slotscope plan` that prints the ranges of slots for a restored backup.
    pub(crate) fn slot_ranges(&self) -> Option<Name> {
        self.slotscope(
            "plan",
            &self.judging,
            " --commands elasticache > shards.json",
        )
    }

    /// `redis-cli --cluster fix`, which completes interrupted migrations.
    pub fn fix(&self, topology: &Topology) -> Option<Name> {
        let address = shell_word(address(topology).filter(|_| self.is_real)?);
        let can_be_asked = self.service().is_none();
        can_be_asked.then(|| Name::from(&*format!("redis-cli --cluster fix {address}")))
    }

    /// The same once the limit of memory of all nodes is raised.
    pub(crate) fn with_maxmemory(&self, maxmemory: u64) -> Self {
        let mut judging = self.judging.clone();
        match judging.iter().position(|word| word == "--maxmemory") {
            Some(at) => judging[at + 1] = maxmemory.to_string(),
            None => judging.extend(["--maxmemory".into(), maxmemory.to_string()]),
        }
        Commands {
            judging,
            ..self.clone()
        }
    }

    /// `redis-cli` that raises the limit of memory of a node, or of all.
    pub(crate) fn raise(&self, node: &Node, of_all: bool, maxmemory: u64) -> Option<Name> {
        let address = node.address.as_deref().filter(|_| self.is_real)?;
        let (host, port) = host_and_port(address)?;
        let to = if of_all {
            format!("--cluster call {}", shell_word(address))
        } else {
            format!("-h {} -p {}", shell_word(host), port)
        };
        let command = format!("redis-cli {to} CONFIG SET maxmemory {maxmemory}");
        Some(Name::from(&*command))
    }

    /// `slotscope analyze` of the running cluster, which names hot keys.
    pub(crate) fn monitor(&self, topology: &Topology) -> Option<Name> {
        let address = address(topology).filter(|_| self.is_real)?;
        let scheme = if self.has_tls { "rediss" } else { "redis" };
        let url = shell_word(&format!("{scheme}://{address}"));
        Some(Name::from(&*format!("slotscope analyze {url} {MEASURING}")))
    }

    /// `slotscope plan`; with the nodes of a real cluster the script that moves the slots.
    pub(crate) fn plan(&self, topology: &Topology) -> Option<Name> {
        self.plan_with(&[], topology)
    }

    /// `slotscope plan` by one metric, unless the user chose others, or slots move as ranges of a backup.
    pub(crate) fn plan_by(&self, metric: Metric, topology: &Topology) -> Option<Name> {
        let flags = ["--by".into(), metric.name().into()];
        let is_free = self.by.is_empty() && self.service().is_none();
        self.plan_with(&flags, topology).filter(|_| is_free)
    }

    /// `slotscope plan` that empties a node.
    pub(crate) fn plan_without(&self, node: &str, topology: &Topology) -> Option<Name> {
        self.plan_with(&["--remove".into(), node.into()], topology)
    }

    fn plan_with(&self, flags: &[String], topology: &Topology) -> Option<Name> {
        let has_addresses = topology.nodes.iter().any(|node| node.address.is_some());
        let script = if self.is_real && has_addresses {
            format!(" --commands {} > moves.sh", self.migration.name())
        } else {
            String::new()
        };
        let flags = [&self.judging, flags].concat();
        self.slotscope("plan", &flags, &script)
    }

    /// `slotscope plan` with more primaries.
    pub(crate) fn plan_with_more(&self, count: u64) -> Option<Name> {
        let flags = [
            self.judging.clone(),
            vec!["--add".into(), count.to_string()],
        ]
        .concat();
        self.slotscope("plan", &flags, "")
    }

    /// `slotscope analyze` of nodes whose shares are their slots; `None` where these are made up, equal or many.
    pub(crate) fn weighted(&self, topology: &Topology) -> Option<Name> {
        let owning = topology.nodes.iter().filter(|node| node.slots > 0);
        let least = owning.clone().map(|node| node.slots).min()?;
        let weights = owning.filter_map(|node| {
            let weight = (10.0 * f64::from(node.slots) / f64::from(least)).round() / 10.0;
            let name = node.address.as_deref().unwrap_or(&node.id);
            (weight > 1.0).then(|| format!("{name}={weight}"))
        });
        let weights: Vec<String> = weights.collect();
        let is_short = (1..=WEIGHTED).contains(&weights.len());
        let flag = |weight| ["--weight".into(), weight];
        let weights = weights.into_iter().flat_map(flag);
        let flags: Vec<String> = self.judging.iter().cloned().chain(weights).collect();
        let is_usable = self.is_real && is_short;
        is_usable.then(|| self.slotscope("analyze", &flags, ""))?
    }

    /// `slotscope whatif` with these tags split, judged by `metric`.
    pub(crate) fn split(&self, tags: &[(String, u32)], metric: Metric) -> Option<Name> {
        let splits = tags
            .iter()
            .flat_map(|(tag, parts)| ["--split".into(), format!("{tag} = {parts}")]);
        let flags = splits.chain(self.metric_flag(metric)).collect::<Vec<_>>();
        self.slotscope("whatif", &flags, "")
    }

    /// `slotscope advise`, which lists the new names; it knows no other hash policy.
    pub(crate) fn advise(&self, metric: Metric) -> Option<Name> {
        let has_policy = self.reading.iter().any(|word| word == "--policy");
        (!has_policy).then(|| self.slotscope("advise", &self.metric_flag(metric), ""))?
    }

    /// `slotscope whatif` without the braces of a tag.
    pub fn untag(&self, tag: &str, metric: Metric) -> Option<Name> {
        let flags = [
            vec![
                "--retag".into(),
                format!("[{{]({})[}}] => $1", escaped(tag)),
            ],
            self.metric_flag(metric),
        ];
        self.slotscope("whatif", &flags.concat(), "")
    }

    /// The flag for the metric to judge by: the user's choice, else `metric`.
    fn metric_flag(&self, metric: Metric) -> Vec<String> {
        match self.by.as_slice() {
            [] => vec!["--by".into(), metric.name().into()],
            given => given.to_vec(),
        }
    }

    fn slotscope(&self, command: &str, flags: &[String], script: &str) -> Option<Name> {
        if self.reading.is_empty() {
            return None;
        }
        let words = self.reading.iter().chain(&self.nodes).chain(flags);
        let quoted: Vec<String> = words.map(|word| shell_word(word)).collect();
        let command = format!("slotscope {command} {}{script}", quoted.join(" "));
        Some(Name::from(command.as_str()))
    }
}

/// Where a node that owns slots is reached.
fn address(topology: &Topology) -> Option<&str> {
    let nodes = topology.nodes.iter();
    let mut owning = nodes.filter(|node| node.slots > 0 && !node.failed);
    owning.find_map(|node| node.address.as_deref())
}

/// A text as a regular expression that matches it: each special character as a class, so that no backslash has to be
/// pasted; a few that a class cannot hold alone match any character.
fn escaped(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " :_-/".contains(c);
    let escaped = text.chars().map(|c| match c {
        c if is_plain(c) => c.to_string(),
        '^' | ']' | '\\' => ".".into(),
        c => format!("[{c}]"),
    });
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_expression() {
        assert_eq!(escaped("{my.app:1}"), "[{]my[.]app:1[}]");
        assert_eq!(escaped("a]"), "a.");
    }
}
