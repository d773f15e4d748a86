//! The commands of remedies, with the real names of the files, ready to paste.

use crate::metric::Metric;
use crate::slot::SLOTS;
use crate::text::shell_word;
use crate::topology::Topology;

/// What the commands of a run have in common.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// The inputs and the flags that say how they are read.
    pub reading: Vec<String>,
    /// The flags that name the nodes.
    pub nodes: Vec<String>,
    /// Whether those are the nodes of a real cluster, which slots can be moved between.
    pub is_real: bool,
}

impl Commands {
    /// `redis-cli --cluster rebalance`, where a node's address is known; it refuses a cluster with a slot on its way to
    /// another node or without an owner, which `--cluster fix` mends.
    pub fn rebalance(&self, topology: &Topology) -> Option<String> {
        let owning = topology.nodes.iter().filter(|node| node.slots > 0);
        let address = owning.filter_map(|node| node.address.as_deref()).next();
        let address = shell_word(address.filter(|_| self.is_real)?);
        let is_whole = topology.in_flight.is_empty()
            && (0..SLOTS as u16).all(|slot| topology.owner(slot).is_some());
        let fix = match is_whole {
            true => String::new(),
            false => format!("redis-cli --cluster fix {address} && "),
        };
        Some(format!("{fix}redis-cli --cluster rebalance {address}"))
    }

    /// `slotscope plan`; with the nodes of a real cluster the script that moves the slots.
    pub fn plan(&self, metric: Metric, topology: &Topology) -> String {
        let script = match self.is_real && topology.nodes.iter().any(|node| node.address.is_some())
        {
            true => " --commands setslot > moves.sh",
            false => "",
        };
        format!("{}{script}", self.of("plan", &by(metric)))
    }

    /// The same with one more primary.
    pub fn plan_with_one_more(&self, metric: Metric) -> String {
        let flags = [by(metric), vec!["--add".into(), "1".into()]].concat();
        self.of("plan", &flags)
    }

    /// `slotscope whatif` with these tags split.
    pub fn split(&self, tags: &[String], parts: u32) -> String {
        let flags = tags
            .iter()
            .flat_map(|tag| ["--split".into(), format!("{tag} = {parts}")]);
        self.of("whatif", &flags.collect::<Vec<_>>())
    }

    fn of(&self, command: &str, flags: &[String]) -> String {
        let words = self.reading.iter().chain(&self.nodes).chain(flags);
        let words: Vec<String> = words.map(|word| shell_word(word)).collect();
        format!("slotscope {command} {}", words.join(" "))
    }
}

fn by(metric: Metric) -> Vec<String> {
    match metric {
        Metric::Keys => Vec::new(),
        metric => vec!["--by".into(), metric.name().into()],
    }
}
