//! Which node's slots the keys of each input are in: a dump of one node that holds keys of another tells of a
//! topology that is not the dump's.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Tally;
use super::slots::add_all;
use crate::slot::SlotBatch;

/// Inputs times nodes that are told apart; with more of them nothing is.
const MAX_CELLS: usize = 1 << 20;

/// Keys by input and node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Origins {
    /// For each slot the number of the node that owns it; those that nobody owns have the number behind the last.
    owners: Arc<[u16]>,
    nodes: usize,
    inputs: usize,
    keys: Vec<u64>,
}

impl Origins {
    /// Counts for `inputs` inputs and `nodes` nodes, of which `owner` says the one that owns a slot.
    pub fn new(inputs: usize, nodes: usize, owner: impl Fn(u16) -> Option<usize>) -> Self {
        if inputs < 2 || inputs.saturating_mul(nodes + 1) > MAX_CELLS {
            return Origins::default();
        }
        let owners = (0..crate::slot::SLOTS as u16).map(|slot| owner(slot).unwrap_or(nodes) as u16).collect();
        Origins { owners, nodes, inputs, keys: vec![0; inputs * (nodes + 1)] }
    }

    /// For each input the keys of each node, the last those of none. Nothing where there is but one input.
    pub fn inputs(&self) -> impl Iterator<Item = &[u64]> {
        self.keys.chunks(self.nodes + 1)
    }
}

impl Tally for Origins {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if self.owners.is_empty() {
            return;
        }
        let from = keys.input as usize * (self.nodes + 1);
        let counts = &mut self.keys[from..][..=self.nodes];
        keys.slots.iter().for_each(|slot| counts[usize::from(self.owners[usize::from(*slot)])] += 1);
    }

    fn merge(&mut self, other: Self) {
        match self.keys.is_empty() {
            true => *self = other,
            false => add_all(&mut self.keys, &other.keys),
        }
    }
}
