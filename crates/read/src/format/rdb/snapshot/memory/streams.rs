//! Memory of streams: blocks of entries in a radix tree by first id, groups, consumers, and pending entries.

use crate::format::rdb::snapshot::memory::{Body, Footprint, MAX_LEN};
use crate::format::rdb::snapshot::server::Server;
use crate::format::rdb::snapshot::tree::Tree;

/// Bytes of a stream, of its tree if that tracks its own size, and what a tree adds per id and node if not.
const STREAM: u64 = 80;
const TREE: u64 = 32;
const TREE_ID: u64 = 16;
const TREE_NODE: u64 = 244;

/// Bytes of a group, of a consumer without its times, and of a pending entry in a group.
const GROUP: u64 = 40;
const CONSUMER: u64 = 16;
const DELIVERY: u64 = 24;

impl Footprint {
    /// An empty tree of ids.
    pub(in crate::format::rdb::snapshot) fn tree(&self) -> Tree {
        Tree::new(self.allocator, self.server != Server::Redis810)
    }

    /// Adds a stream whose blocks of entries are in this tree.
    pub(in crate::format::rdb::snapshot) fn stream(&mut self, blocks: Tree) {
        self.body = Body::Blocks;
        self.parts += match self.server {
            Server::Redis84 => self.taken(STREAM + 40),
            Server::Redis86 | Server::Redis810 => self.taken(STREAM + 80),
            Server::Redis82 => STREAM + 32,
            _ => STREAM,
        } as f64;
        self.add_tree(blocks);
    }

    /// Adds a block of stream entries.
    pub(in crate::format::rdb::snapshot) fn stream_node(&mut self, len: u64) {
        self.add_packed(len.min(MAX_LEN));
    }

    /// Adds the groups of a stream, if any; the pending entries of one of them are in this tree.
    pub(in crate::format::rdb::snapshot) fn groups(&mut self, pending: Option<Tree>) {
        if let Some(pending) = pending.filter(|_| self.server.adds_up()) {
            self.parts += self.taken(self.tree_head()) as f64;
            if pending.len() > 0 {
                self.add_tree(pending);
            }
        }
    }

    /// Adds a consumer group with a name of `name` bytes and its pending entries in this tree.
    pub(in crate::format::rdb::snapshot) fn group(&mut self, name: u64, pending: Tree) {
        let (group, delivery) = match self.server {
            Server::Redis86 | Server::Redis810 => (GROUP + 24, DELIVERY + 40),
            Server::Redis82 | Server::Redis84 => (GROUP, DELIVERY + 8),
            _ => (GROUP, DELIVERY),
        };
        self.parts += group as f64;
        self.parts += delivery as f64 * self.add_tree(pending);
        if self.server.adds_up() {
            self.parts += self.taken(self.tree_head()) as f64;
            self.add_name(name);
        }
    }

    /// Adds a consumer with a name of `name` bytes and this many pending entries.
    pub(in crate::format::rdb::snapshot) fn consumer(
        &mut self,
        name: u64,
        times: u64,
        pending: Tree,
    ) {
        let name = name.min(MAX_LEN);
        if self.server.adds_up() {
            self.add(CONSUMER + 16);
            self.string(name);
            self.add_name(name);
        } else {
            self.parts += (CONSUMER + 8 * times + name) as f64;
        }
        self.add_tree(pending);
    }

    /// Adds a tree; returns its number of ids.
    fn add_tree(&mut self, tree: Tree) -> f64 {
        let (ids, nodes, bytes) = tree.size();
        self.parts += if self.server.has_buckets() || self.server.adds_up() {
            (self.taken(self.tree_head()) + bytes) as f64
        } else {
            (TREE_ID * ids + TREE_NODE * nodes) as f64
        };
        ids as f64
    }

    /// A tree without its nodes.
    fn tree_head(&self) -> u64 {
        TREE + if self.server == Server::Redis810 {
            8
        } else {
            0
        }
    }

    /// Adds the tree nodes of a single name: its letters and its value.
    fn add_name(&mut self, name: u64) {
        self.add((4 + name.min(MAX_LEN)).next_multiple_of(8) + 8);
        self.add(8 + 8);
    }
}
