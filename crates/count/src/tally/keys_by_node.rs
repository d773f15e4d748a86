//! Keys of each input by the owner of their slots: a single-node dump with foreign keys does not match the topology.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use slotscope_base::slot::SlotBatch;

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
}

impl KeysByNode {
    /// Counts for `inputs` inputs and `nodes` nodes; `owner` maps each slot to its node.
    pub fn new(inputs: usize, nodes: usize, owner: impl Fn(u16) -> Option<usize>) -> Self {
        let cells = inputs.saturating_mul(nodes + 1);
        let is_counted = inputs > 1 && cells <= MAX_CELLS;
        let owners = 0..slotscope_base::slot::SLOTS as u16;
        KeysByNode {
            owners: owners
                .map(|slot| owner(slot).unwrap_or(nodes) as u16)
                .collect(),
            nodes,
            keys: vec![0; if is_counted { cells } else { 0 }],
        }
    }

    /// Whether another one has the same nodes and inputs.
    pub(crate) fn is_like(&self, other: &KeysByNode) -> bool {
        let size = |keys: &KeysByNode| (keys.nodes, keys.keys.len());
        size(self) == size(other) && self.owners == other.owners
    }

    /// For each input, the keys of each node, and last the keys without a node. Empty for a single input.
    pub fn inputs(&self) -> impl Iterator<Item = &[u64]> {
        self.keys.chunks(self.nodes + 1)
    }
}

impl Tally for KeysByNode {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if self.keys.is_empty() || keys.batch.values.are_operations {
            return;
        }
        let from = keys.input as usize * (self.nodes + 1);
        let counts = &mut self.keys[from..][..=self.nodes];
        keys.slots
            .iter()
            .for_each(|slot| counts[usize::from(self.owners[usize::from(*slot)])] += 1);
    }

    fn merge(&mut self, other: Self) {
        if self.owners.is_empty() {
            *self = other
        } else {
            add_all(&mut self.keys, &other.keys)
        }
    }
}
