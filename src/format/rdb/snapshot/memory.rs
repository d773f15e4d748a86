//! An estimate of what MEMORY USAGE answers for a key, from the lengths of its strings: the same blocks, rounded to the
//! classes of the allocator. Random levels of skip lists and collisions of buckets go in by their means.

use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::server::Server;

/// Bytes of an object, which refers to a value.
const OBJECT: u64 = 16;

/// Bytes of an entry of a dictionary, and of what a slot's list of keys adds to it.
const ENTRY: u64 = 24;
const SLOT_LIST: u64 = 16;

/// Bytes of a dictionary, of a quicklist, and of one of its nodes.
const DICT: u64 = 56;
const QUICKLIST: u64 = 40;
const NODE: u64 = 40;

/// Bytes of a sorted set, of its skip list, of a node of that without levels, and of a level.
const SORTED: u64 = 16;
const SKIPLIST: u64 = 32;
const SKIP_NODE: u64 = 24;
const LEVEL: u64 = 16;
const MAX_LEVEL: u64 = 32;

/// A radix tree of ids as a server counts it: an empty one, and what an id adds, which is rough, as it depends on how
/// many bytes ids share.
const TREE: u64 = 244;
const TREE_ID: u64 = 16 + 3 * TREE / 2;

/// A stream, a group or a consumer, and what is kept of an entry that is not acknowledged.
const STREAM: u64 = 80;
const GROUP: u64 = 40;
const DELIVERY: u64 = 24;

/// A compressed string may claim any length; sums of lengths up to this one do not overflow.
const MAX_LEN: u64 = 1 << 48;

/// The memory of one value, part by part, and in the end that of its key with it.
#[derive(Debug, Clone)]
pub struct Footprint {
    server: Server,
    allocator: Allocator,
    parts: f64,
    body: Body,
}

/// What a value is at its top.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Body {
    /// Nothing that is known.
    Unknown,
    /// A string of so many bytes, or a number.
    Text(u64, bool),
    /// One block, or nodes of blocks.
    Blocks,
    /// A table.
    Table,
    /// A table and a skip list.
    Sorted,
}

impl Footprint {
    /// Of values that `server` holds in memory of `allocator`.
    pub fn new(server: Server, allocator: Allocator) -> Self {
        Footprint {
            server,
            allocator,
            parts: 0.0,
            body: Body::Unknown,
        }
    }

    /// Starts anew.
    pub fn clear(&mut self) {
        (self.parts, self.body) = (0.0, Body::Unknown);
    }

    /// A string.
    pub fn text(&mut self, len: u64, is_number: bool) {
        let len = len.min(MAX_LEN);
        self.body = Body::Text(len, is_number);
    }

    /// All elements in one block; with what is kept next to it where fields expire.
    pub fn packed(&mut self, len: u64, fields_expire: bool) {
        let len = len.min(MAX_LEN);
        self.body = Body::Blocks;
        self.add(len);
        if fields_expire {
            self.add(32);
        }
    }

    /// A list.
    pub fn list(&mut self) {
        self.body = Body::Blocks;
        self.parts += QUICKLIST as f64;
    }

    /// A node of a list.
    pub fn node(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.parts += NODE as f64;
        self.add(len);
    }

    /// A member of a set.
    pub fn member(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.body = Body::Table;
        self.entry();
        self.string(len);
    }

    /// A field of a hash and its value.
    pub fn field(&mut self, field: u64, value: u64, expires: bool) {
        let (field, value) = (field.min(MAX_LEN), value.min(MAX_LEN));
        self.body = Body::Table;
        self.entry();
        let time = if expires { 8 } else { 0 };
        let small = header(field) + field + 1 + 3 + value + 1 + time;
        match self.server.has_buckets() {
            true if small <= 128 => self.add(small),
            true => {
                self.add(8 + header(field) + field + 1 + time);
                self.string(value);
            }
            false => {
                self.string(field);
                self.string(value);
            }
        }
    }

    /// A member of a sorted set.
    pub fn scored(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.body = Body::Sorted;
        self.entry();
        self.parts += match self.server {
            Server::Valkey91 => self.mean_node(SKIP_NODE + 1 + header(len) + len + 1 - 8),
            _ => {
                self.string(len);
                self.mean_node(SKIP_NODE)
            }
        };
    }

    /// A stream.
    pub fn stream(&mut self) {
        self.body = Body::Blocks;
        self.parts += (STREAM + TREE) as f64;
    }

    /// A block of entries of a stream.
    pub fn stream_node(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.parts += TREE_ID as f64;
        self.add(len);
    }

    /// A group of consumers, or one of them.
    pub fn group(&mut self) {
        self.parts += (GROUP + TREE) as f64;
    }

    /// An entry that a consumer has not acknowledged: the group and the consumer know it.
    pub fn pending(&mut self) {
        self.parts += (DELIVERY + 2 * TREE_ID) as f64;
    }

    /// The bytes of a key of `key` bytes with this value of `elements`; `None` where a module has it.
    pub fn total(&self, key: u64, expires: bool, elements: u64) -> Option<u64> {
        let table = || self.table(elements);
        let skiplist = || self.taken(SKIP_NODE + LEVEL * MAX_LEVEL) as f64;
        let top = match (self.body, self.server) {
            (Body::Unknown, _) => return None,
            (Body::Text(..) | Body::Blocks, _) => 0.0,
            (Body::Table, _) => table(),
            (Body::Sorted, Server::Valkey91) => SORTED as f64 + table() + skiplist(),
            (Body::Sorted, _) => (SORTED + SKIPLIST) as f64 + table() + skiplist(),
        };
        let text = match self.body {
            Body::Text(len, is_number) => Some((len, is_number)),
            _ => None,
        };
        Some(self.object(key, expires, text) + (top + self.parts).round() as u64)
    }

    /// A key with its object, and the text of that.
    fn object(&self, key: u64, expires: bool, text: Option<(u64, bool)>) -> u64 {
        let name = header(key) + key + 1;
        if !self.server.embeds_key() {
            let entry = match self.server {
                Server::Valkey80 => self.taken(17 + name),
                Server::Redis7 => self.taken(name) + ENTRY + SLOT_LIST,
                _ => self.taken(name) + ENTRY,
            };
            return entry
                + match text {
                    Some((len, false)) if len <= 44 => self.taken(OBJECT + 3 + len + 1),
                    Some((len, false)) => OBJECT + self.taken(header(len) + len + 1),
                    _ => OBJECT,
                };
        }
        let is_valkey = self.server.has_buckets();
        let time = if expires || !is_valkey && key >= 128 {
            8
        } else {
            0
        };
        let alone = OBJECT + time + 1 + name;
        let Some((len, false)) = text else {
            return self.taken(alone);
        };
        let both = alone + 3 + len + 1;
        let is_embedded = match self.server {
            // The place of the pointer to the value is used for the value.
            Server::Valkey91 => {
                return match both - 8 {
                    both @ ..=128 => self.taken(both),
                    _ => self.taken(alone) + self.taken(header(len) + len + 1),
                };
            }
            Server::Valkey81 => both <= 64,
            _ => OBJECT + key + 3 + len + 4 <= 64,
        };
        match is_embedded {
            true => self.taken(both),
            false => self.taken(alone) + self.taken(header(len) + len + 1),
        }
    }

    /// The table of so many elements, without them.
    fn table(&self, elements: u64) -> f64 {
        if !self.server.has_buckets() {
            return (DICT + 8 * elements.max(4).next_power_of_two()) as f64;
        }
        // Buckets hold seven; one that is full has another below it.
        let buckets = (5 * elements).div_ceil(32).max(1).next_power_of_two() as f64;
        let mean = elements as f64 / buckets;
        let (mut term, mut up_to_seven) = ((-mean).exp(), 0.0);
        for count in 1..=8 {
            up_to_seven += term;
            term *= mean / f64::from(count);
        }
        80.0 + 64.0 * buckets * (2.0 - up_to_seven)
    }

    /// What a dictionary adds for each element.
    fn entry(&mut self) {
        if !self.server.has_buckets() {
            self.parts += ENTRY as f64;
        }
    }

    /// The mean of a node of a skip list: each level is there in one of four nodes that have the one below.
    fn mean_node(&self, bytes: u64) -> f64 {
        let levels = (1..=MAX_LEVEL).scan(0.75, |share, level| {
            let this = *share;
            *share /= 4.0;
            Some(this * self.taken(bytes + LEVEL * level) as f64)
        });
        levels.take(16).sum()
    }

    fn string(&mut self, len: u64) {
        self.add(header(len) + len + 1);
    }

    fn add(&mut self, request: u64) {
        self.parts += self.taken(request) as f64;
    }

    fn taken(&self, request: u64) -> u64 {
        self.allocator.taken(request)
    }
}

/// Bytes in front of a string, which say how long it is.
fn header(len: u64) -> u64 {
    match len {
        ..32 => 1,
        32..256 => 3,
        256..65_536 => 5,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(server: Server) -> Footprint {
        Footprint::new(server, Allocator::Jemalloc)
    }

    /// A string of `len` bytes at a key of three.
    fn text(server: Server, len: u64, expires: bool) -> u64 {
        let mut memory = memory(server);
        memory.text(len, false);
        memory.total(3, expires, 1).unwrap()
    }

    #[test]
    fn a_string_is_embedded_where_the_server_does_that() {
        for (server, [short, medium, long]) in [
            // The documented example, foo and bar, is 56 bytes.
            (Server::Redis74, [56, 80, 144]),
            (Server::Redis7, [72, 96, 160]),
            (Server::Valkey80, [48, 72, 136]),
            (Server::Redis82, [32, 56, 120]),
            (Server::Valkey81, [32, 56, 120]),
            (Server::Valkey91, [24, 48, 112]),
        ] {
            let found = [3, 28, 80].map(|len| text(server, len, false));
            assert_eq!(found, [short, medium, long], "{server:?}");
        }
        assert_eq!(text(Server::Valkey91, 3, true), 32);
        assert_eq!(
            text(Server::Redis74, 3, true),
            text(Server::Redis74, 3, false)
        );
    }

    #[test]
    fn a_table_has_buckets_in_valkey_and_entries_in_redis() {
        let set = |server, members: u64| {
            let mut memory = memory(server);
            (0..members).for_each(|_| memory.member(6));
            memory.total(3, false, members).unwrap()
        };
        // An object, 16, the dictionary with 8 places, 56 + 64, five entries and members of 8 bytes.
        assert_eq!(
            set(Server::Redis74, 5),
            8 + 24 + 16 + 56 + 64 + 5 * (24 + 8)
        );
        // One bucket holds five.
        let key = Allocator::Jemalloc.taken(16 + 1 + 5);
        assert_eq!(set(Server::Valkey91, 5).abs_diff(key + 80 + 64 + 5 * 8), 9);
        assert!(set(Server::Valkey91, 1000) < set(Server::Redis74, 1000));
    }

    #[test]
    fn what_only_a_module_knows_has_no_size_and_no_length_overflows() {
        assert_eq!(memory(Server::Redis82).total(3, false, 0), None);
        let mut huge = memory(Server::Valkey91);
        for _ in 0..1000 {
            huge.member(u64::MAX);
            huge.field(u64::MAX, u64::MAX, true);
            huge.scored(u64::MAX);
        }
        huge.text(u64::MAX, false);
        assert!(huge.total(64 << 20, true, 1).unwrap() > MAX_LEN);
    }
}
