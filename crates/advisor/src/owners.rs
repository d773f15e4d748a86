//! The node of each slot.

use hashslot::SLOTS;

/// Owners of the slots.
#[derive(Debug, Clone)]
pub struct Owners {
    /// How many primaries there are.
    pub nodes: usize,
    /// The number of each slot's node; `nodes` if it has none.
    of_slot: Box<[u16]>,
}

impl Owners {
    /// Those of a cluster with this many primaries, by slot.
    pub fn listed(nodes: usize, owner: impl Fn(u16) -> Option<usize>) -> Self {
        let of_slot = (0..SLOTS as u16).map(|slot| owner(slot).unwrap_or(nodes) as u16);
        Owners {
            nodes,
            of_slot: of_slot.collect(),
        }
    }

    /// An even split in order.
    pub fn even(nodes: usize) -> Self {
        let nodes = nodes.clamp(1, SLOTS);
        let end = |node: usize| (2 * (node + 1) * SLOTS + nodes) / (2 * nodes);
        let mut of_slot = vec![0; SLOTS];
        for node in 1..nodes {
            of_slot[end(node - 1)..end(node)].fill(node as u16);
        }
        Owners {
            nodes,
            of_slot: of_slot.into(),
        }
    }

    /// The number of a slot's node.
    pub(crate) fn of(&self, slot: u16) -> u16 {
        self.of_slot[usize::from(slot)]
    }

    /// The load of the fullest node, in fair shares.
    pub(crate) fn max_over_mean(&self, slots: &[u64]) -> f64 {
        let mut loads = vec![0u64; self.nodes + 1];
        for (load, node) in slots.iter().zip(&self.of_slot) {
            loads[usize::from(*node)] += load;
        }
        loads.truncate(self.nodes);
        let total: u64 = loads.iter().sum();
        let largest = loads.into_iter().max().unwrap_or(0);
        if total == 0 {
            1.0
        } else {
            largest as f64 * self.nodes as f64 / total as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_node_is_that_of_the_listing() {
        let mut slots = vec![1; SLOTS];
        assert!((Owners::even(3).max_over_mean(&slots) - 1.0).abs() < 1e-3);
        let uneven = Owners::listed(2, |slot| Some(usize::from(slot >= 4096)));
        assert_eq!(uneven.max_over_mean(&slots), 1.5);
        assert_eq!((uneven.of(4095), uneven.of(4096)), (0, 1));
        let unowned = Owners::listed(2, |slot| (slot >= 8192).then_some(1));
        slots[0] = 1 << 40;
        assert_eq!(unowned.max_over_mean(&slots), 2.0);
    }
}
