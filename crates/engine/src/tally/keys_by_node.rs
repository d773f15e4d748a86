//! Keys of each input by the owner of their slots: a single-node dump with foreign keys does not match the topology.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::slot::SlotBatch;
use crate::tally::Tally;
use crate::tally::slots::add_all;

/// Maximum inputs times nodes; nothing is counted beyond that.
const MAX_CELLS: usize = 1 << 20;

/// Keys by input and node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KeysByNode {
    /// The number of each slot's owner; unassigned slots have the number after the last node's.
    owners: Arc<[u16]>,
    nodes: usize,
    keys: Vec<u64>,
    /// Node numbers by address.
    addresses: BTreeMap<String, u16>,
    /// Keys whose row names a node of the topology.
    pub with_node: u64,
    /// Keys among these whose slot another node owns.
    pub strays: u64,
}

impl KeysByNode {
    /// Counts for `inputs` inputs and the nodes at `addresses`; `owner` maps each slot to its node.
    pub fn new(
        inputs: usize,
        addresses: &[Option<&str>],
        owner: impl Fn(u16) -> Option<usize>,
    ) -> Self {
        let nodes = addresses.len();
        let cells = inputs.saturating_mul(nodes + 1);
        let owners = (0..crate::slot::SLOTS as u16)
            .map(|slot| owner(slot).unwrap_or(nodes) as u16)
            .collect();
        let known = addresses
            .iter()
            .enumerate()
            .filter_map(|(node, address)| Some(((*address)?.to_owned(), node as u16)));
        KeysByNode {
            owners,
            nodes,
            keys: vec![
                0;
                if inputs < 2 || cells > MAX_CELLS {
                    0
                } else {
                    cells
                }
            ],
            addresses: known.collect(),
            ..KeysByNode::default()
        }
    }

    /// Whether another one has the same nodes and inputs.
    pub(crate) fn is_like(&self, other: &KeysByNode) -> bool {
        let what = |of: &KeysByNode| (of.nodes, of.keys.len());
        what(self) == what(other)
            && self.owners == other.owners
            && self.addresses == other.addresses
    }

    fn add_told(&mut self, keys: &SlotBatch<'_>) {
        let nodes = &keys.batch.values.nodes;
        let mut last: (&[u8], Option<u16>) = (b"", None);
        for i in 0..nodes.len() {
            let name = nodes.get(keys.batch.base, i);
            if name != last.0 {
                last = (
                    name,
                    std::str::from_utf8(name)
                        .ok()
                        .and_then(|name| self.addresses.get(name).copied()),
                );
            }
            let Some(node) = last.1 else { continue };
            self.with_node += 1;
            self.strays += u64::from(self.owners[usize::from(keys.slots[i])] != node);
        }
    }

    /// For each input, the keys of each node, and last the keys without a node. Empty for a single input.
    pub fn inputs(&self) -> impl Iterator<Item = &[u64]> {
        self.keys.chunks(self.nodes + 1)
    }
}

impl Tally for KeysByNode {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if self.owners.is_empty() || keys.batch.values.are_operations {
            return;
        }
        self.add_told(keys);
        if self.keys.is_empty() {
            return;
        }
        let from = keys.input as usize * (self.nodes + 1);
        let counts = &mut self.keys[from..][..=self.nodes];
        keys.slots
            .iter()
            .for_each(|slot| counts[usize::from(self.owners[usize::from(*slot)])] += 1);
    }

    fn merge(&mut self, other: Self) {
        let with_node = self.with_node.saturating_add(other.with_node);
        let strays = self.strays.saturating_add(other.strays);
        if self.owners.is_empty() {
            *self = other
        } else {
            add_all(&mut self.keys, &other.keys)
        }
        (self.with_node, self.strays) = (with_node, strays);
    }
}
