//! The nodes named in an input by position: finds the last one before any byte.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of distinct nodes; further ones are treated as unknown.
const MAX_NODES: usize = 1 << 14;

/// The last node named in each block.
#[derive(Default)]
pub(crate) struct NamedNodes(Mutex<Known>);

#[derive(Default)]
struct Known {
    addresses: Vec<Arc<[u8]>>,
    numbers: HashMap<Arc<[u8]>, u32>,
    /// Node numbers by line offset.
    at: BTreeMap<u64, Option<u32>>,
}

impl NamedNodes {
    /// Records the node named by the line at `offset`.
    pub(crate) fn note(&self, offset: u64, address: &[u8]) {
        let known = &mut *self.lock();
        let number = known.numbers.get(address).copied().or_else(|| {
            let number = known.addresses.len();
            (number < MAX_NODES).then(|| {
                let address: Arc<[u8]> = address.into();
                known.addresses.push(address.clone());
                known.numbers.insert(address, number as u32);
                number as u32
            })
        });
        known.at.insert(offset, number);
    }

    /// The number of the last node named before `offset`.
    pub(crate) fn before(&self, offset: u64) -> Option<u32> {
        let known = self.lock();
        known.at.range(..offset).next_back().and_then(|(_, at)| *at)
    }

    /// The address of a node; empty if unknown.
    pub(crate) fn address(&self, number: Option<u32>) -> Arc<[u8]> {
        let known = self.lock();
        let address = number.and_then(|number| known.addresses.get(number as usize));
        address.cloned().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_node_before_a_byte_is_found_in_any_order_of_noting() {
        let nodes = NamedNodes::default();
        for (offset, address) in [(50, b"c:1"), (0, b"a:1"), (20, b"b:1"), (70, b"a:1")] {
            nodes.note(offset, address);
        }
        let at = |offset| nodes.address(nodes.before(offset)).to_vec();
        let found = [0, 1, 20, 21, 50, 51, 99].map(at);
        assert_eq!(
            found,
            [&b""[..], b"a:1", b"a:1", b"b:1", b"b:1", b"c:1", b"a:1"]
        );
    }

    #[test]
    fn a_list_of_endless_nodes_takes_no_more_memory() {
        let nodes = NamedNodes::default();
        (0..=MAX_NODES as u64).for_each(|i| nodes.note(i, &i.to_le_bytes()));
        assert_eq!(*nodes.address(nodes.before(1)), 0u64.to_le_bytes());
        assert!(nodes.address(nodes.before(MAX_NODES as u64 + 1)).is_empty());
    }
}
