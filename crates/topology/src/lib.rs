//! Slot owners, from a cluster listing or an even split.
//!
//! One file per format, detected by content: CLUSTER NODES and nodes.conf, CLUSTER SHARDS, CLUSTER SLOTS. Every format
//! yields claims; `claims` checks them once for all, so that no format can assign a slot twice.

mod claims;
#[doc(hidden)]
pub mod cluster_info;
#[doc(hidden)]
pub mod file_groups;
#[doc(hidden)]
pub mod find;
#[doc(hidden)]
pub mod identity;
#[doc(hidden)]
pub mod node_line;
mod nodes_text;
#[doc(hidden)]
pub mod of_files;
#[doc(hidden)]
pub mod of_names;
mod of_path;
#[doc(hidden)]
pub mod overlap;
#[doc(hidden)]
pub mod ranges;
mod shards;
mod slots_json;

use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::small_file;

use crate::claims::quoted;

/// The default number of nodes.
const ASSUMED_NODES: usize = 3;

/// The primaries of a cluster and the slots they own.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// Its source: "assumed even 3", "even 6", `ONE_A_FILE`, or the file as named by the user (unescaped).
    pub source: String,
    /// Primaries by first slot; those without slots last, in listing order.
    pub nodes: Vec<Node>,
    /// Slots in migration, ascending.
    pub in_flight: Vec<InFlight>,
    owner: Box<[u16]>, // SLOTS indices into `nodes`, NO_NODE if unowned
}

/// A primary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Its cluster id; untrusted text, escape before display.
    pub id: String,
    /// `ip:port` or `hostname:port`, if listed; escape before display.
    pub address: Option<String>,
    /// Its announced hostname, without a port; escape before display.
    pub hostname: Option<String>,
    /// Whether the cluster agrees that it has failed: `fail`.
    pub failed: bool,
    /// Whether the queried node suspects that it has failed: `fail?`.
    pub suspected: bool,
    /// The number of its healthy replicas; absent if the listing does not tell.
    pub replicas: Option<u32>,
    /// Its slots as inclusive first and last; ascending and not adjacent.
    pub ranges: Vec<(u16, u16)>,
    /// The number of slots it owns.
    pub slots: u32,
}

impl Node {
    /// Whether slots can be moved from and to it: neither failed nor suspected.
    pub fn is_up(&self) -> bool {
        !self.failed && !self.suspected
    }
}

/// A slot in migration. `from` owns it until the move ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InFlight {
    /// The slot.
    pub slot: u16,
    /// The source node's id.
    pub from: String,
    /// The target node's id.
    pub to: String,
}

/// No owner, in `Topology::owner`. Node indices stay below `SLOTS`.
const NO_NODE: u16 = u16::MAX;

/// Maximum size of a listing. A thousand primaries with fully scattered slots need 0.2 MiB, so anything near this is
/// another kind of file.
const MAX_BYTES: usize = 16 << 20;

/// The error for a longer file.
const TOO_LONG: &str = "more than 16 MiB, too much for the nodes of a cluster; make one with: redis-cli -h HOST -p PORT CLUSTER NODES > FILE";

/// The supported formats, for error messages.
const FORMS: &str = "CLUSTER NODES or a nodes.conf, nor is the file CLUSTER SHARDS or CLUSTER SLOTS as redis-cli --json prints them";

/// How to create a readable file, for error messages.
const MAKE_ONE: &str =
    "make one with: redis-cli -h HOST -p PORT CLUSTER NODES > FILE; keys are the INPUT";

impl Topology {
    /// The source if each dump is one node.
    pub const ONE_A_FILE: &str = "one node a file";

    /// Whether ids are made up: for an even split, or from file names.
    pub(crate) fn has_made_up_ids(&self) -> bool {
        self.source == Topology::ONE_A_FILE || self.is_even()
    }

    /// Whether it is an even split.
    pub fn is_even(&self) -> bool {
        self.nodes.first().is_some_and(|node| node.id == "even-1")
    }

    /// Renames its source, nodes and addresses.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let mut renamed = self.clone();
        if self.source != Topology::ONE_A_FILE {
            renamed.source = name(&self.source);
        }
        for node in &mut renamed.nodes {
            node.id = name(&node.id);
            node.address = node.address.as_deref().map(&name);
            node.hostname = node.hostname.as_deref().map(&name);
        }
        for slot in &mut renamed.in_flight {
            (slot.from, slot.to) = (name(&slot.from), name(&slot.to));
        }
        renamed
    }

    /// Three equal nodes; the source marks them as assumed.
    ///
    /// # Errors
    /// None in practice.
    pub fn assumed() -> Result<Topology> {
        Topology::even(ASSUMED_NODES, format!("assumed even {ASSUMED_NODES}"))
    }

    /// `n` nodes `even-1`, `even-2`, ... sharing the slots as `redis-cli --cluster create` does: node i (from 0) ends
    /// at round((i + 1) * 16384 / n) - 1, rounding half away from zero.
    ///
    /// ```
    /// let topology = slotscope_topology::Topology::even(3, String::from("even 3"))?;
    /// assert_eq!(topology.nodes[0].ranges, [(0, 5460)]);
    /// assert_eq!(topology.owner(16383), Some(2));
    /// # Ok::<(), slotscope_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// `n` is 0, or there are more nodes than slots.
    pub fn even(n: usize, source: String) -> Result<Topology> {
        if !(1..=SLOTS).contains(&n) {
            return Err(Error::option(
                "nodes",
                n.to_string(),
                "the number of nodes must be from 1 to 16384, one slot each",
            ));
        }
        let end = |nodes: usize| (2 * nodes * SLOTS + n) / (2 * n); // the rounded quotient, in integers
        let node = |i: usize| Node {
            id: format!("even-{}", i + 1),
            ..Node::default()
        };
        let owner: Vec<_> = (0..n)
            .flat_map(|i| vec![Some(i); end(i + 1) - end(i)])
            .collect();
        let (topology, _) = Topology::of_owners(source, (0..n).map(node).collect(), &owner);
        Ok(topology)
    }

    /// Nodes with the slots that `owner` gives each by its index, in the order of these; and their indices in that order.
    fn of_owners(
        source: String,
        mut nodes: Vec<Node>,
        owner: &[Option<usize>],
    ) -> (Topology, Vec<usize>) {
        let mut slots = vec![Vec::new(); nodes.len()];
        for (slot, node) in (0..).zip(owner) {
            if let Some(node) = node {
                slots[*node].push(slot);
            }
        }
        for (node, slots) in nodes.iter_mut().zip(&slots) {
            (node.ranges, node.slots) = (ranges::of_slots(slots), slots.len() as u32);
        }
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        let first = |at: usize| slots[at].first().map_or(SLOTS as u16, |first| *first);
        order.sort_by(|a, b| (first(*a), &nodes[*a].id).cmp(&(first(*b), &nodes[*b].id)));
        let mut place = vec![NO_NODE; nodes.len()];
        (0..).zip(&order).for_each(|(at, node)| place[*node] = at);
        let of_slot = |node: &Option<usize>| node.map_or(NO_NODE, |node| place[node]);
        let topology = Topology {
            source,
            nodes: order.iter().map(|at| nodes[*at].clone()).collect(),
            in_flight: Vec::new(),
            owner: owner.iter().map(of_slot).collect(),
        };
        (topology, order)
    }

    /// Reads a file (or a pipe: `<(redis-cli CLUSTER NODES)`) in any supported format.
    ///
    /// # Errors
    /// The file cannot be read, or as for `parse`.
    pub fn read(path: &Path) -> Result<Topology> {
        let (source, bytes) = Topology::listing(path)?;
        Topology::parse(&source, &bytes)
    }

    /// The listing of the highest epoch among those of several nodes, as each keeps its own nodes.conf; of equal ones the
    /// one in which most slots have an owner. `None` of none.
    ///
    /// # Errors
    /// None can be read.
    pub fn newest(paths: &[impl AsRef<Path>]) -> Result<Option<Topology>> {
        let mut newest: Option<((u64, usize), Topology)> = None;
        let mut failed = None;
        for path in paths {
            let read = Topology::listing(path.as_ref());
            let read =
                read.and_then(|(source, bytes)| Ok((Topology::parse(&source, &bytes)?, bytes)));
            match read {
                Ok((topology, bytes)) => {
                    let owned = topology.owner.iter().filter(|node| **node != NO_NODE);
                    let rank = (nodes_text::epoch(&bytes), owned.count());
                    if newest.as_ref().is_none_or(|(best, _)| *best < rank) {
                        newest = Some((rank, topology));
                    }
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match (newest, failed) {
            (Some((_, topology)), _) => Ok(Some(topology)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }

    /// Reads the input of `parse`: a file's name and content.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn listing(path: &Path) -> Result<(String, Vec<u8>)> {
        let bytes = small_file::read(path, MAX_BYTES as u64, TOO_LONG)?;
        Ok((path.to_string_lossy().into_owned(), bytes))
    }

    /// Parses a listing in any supported format; `source` names its file in the report and errors.
    ///
    /// # Errors
    /// It matches no format, contradicts itself, or no primary owns a slot. The message is one line with the file and
    /// the line, shard or entry.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<Topology> {
        let file = || Name::from(source).to_string();
        if bytes.len() > MAX_BYTES {
            return Err(Error::bad(file(), TOO_LONG));
        }
        if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
            let reason = "UTF-16 text, as > writes it in older PowerShells; save it as UTF-8";
            return Err(Error::bad(file(), reason));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            Error::bad(
                format!("{}: line {line}", file()),
                format!("not text, so no listing of nodes; {MAKE_ONE}"),
            )
        })?;
        let text = text.trim_start_matches('\u{FEFF}');
        match text.trim_start().chars().next() {
            None => Err(Error::bad(file(), format!("an empty file; {MAKE_ONE}"))),
            Some('[') => parse_json(source, text),
            // A key may start with a hash tag.
            Some('{') if serde_json::from_str::<IgnoredAny>(text).is_ok() => Err(Error::bad(
                file(),
                format!(
                    "a JSON object; CLUSTER SHARDS and CLUSTER SLOTS are JSON arrays; {MAKE_ONE}"
                ),
            )),
            Some(_) => nodes_text::read(source, text),
        }
    }

    /// The index in `nodes` of the owner of `slot`; `None` without an owner, or past the last slot.
    pub fn owner(&self, slot: u16) -> Option<usize> {
        self.owner
            .get(usize::from(slot))
            .filter(|index| **index != NO_NODE)
            .map(|index| usize::from(*index))
    }
}

/// Entries of CLUSTER SLOTS start with a number; anything else is read as CLUSTER SHARDS.
fn parse_json(source: &str, text: &str) -> Result<Topology> {
    let rows: Vec<Value> = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        let place = format!(
            "{}: line {}, column {}",
            Name::from(source),
            error.line(),
            error.column()
        );
        Error::bad(
            place,
            format!("broken JSON, {}; {MAKE_ONE}", quoted(reason)),
        )
    })?;
    match rows.first() {
        Some(Value::Array(entry)) if entry.first().is_some_and(Value::is_number) => {
            slots_json::read(source, &rows)
        }
        _ => shards::read(source, &rows),
    }
}

/// The value of `name` in a map. RESP2 clients print a map as `[name, value, name, value]`.
fn field<'a>(map: &'a Value, name: &str) -> Option<&'a Value> {
    match map {
        Value::Object(map) => map.get(name),
        Value::Array(pairs) => pairs
            .chunks_exact(2)
            .find(|pair| pair[0].as_str() == Some(name))
            .map(|pair| &pair[1]),
        _ => None,
    }
}

/// The text of `name` in a map; empty if unknown to the server: absent, null, "" or "?".
fn text_field<'a>(map: &'a Value, name: &str) -> &'a str {
    field(map, name).map_or("", known_text)
}

fn known_text(value: &Value) -> &str {
    value
        .as_str()
        .filter(|text| *text != "?")
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
