//! Slot owners in a timeline, and node loads over time.

use slotscope_base::name::Name;
use slotscope_topology::Topology;

use crate::timeline::NodeOverTime;
use crate::timeline::grid::{Grid, TimeAxis};

/// The nodes, or a single one for all slots if none are named.
pub(super) struct OfNodes<'a> {
    topology: Option<&'a Topology>,
    /// By node and bucket; slots without an owner come last.
    pub ops: Vec<Vec<u64>>,
}

impl<'a> OfNodes<'a> {
    /// Sums slots by node.
    pub(super) fn new(grid: &Grid, topology: Option<&'a Topology>, axis: TimeAxis) -> Self {
        let count = topology.map_or(0, |topology| topology.nodes.len()) + 1;
        let mut nodes = OfNodes {
            topology,
            ops: vec![vec![0; axis.len]; count],
        };
        for (place, ops) in grid.columns() {
            for (slot, ops) in ops.iter().enumerate() {
                let owner = nodes.owner(slot as u16);
                nodes.ops[owner][place] += *ops;
            }
        }
        nodes
    }

    /// The index of a slot's node.
    pub(super) fn owner(&self, slot: u16) -> usize {
        let owner = self.topology.and_then(|topology| topology.owner(slot));
        owner.unwrap_or(self.ops.len() - 1)
    }

    /// The display name of a slot's node.
    pub(super) fn name(&self, slot: u16) -> Option<Name> {
        let topology = self.topology?;
        Some(topology.nodes[topology.owner(slot)?].name())
    }

    /// The total by bucket.
    pub(super) fn total(&self, axis: TimeAxis) -> Vec<u64> {
        let sum = |place| self.ops.iter().map(|ops| ops[place]).sum();
        (0..axis.len).map(sum).collect()
    }

    /// The nodes by bucket; `None` if none are named.
    pub(super) fn over_time(self) -> Option<Vec<NodeOverTime>> {
        let series = self.topology?.nodes.iter().zip(self.ops);
        let nodes = series.map(|(node, over_time)| NodeOverTime {
            id: Name::from(node.id.as_str()),
            name: node.name(),
            ranges: node.ranges.clone(),
            ops: over_time.iter().sum(),
            over_time,
        });
        Some(nodes.collect())
    }
}
