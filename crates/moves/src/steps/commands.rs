//! The commands of steps, with real file names, ready to paste.

use slotscope_base::host::host_and_port;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::shell_word;

use crate::steps::service::Service;
use slotscope_findings::summary::migration::Migration;
use slotscope_topology::{Node, Topology};

/// The flags that name hot keys on a running cluster.
pub const MEASURING: &str = "--load 10s --monitor";

/// Nodes that one command weighs at most.
const WEIGHTED: usize = 20;

/// The parts shared by all commands of a run.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// The inputs, how they are read, and the flags that name the nodes; empty where a command cannot name the inputs.
    pub reading: Vec<String>,
    /// Whether the nodes belong to a real cluster, between which slots can be moved.
    pub is_real: bool,
    /// The judging flags that the user gave, `--by` included.
    pub judging: Vec<String>,
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
        self.judged("plan", &[], " --commands elasticache > shards.json")
    }

    /// `redis-cli --cluster fix`, which completes interrupted migrations.
    pub(crate) fn fix(&self, topology: &Topology) -> Option<Name> {
        let address = address(topology).filter(|_| self.is_real)?;
        let fix = printed("redis-cli", &["--cluster", "fix", address], "");
        self.service().is_none().then_some(fix)
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
        let (port, maxmemory) = (port.to_string(), maxmemory.to_string());
        let to: &[&str] = if of_all {
            &["--cluster", "call", address]
        } else {
            &["-h", host, "-p", &port]
        };
        let set = [to, &["CONFIG", "SET", "maxmemory", &maxmemory]].concat();
        Some(printed("redis-cli", &set, ""))
    }

    /// `slotscope analyze` of the running cluster, which names hot keys.
    pub(crate) fn monitor(&self, topology: &Topology) -> Option<Name> {
        let address = address(topology).filter(|_| self.is_real)?;
        let scheme = if self.has_tls { "rediss" } else { "redis" };
        let url = format!("{scheme}://{address}");
        let words: Vec<&str> = [&*url].into_iter().chain(MEASURING.split(' ')).collect();
        Some(printed("slotscope analyze", &words, ""))
    }

    /// `slotscope plan` with more flags; with the nodes of a real cluster the script that moves the slots.
    pub(crate) fn plan(&self, flags: &[&str], topology: &Topology) -> Option<Name> {
        let has_addresses = topology.nodes.iter().any(|node| node.address.is_some());
        let script = if self.is_real && has_addresses {
            format!(" --commands {} > moves.sh", self.migration.name())
        } else {
            String::new()
        };
        self.judged("plan", flags, &script)
    }

    /// `slotscope plan` by one metric, unless the user chose others, or slots move as ranges of a backup.
    pub(crate) fn plan_by(&self, metric: Metric, topology: &Topology) -> Option<Name> {
        let is_free = self.by().is_none() && self.service().is_none();
        let plan = self.plan(&["--by", metric.name()], topology);
        plan.filter(|_| is_free)
    }

    /// `slotscope plan` with more primaries.
    pub(crate) fn plan_with_more(&self, count: u64) -> Option<Name> {
        self.judged("plan", &["--add", &count.to_string()], "")
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
        let is_usable = self.is_real && (1..=WEIGHTED).contains(&weights.len());
        let weights = weights.iter().flat_map(|weight| ["--weight", weight]);
        let flags: Vec<&str> = weights.collect();
        is_usable.then(|| self.judged("analyze", &flags, ""))?
    }

    /// `slotscope whatif` with these tags split, judged by `metric`.
    pub(crate) fn split(&self, tags: &[(String, u32)], metric: Metric) -> Option<Name> {
        let splits = tags.iter().map(|(tag, parts)| format!("{tag} = {parts}"));
        let splits: Vec<String> = splits.collect();
        let flags: Vec<&str> = splits.iter().flat_map(|split| ["--split", split]).collect();
        self.by_metric("whatif", &flags, metric)
    }

    /// `slotscope advise`, which lists the new names; it knows no other hash policy.
    pub(crate) fn advise(&self, metric: Metric) -> Option<Name> {
        let has_policy = self.reading.iter().any(|word| word == "--policy");
        (!has_policy).then(|| self.by_metric("advise", &[], metric))?
    }

    /// `slotscope whatif` without the braces of a tag.
    pub(crate) fn untag(&self, tag: &str, metric: Metric) -> Option<Name> {
        let rule = format!("[{{]({})[}}] => $1", escaped(tag));
        self.by_metric("whatif", &["--retag", &rule], metric)
    }

    /// The metrics that the user chose.
    fn by(&self) -> Option<&str> {
        let at = self.judging.iter().position(|word| word == "--by")?;
        Some(&self.judging[at + 1])
    }

    /// A command that judges by the user's metrics, else by `metric`.
    fn by_metric(&self, command: &str, flags: &[&str], metric: Metric) -> Option<Name> {
        let by = ["--by", self.by().unwrap_or(metric.name())];
        self.slotscope(command, &[flags, &by].concat(), "")
    }

    /// A command that judges nodes as the report does.
    fn judged(&self, command: &str, flags: &[&str], script: &str) -> Option<Name> {
        let judging: Vec<&str> = self.judging.iter().map(String::as_str).collect();
        self.slotscope(command, &[&judging, flags].concat(), script)
    }

    fn slotscope(&self, command: &str, flags: &[&str], script: &str) -> Option<Name> {
        let reading: Vec<&str> = self.reading.iter().map(String::as_str).collect();
        let (command, words) = (format!("slotscope {command}"), [&reading, flags].concat());
        (!reading.is_empty()).then(|| printed(&command, &words, script))
    }
}

/// A command, its words, each quoted where the shell needs it, and the script that its output goes to.
fn printed(command: &str, words: &[&str], script: &str) -> Name {
    let words = words.iter().map(|word| format!(" {}", shell_word(word)));
    Name::from(format!("{command}{}{script}", words.collect::<String>()))
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
