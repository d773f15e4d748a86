//! The radix tree of a stream's ids. A server counts its nodes or their bytes; both can be computed incrementally from
//! the ids in order.

use crate::format::rdb::snapshot::allocator::Allocator;

/// Bytes of an id.
pub(super) const ID: usize = 16;

/// The tree of the ids so far, without the path to the last one.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    allocator: Allocator,
    /// Whether the data of an id has a node of its own; otherwise it replaces the pointer to one.
    has_leaves: bool,
    last: [u8; ID],
    ids: u64,
    nodes: u64,
    bytes: u64,
    /// The branches on the path to the last id: the depth of each in bytes, and its children except the last.
    path: Vec<(usize, u64)>,
}

impl Tree {
    pub(super) fn new(allocator: Allocator, has_leaves: bool) -> Self {
        Tree {
            allocator,
            has_leaves,
            last: [0; ID],
            ids: 0,
            nodes: 0,
            bytes: 0,
            path: Vec::new(),
        }
    }

    /// Adds the next id.
    pub(super) fn add(&mut self, id: [u8; ID]) {
        if self.ids > 0 {
            let pairs = self.last.iter().zip(&id);
            let shared = pairs.take_while(|(last, next)| last == next).count();
            if shared == ID {
                return;
            }
            self.branch(shared);
        }
        (self.last, self.ids) = (id, self.ids + 1);
        if self.has_leaves {
            self.node(0, 1);
        }
    }

    /// The number of ids.
    pub(super) fn len(&self) -> u64 {
        self.ids
    }

    /// The number of ids, of nodes, and of bytes in nodes.
    pub(super) fn size(mut self) -> (u64, u64, u64) {
        if self.ids == 0 {
            self.node(0, 0);
        } else {
            let top = self.end(ID, 0);
            self.chain(top);
        }
        (self.ids, self.nodes, self.bytes)
    }

    /// Branches where the next id differs from the last one, after `shared` bytes.
    fn branch(&mut self, shared: usize) {
        let end = self.end(ID, shared + 1);
        match self.path.last_mut() {
            Some((above, children)) if *above == shared => *children += 1,
            _ => self.path.push((shared, 1)),
        }
        self.chain(end - shared - 1);
    }

    /// Closes the branches at a depth of at least `above`; returns the depth from which the next part hangs.
    fn end(&mut self, mut below: usize, above: usize) -> usize {
        while let Some((at, children)) = self.path.pop_if(|(at, _)| *at >= above) {
            self.chain(below - at - 1);
            self.node(children + 1, children + 1);
            below = at;
        }
        below
    }

    /// A compressed node: several bytes leading to one child.
    fn chain(&mut self, len: usize) {
        if len > 0 {
            self.node(len as u64, 1);
        }
    }

    /// A node of this many bytes and pointers.
    fn node(&mut self, len: u64, references: u64) {
        self.nodes += 1;
        let head = (4 + len).next_multiple_of(8);
        self.bytes += self.allocator.taken(head + 8 * references);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(ids: &[u128]) -> (u64, u64, u64) {
        let mut tree = Tree::new(Allocator::Jemalloc, true);
        ids.iter().for_each(|id| tree.add(id.to_be_bytes()));
        tree.size()
    }

    #[test]
    fn nodes_are_chains_branches_and_ids() {
        assert_eq!(size(&[]), (0, 1, 8));
        // A chain of all bytes, 4 + 16 + 4 + 8, and the id, 8 + 8.
        assert_eq!(size(&[7]), (1, 2, 32 + 16));
        // A chain of 15 bytes, a branch of two, 8 + 2 * 8, and two ids.
        assert_eq!(size(&[7, 8]), (2, 4, 32 + 24 + 2 * 16));
        // The branch at the last byte hangs off another one, as does a chain of one byte.
        assert_eq!(
            size(&[0x0707, 0x0708, 0x0801]),
            (3, 1 + 1 + 1 + 1 + 3, 32 + 24 + 24 + 16 + 3 * 16)
        );
        // No bytes precede the first branch.
        assert_eq!(size(&[7, 1 << 127]).1, 1 + 2 + 2);
    }

    #[test]
    fn ids_that_are_out_of_order_or_repeated_do_no_harm() {
        assert_eq!(size(&[7, 7, 7]), size(&[7]));
        assert_eq!(size(&[9, 3, 1 << 90, 3, u128::MAX, 0]).0, 6);
    }
}
