//! The owners of slots, from a listing of a cluster or an even split.
//!
//! One file a form, chosen by content: CLUSTER NODES and nodes.conf, CLUSTER SHARDS, CLUSTER SLOTS.
//! Every form states claims; `claims` checks them once for all, so no form can own a slot twice.

mod claims;
pub mod cluster_info;
#[doc(hidden)]
pub mod file_groups;
pub mod find;
pub mod identity;
#[doc(hidden)]
pub mod node_line;
mod nodes_text;
pub mod of_files;
pub mod of_names;
mod of_path;
pub mod overlap;
pub mod ranges;
#[doc(hidden)]
pub mod seen_lines;
mod shards;
mod slots_json;

use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::source::small_file;

use crate::topology::claims::quoted;

/// The number of nodes if none are named.
const ASSUMED_NODES: usize = 3;

/// The primaries of a cluster and the slots they own.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// Where it comes from: "assumed even 3", "even 6", `ONE_A_FILE`, or the file as the user named it (unescaped).
    pub source: String,
    /// The primaries in order of their first slot; those without slots last, in the order of the listing.
    pub nodes: Vec<Node>,
    /// Slots on their way from one node to another, ascending.
    pub in_flight: Vec<InFlight>,
    /// The addresses of replicas, where the listing has them.
    pub replicas: Vec<String>,
    owner: Box<[u16]>, // SLOTS indices into `nodes`, NO_NODE where unowned
}

/// A primary.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its id in the cluster; text from a file, to be escaped when shown.
    pub id: String,
    /// `ip:port` or `hostname:port`, where the listing has one; to be escaped when shown.
    pub address: Option<String>,
    /// The hostname that it announces, without a port; to be escaped when shown.
    pub hostname: Option<String>,
    /// Whether the cluster agrees that it has failed: `fail`.
    pub failed: bool,
    /// Whether the node that was asked suspects that it has failed: `fail?`.
    pub suspected: bool,
    /// How many replicas it has that have not failed; absent where the listing does not tell.
    pub replicas: Option<u32>,
    /// Its slots as first and last, both included; ascending, with a gap between neighbours.
    pub ranges: Vec<(u16, u16)>,
    /// How many slots it owns.
    pub slots: u32,
}

impl Node {
    /// Whether slots can leave it and go to it: it has not failed, and is not suspected to have.
    pub fn is_up(&self) -> bool {
        !self.failed && !self.suspected
    }
}

/// A slot that is being moved. Until the move ends, `from` owns it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InFlight {
    /// The slot.
    pub slot: u16,
    /// The id of the node that it leaves.
    pub from: String,
    /// The id of the node that it goes to.
    pub to: String,
}

/// In `Topology::owner`: no node. Node indices stay below `SLOTS`.
const NO_NODE: u16 = u16::MAX;

/// The longest listing that is read. A thousand primaries whose slots are all scattered need 0.2 MiB, so
/// anything near this is another kind of file.
const MAX_BYTES: usize = 16 << 20;

/// The error for a longer file.
const TOO_LONG: &str = "more than 16 MiB, too much for the nodes of a cluster; make one with: redis-cli -h HOST -p PORT CLUSTER NODES > FILE";

/// The forms of a topology, for error messages.
const FORMS: &str = "CLUSTER NODES or a nodes.conf, nor is the file CLUSTER SHARDS or CLUSTER SLOTS as redis-cli --json prints them";

/// How to make a file that can be read, for error messages.
const MAKE_ONE: &str = "make one with: redis-cli -h HOST -p PORT CLUSTER NODES > FILE";

impl Topology {
    /// The source of nodes that are one a dump.
    pub const ONE_A_FILE: &str = "one node a file";

    /// Whether the ids are made up: those of an even split, or the names of files.
    pub fn has_made_up_ids(&self) -> bool {
        self.source == Topology::ONE_A_FILE || self.is_even()
    }

    /// Whether it is an even split, whose names are made up.
    pub fn is_even(&self) -> bool {
        self.nodes.first().is_some_and(|node| node.id == "even-1")
    }

    /// The same with other names for its source, nodes and addresses.
    pub fn renamed(&self, name: impl Fn(&str) -> String) -> Self {
        let mut other = self.clone();
        if self.source != Topology::ONE_A_FILE {
            other.source = name(&self.source);
        }
        for node in &mut other.nodes {
            node.id = name(&node.id);
            node.address = node.address.as_deref().map(&name);
            node.hostname = node.hostname.as_deref().map(&name);
        }
        for slot in &mut other.in_flight {
            (slot.from, slot.to) = (name(&slot.from), name(&slot.to));
        }
        other
    }

    /// Three equal nodes, if none are named; the source says that they are assumed.
    ///
    /// # Errors
    /// None in practice.
    pub fn assumed() -> Result<Topology> {
        Topology::even(ASSUMED_NODES, format!("assumed even {ASSUMED_NODES}"))
    }

    /// `n` nodes `even-1`, `even-2`, ... that share the slots as `redis-cli --cluster create` does: node i
    /// (from 0) ends at round((i + 1) * 16384 / n) - 1, halves away from zero.
    ///
    /// ```
    /// let topology = slotscope_findings::topology::Topology::even(3, String::from("even 3"))?;
    /// assert_eq!(topology.nodes[0].ranges, [(0, 5460)]);
    /// assert_eq!(topology.owner(16383), Some(2));
    /// # Ok::<(), slotscope_engine::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where `n` is 0 or there are more nodes than slots.
    pub fn even(n: usize, source: String) -> Result<Topology> {
        if !(1..=SLOTS).contains(&n) {
            return Err(Error::option(
                "nodes",
                n.to_string(),
                "the number of nodes must be from 1 to 16384, one slot each",
            ));
        }
        let end = |nodes: usize| (2 * nodes * SLOTS + n) / (2 * n); // the rounded quotient, in integers
        let mut owner = vec![NO_NODE; SLOTS].into_boxed_slice();
        let node = |i: usize| {
            owner[end(i)..end(i + 1)].fill(i as u16);
            Node {
                id: format!("even-{}", i + 1),
                address: None,
                hostname: None,
                failed: false,
                suspected: false,
                replicas: None,
                ranges: vec![(end(i) as u16, (end(i + 1) - 1) as u16)],
                slots: (end(i + 1) - end(i)) as u32,
            }
        };
        let nodes = (0..n).map(node).collect();
        Ok(Topology {
            source,
            nodes,
            in_flight: Vec::new(),
            replicas: Vec::new(),
            owner,
        })
    }

    /// Reads a file (or a pipe: `<(redis-cli CLUSTER NODES)`) in any of the forms.
    ///
    /// # Errors
    /// Where the file cannot be read, or as `parse`.
    pub fn read(path: &Path) -> Result<Topology> {
        let (source, bytes) = Topology::listing(path)?;
        Topology::parse(&source, &bytes)
    }

    /// The input of `parse`: the name of a file and its content.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn listing(path: &Path) -> Result<(String, Vec<u8>)> {
        let bytes = small_file::read(path, MAX_BYTES as u64, TOO_LONG)?;
        Ok((path.to_string_lossy().into_owned(), bytes))
    }

    /// Reads a listing in any of the forms; `source` is its file, for the report and for errors.
    ///
    /// # Errors
    /// If it is in none of the forms, contradicts itself, or no primary owns a slot. The message is one line
    /// with the file and the line, shard or entry.
    pub fn parse(source: &str, bytes: &[u8]) -> Result<Topology> {
        let file = || Name::from(source).to_string();
        if bytes.len() > MAX_BYTES {
            return Err(Error::bad(file(), TOO_LONG));
        }
        if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
            let what = "UTF-16 text, as > writes it in older PowerShells; save it as UTF-8";
            return Err(Error::bad(file(), what));
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
            // A key may begin with a hash tag.
            Some('{') if serde_json::from_str::<IgnoredAny>(text).is_ok() => Err(Error::bad(
                file(),
                format!(
                    "a JSON object; CLUSTER SHARDS and CLUSTER SLOTS are JSON arrays; {MAKE_ONE}"
                ),
            )),
            Some(_) => nodes_text::read(source, text),
        }
    }

    /// The index in `nodes` of the node that owns `slot`; `None` where no node does, or past the last slot.
    pub fn owner(&self, slot: u16) -> Option<usize> {
        self.owner
            .get(usize::from(slot))
            .filter(|index| **index != NO_NODE)
            .map(|index| usize::from(*index))
    }
}

/// Entries of CLUSTER SLOTS begin with a number; anything else is read as CLUSTER SHARDS.
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

/// The value called `name` of a map. A client that speaks RESP2 prints a map as `[name, value, name, value]`.
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

/// The text called `name` of a map; empty where the server does not know it: absent, null, "" or "?".
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
