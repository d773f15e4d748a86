//! What the flags of `slotscope plan` ask for: load, nodes, slots that stay, limits.

use clap::Args;

use super::is_suspicious;
use crate::advice::plan::Limits;
use crate::advice::plan::outcome::Node;
use crate::command::analyze::room::size;
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::Summary;
use crate::topology::{self, Topology};

/// What a plan is to be like.
#[derive(Args, Debug, Clone)]
pub struct Wishes {
    /// What load is: keys, bytes, ops, or a mix such as bytes=2,ops=1, each metric measured by its own total
    #[arg(long, value_name = "METRICS", default_value = "keys")]
    pub by: String,
    /// What a node can bear beside the others, 1 where it is not said; by the start of its id or by its address (of
    /// nodes to be added new-1, new-2 ...); may be repeated
    #[arg(long, value_name = "ID=W")]
    pub weight: Vec<String>,
    /// Empty primaries that will be added: new-1, new-2 ...
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub add: usize,
    /// A primary to be emptied; by the start of its id or by its address; may be repeated
    #[arg(long, value_name = "ID")]
    pub remove: Vec<String>,
    /// Move at most so many slots
    #[arg(long, value_name = "N")]
    pub max_slots: Option<u64>,
    /// Move at most so much, as in redis.conf: 4gb, 512mb
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<String>,
    /// Slots that stay where they are: 0-5,77
    #[arg(long, value_name = "SLOTS")]
    pub exclude: Vec<String>,
    /// How far above its fair share a node may stay, or above the floor where that is beyond
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub tolerance: f64,
}

impl Wishes {
    /// The metrics and their weights.
    pub fn by(&self) -> Result<Vec<(Metric, f64)>> {
        let bad = || {
            let what = "name keys, bytes or ops, each once; of a mix each with a weight above 0: bytes=2,ops=1";
            Error::bad(format!("--by {}", Name::from(self.by.as_str())), what)
        };
        let mut by: Vec<(Metric, f64)> = Vec::new();
        for part in self.by.split(',') {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let metric = Metric::ALL.into_iter().find(|metric| metric.name() == name).ok_or_else(bad)?;
            let weight = positive(weight).ok_or_else(bad)?;
            if by.iter().any(|(other, _)| *other == metric) {
                return Err(bad());
            }
            by.push((metric, weight));
        }
        Ok(by)
    }

    /// All nodes: those of the cluster in its order, then those to be added.
    pub fn nodes(&self, topology: &Topology) -> Result<Vec<Node>> {
        if self.add + topology.nodes.len() > SLOTS {
            return Err(Error::bad(format!("--add {}", self.add), "there cannot be more nodes than slots, 16384"));
        }
        let known = |node: &topology::Node| Node { id: node.id.clone(), address: node.address.clone(), capacity: 1.0 };
        let new = (1..=self.add).map(|i| Node { id: format!("new-{i}"), address: None, capacity: 1.0 });
        let mut nodes: Vec<Node> = topology.nodes.iter().map(known).chain(new).collect();
        for text in &self.weight {
            let bad = |what: &str| Error::bad(format!("--weight {}", Name::from(text.as_str())), what);
            let (id, weight) = text.rsplit_once('=').ok_or_else(|| bad("write it as ID=W"))?;
            let weight = positive(weight).ok_or_else(|| bad("W must be above 0; --remove ID empties a node"))?;
            let at = node_named(&nodes, id).map_err(bad)?;
            nodes[at].capacity = weight;
        }
        for id in &self.remove {
            let bad = |what: &str| Error::bad(format!("--remove {}", Name::from(id.as_str())), what);
            let at = node_named(&nodes, id).map_err(bad)?;
            if at >= topology.nodes.len() {
                return Err(bad("is to be added; leave out one of both"));
            }
            nodes[at].capacity = 0.0;
        }
        match nodes.iter().any(|node| node.capacity > 0.0) {
            true => Ok(nodes),
            false => Err(Error::bad("--remove", "no node would be left to hold the slots; --add N brings new ones")),
        }
    }

    /// Slots that stay: those of --exclude, and those that are on their way already.
    pub fn fixed(&self, topology: &Topology) -> Result<Vec<bool>> {
        let mut fixed = vec![false; SLOTS];
        for text in &self.exclude {
            for part in text.split(',') {
                let range = slot_range(part).ok_or_else(|| {
                    let place = format!("--exclude {}", Name::from(text.as_str()));
                    Error::bad(place, "name slots from 0 to 16383 and ranges of them: 0-5,77")
                })?;
                fixed[range].fill(true);
            }
        }
        topology.in_flight.iter().for_each(|moving| fixed[usize::from(moving.slot)] = true);
        let stuck = |node: &Node| node.capacity <= 0.0;
        let nodes = self.nodes(topology)?;
        let owned = |slot: usize| topology.owner(slot as u16).map(|node| &nodes[node]);
        match (0..SLOTS).find(|slot| fixed[*slot] && owned(*slot).is_some_and(stuck)) {
            None => Ok(fixed),
            Some(slot) => Err(Error::bad(
                format!("slot {slot}"),
                "is on a node to be emptied and cannot move: it is in --exclude, or on its way already (redis-cli --cluster fix ends that)",
            )),
        }
    }

    /// How much may move.
    pub fn limits(&self) -> Result<Limits> {
        let bytes = self.max_bytes.as_deref().map(|text| {
            let place = || format!("--max-bytes {}", Name::from(text));
            size(text).ok_or_else(|| Error::bad(place(), "no size; write bytes, or 512mb, 4gb as in redis.conf"))
        });
        Ok(Limits { slots: self.max_slots, bytes: bytes.transpose()? })
    }

    /// As a part of one.
    pub fn tolerance(&self) -> Result<f64> {
        match self.tolerance.is_finite() && self.tolerance >= 0.0 {
            true => Ok(self.tolerance / 100.0),
            false => Err(Error::bad("--tolerance", "must be 0 or more, in percent")),
        }
    }
}

/// What a reader of the plan is warned of.
pub fn warnings(summary: &Summary) -> Vec<String> {
    let input = &summary.input;
    let mut warnings = Vec::new();
    if is_suspicious(summary) {
        warnings.push(summary.skew.sentence.clone());
    }
    let cut = |stop: &crate::summary::Incomplete| format!("{}: byte {}: {}", stop.file, stop.byte, stop.reason);
    warnings.extend(input.incomplete.iter().map(cut));
    warnings.extend(input.warnings.iter().cloned());
    let unowned = &summary.nodes.unowned;
    if unowned.slots > 0 {
        let what = "slots that no node owns stay so; redis-cli --cluster fix gives them to one";
        warnings.push(format!("{} {what}", unowned.slots));
    }
    if let [first, ..] = summary.nodes.in_flight.as_slice() {
        let count = summary.nodes.in_flight.len();
        warnings.push(format!(
            "slots on their way to another node stay out of the plan: {count}, slot {} first",
            first.slot
        ));
    }
    warnings
}

/// A number above 0, of a size that sums and quotients survive.
fn positive(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| (1e-6..=1e6).contains(number))
}

/// The slots of `5` or `0-5`.
fn slot_range(text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let number = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<usize>().ok().filter(|slot| digits && *slot < SLOTS)
    };
    let (first, last) = text.trim().split_once('-').unwrap_or((text.trim(), text.trim()));
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(first..=last)
}

/// The node with this address, or with an id that is this or alone begins so.
fn node_named(nodes: &[Node], id: &str) -> std::result::Result<usize, &'static str> {
    let exact = |node: &Node| node.id == id || node.address.as_deref() == Some(id);
    if let Some(at) = nodes.iter().position(exact) {
        return Ok(at);
    }
    let mut found = nodes.iter().enumerate().filter(|(_, node)| !id.is_empty() && node.id.starts_with(id));
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        (None, _) => Err("no node has this id or address"),
        _ => Err("several nodes have an id that begins so"),
    }
}
