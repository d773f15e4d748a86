//! The nodes compared in one role, with their loads and fair shares.
//!
//! f_i is the share of node i (they sum to 1), W the total load, M = max load_i / (f_i W).

use slotscope_topology::ranges;

use crate::nodes::{NodeLoad, Nodes};
use crate::role_load::RoleLoad;

/// The nodes compared in one role.
#[derive(Debug, Clone)]
pub struct Compared<'a> {
    /// The nodes.
    pub nodes: Vec<&'a NodeLoad>,
    /// Their loads.
    pub loads: Vec<f64>,
    /// f_i.
    pub shares: Vec<f64>,
    /// p_i, each node's fraction of the compared slots.
    pub slots: Vec<f64>,
    /// The load of each node's heaviest slot.
    pub heaviest: Vec<f64>,
    /// W.
    pub total: f64,
}

impl<'a> Compared<'a> {
    /// The nodes that `load` compares.
    pub fn new(nodes: &'a Nodes, load: &RoleLoad) -> Self {
        let chosen: Vec<&NodeLoad> = load.compared.iter().map(|at| &nodes.list[*at]).collect();
        let of_slots = |node: &NodeLoad| {
            let loads = ranges::slots(&node.ranges)
                .map(|slot| load.slots.get(usize::from(slot)).copied().unwrap_or(0));
            loads.fold((0.0, 0.0), |(sum, most), load| {
                (sum + load as f64, f64::max(most, load as f64))
            })
        };
        let (loads, heaviest): (Vec<f64>, Vec<f64>) =
            chosen.iter().map(|node| of_slots(node)).unzip();
        let weights: Vec<f64> = load.compared.iter().map(|at| load.weights[*at]).collect();
        let owned: f64 = chosen.iter().map(|node| f64::from(node.slots)).sum();
        Compared {
            shares: parts(&weights),
            slots: chosen
                .iter()
                .map(|node| f64::from(node.slots) / owned.max(1.0))
                .collect(),
            total: loads.iter().sum(),
            nodes: chosen,
            loads,
            heaviest,
        }
    }

    /// The fair share of a node, in load units.
    pub fn fair(&self, at: usize) -> f64 {
        self.shares[at] * self.total
    }

    pub fn least_fair(&self) -> f64 {
        let least = self.shares.iter().copied().fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            least * self.total
        } else {
            0.0
        }
    }

    /// The load of a node in fair shares.
    pub fn ratio(&self, at: usize) -> f64 {
        let fair = self.fair(at);
        if fair > 0.0 {
            self.loads[at] / fair
        } else {
            0.0
        }
    }

    /// The node with the most fair shares, the first of equals; `None` if there is no load.
    pub fn fullest(&self) -> Option<usize> {
        let places = (0..self.nodes.len()).rev();
        places
            .filter(|at| self.loads[*at] > 0.0)
            .max_by(|a, b| self.ratio(*a).total_cmp(&self.ratio(*b)))
    }
}

/// Normalizes `weights` to a sum of 1.
pub fn parts(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights
        .iter()
        .map(|weight| if sum > 0.0 { weight / sum } else { 0.0 })
        .collect()
}
