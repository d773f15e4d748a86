//! Estimates the MEMORY USAGE of a key from the lengths of its strings: the same blocks, rounded to allocator size
//! classes. Random skip list levels and bucket collisions enter by their mean.

mod array;
mod expiries;
mod streams;
mod vectors;

pub(super) use array::Array;
pub(super) use vectors::Vectors;

use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::server::Server;

/// Bytes of an object header, which points to a value.
const OBJECT: u64 = 16;

/// Bytes of its value pointer, which Valkey reuses for a value embedded in the object.
const POINTER: u64 = 8;

/// Bytes of a dict entry, and of what per-slot key lists add to it.
const ENTRY: u64 = 24;
const SLOT_LIST: u64 = 16;

/// Bytes of a dict, of a quicklist, and of a quicklist node.
const DICT: u64 = 56;
const QUICKLIST: u64 = 40;
/// Bytes that a list and a skip list add if they track their size.
const BYTES: u64 = 8;
const NODE: u64 = 40;

/// Bytes of a sorted set, of its skip list, of a skip list node without levels, and of a level.
const SORTED: u64 = 16;
const SKIPLIST: u64 = 32;
const SKIP_NODE: u64 = 24;
const LEVEL: u64 = 16;
const MAX_LEVEL: u64 = 32;

/// Bytes of a sorted set of Valkey 9.1, with its skip list and the list's header node.
const SORTED_91: u64 = 544;

/// Bytes before a field with a TTL, in Redis.
const FIELD_EXPIRY: u64 = 18;

/// Bytes of the expiry of a field that shares a block with its value, and the maximum size of such a block.
const ENTRY_EXPIRY: u64 = 16;
const ENTRY_MOST: u64 = 128;

/// Bytes by which a Valkey 9.1 hash references its fields with TTL.
const EXPIRY: f64 = 8.0;

/// A compressed string may claim any length; sums of lengths up to this one do not overflow.
const MAX_LEN: u64 = 1 << 48;

/// Accumulates the memory of one value, and finally of its key.
#[derive(Debug, Clone)]
pub(super) struct Footprint {
    server: Server,
    allocator: Allocator,
    parts: f64,
    body: Body,
    /// The number of fields with a TTL, and their first and last expiry.
    expiring: (u64, u64, u64),
}

/// No field has a TTL.
const NONE_EXPIRES: (u64, u64, u64) = (0, u64::MAX, 0);

/// The top-level structure of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Body {
    /// Not known yet.
    Unknown,
    /// A string of this many bytes; `None` for an integer.
    Text(Option<u64>),
    /// One block, or nodes of blocks.
    Blocks,
    /// A table.
    Table,
    /// A table of fields, some of which may have a TTL.
    Fields,
    /// A table and a skip list.
    Sorted,
    /// A value of a module.
    Module,
}

impl Footprint {
    /// For values in memory of `server` using `allocator`.
    pub(super) fn new(server: Server, allocator: Allocator) -> Self {
        Footprint {
            server,
            allocator,
            parts: 0.0,
            body: Body::Unknown,
            expiring: NONE_EXPIRES,
        }
    }

    /// Starts over.
    pub(super) fn clear(&mut self) {
        (self.parts, self.body, self.expiring) = (0.0, Body::Unknown, NONE_EXPIRES);
    }

    /// A string of this many bytes; `None` for an integer.
    pub(super) fn text(&mut self, len: Option<u64>) {
        self.body = Body::Text(len.map(|len| len.min(MAX_LEN)));
    }

    /// All elements in one block; with an expiry index next to it if fields have TTLs.
    pub(super) fn packed(&mut self, len: u64, fields_expire: bool) {
        let len = len.min(MAX_LEN);
        self.body = Body::Blocks;
        self.add_packed(len);
        if fields_expire {
            self.add(if self.server.is_redis_82() { 24 } else { 32 });
        }
    }

    /// A list.
    pub(super) fn list(&mut self) {
        self.body = Body::Blocks;
        self.parts += self.with_bytes(QUICKLIST) as f64;
    }

    /// A node of a list.
    pub(super) fn node(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.parts += NODE as f64;
        self.add_packed(len);
    }

    /// A member of a set.
    pub(super) fn member(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.body = Body::Table;
        self.entry();
        self.string(len);
    }

    /// A hash field with its value and optional expiry in milliseconds.
    pub(super) fn field(&mut self, field: u64, value: u64, expires: Option<u64>) {
        let (field, value) = (field.min(MAX_LEN), value.min(MAX_LEN));
        self.body = Body::Fields;
        self.entry();
        if let Some(at) = expires {
            let (count, first, last) = self.expiring;
            self.expiring = (count + 1, first.min(at), last.max(at));
        }
        if self.server.joins_fields() || self.server.has_buckets() {
            return self.joined(field, value, expires.is_some());
        }
        self.add(match (self.server, expires) {
            (_, Some(_)) => FIELD_EXPIRY + field_header(field) + field + 1,
            (Server::Redis7 | Server::Valkey80, None) => header(field) + field + 1,
            (_, None) => field_header(field) + field + 1,
        });
        self.string(value);
    }

    /// A field in one block with its value, or with a pointer to it.
    fn joined(&mut self, field: u64, value: u64, expires: bool) {
        let is_valkey = self.server.has_buckets();
        let time = match (expires, is_valkey) {
            (false, _) => 0,
            (true, true) => 8,
            (true, false) => ENTRY_EXPIRY,
        };
        // The shortest header has no bits for an expiry or a value pointer.
        let long = self.header(field).max(3) + field + 1;
        let name = if expires {
            long
        } else {
            self.header(field) + field + 1
        };
        let (block, is_joined) = match name + time + 3 + value + 1 {
            size @ ..=ENTRY_MOST => (size, true),
            _ => (POINTER + long + time, false),
        };
        // Redis counts the bytes it requests.
        if is_valkey {
            self.add(block);
        } else {
            self.parts += block as f64;
        }
        if !is_joined {
            self.string(value);
        }
    }

    /// A member of a sorted set.
    pub(super) fn scored(&mut self, len: u64) {
        let len = len.min(MAX_LEN);
        self.body = Body::Sorted;
        self.entry();
        self.parts += match self.server {
            Server::Valkey91 => self.mean_node(SKIP_NODE + 1 + header(len) + len + 1 - 8),
            server if server.joins_fields() => {
                self.mean_node(SKIP_NODE - 8 + self.header(len) + len + 1)
            }
            _ => {
                self.string(len);
                self.mean_node(SKIP_NODE - if self.server.is_redis_82() { 8 } else { 0 })
            }
        };
    }

    /// The total for a key of `key` bytes and this value with `elements`; `None` if only a module knows.
    pub(super) fn total(&self, key: u64, expires: bool, elements: u64) -> Option<u64> {
        let table = || self.table(elements);
        let skiplist = || self.taken(SKIP_NODE + LEVEL * MAX_LEVEL) as f64;
        let top = match (self.body, self.server) {
            (Body::Unknown, _) => return None,
            (Body::Text(..) | Body::Blocks | Body::Module, _) => 0.0,
            (Body::Table, _) => table(),
            (Body::Fields, Server::Valkey91) => table() + EXPIRY + self.expiries(),
            (Body::Fields, _) => table() + self.expiries(),
            (Body::Sorted, Server::Valkey91) => SORTED_91 as f64 + table(),
            (Body::Sorted, _) => (SORTED + self.with_bytes(SKIPLIST)) as f64 + table() + skiplist(),
        };
        let text = match self.body {
            Body::Text(len) => len,
            _ => None,
        };
        let object = match self.body {
            // The size of a module value itself is not included.
            Body::Module => self.taken(self.object_of(key, expires)),
            _ => self.object(key, expires, text),
        };
        Some(object + (top + self.parts).round() as u64)
    }

    /// The reply to OBJECT ENCODING for a string at a key of `key` bytes after loading; `None` for other values.
    pub(super) fn text_encoding(&self, key: u64, expires: bool) -> Option<&'static str> {
        match self.body {
            Body::Text(text) => Some(self.encoding_of(key, expires, text)),
            _ => None,
        }
    }

    /// The same, for a string of this many bytes, or an integer.
    #[inline]
    pub(super) fn encoding_of(&self, key: u64, expires: bool, text: Option<u64>) -> &'static str {
        match text {
            None => "int",
            Some(len) if self.embeds(key, expires, len) => "embstr",
            Some(_) => "raw",
        }
    }

    /// Whether a string of `len` bytes is embedded in its object, together with the key if the server does that.
    #[inline]
    pub(super) fn embeds(&self, key: u64, expires: bool, len: u64) -> bool {
        let size = |expires| self.object_of(key, expires) + 3 + len + 1;
        match self.server {
            // A key this large always has room for an expiry.
            Server::Valkey91 => size(expires && self.object_of(key, false) <= 128) - POINTER <= 128,
            // The expiry is added later and does not count.
            Server::Valkey81 => size(false) <= 64,
            // A long key header does not count.
            server if server.is_redis_82() => {
                let time = expires && !server.joins_fields();
                OBJECT + if time { 8 } else { 0 } + key + 3 + len + 4 <= 64
            }
            _ => len <= 44,
        }
    }

    /// Requested bytes for an object with an embedded key.
    fn object_of(&self, key: u64, expires: bool) -> u64 {
        // A long key always has room for an expiry.
        let has_time = expires || key >= 128;
        OBJECT + if has_time { 8 } else { 0 } + 1 + self.header(key) + key + 1
    }

    /// A key with its object, and the text in it, if any.
    #[inline]
    pub(super) fn object(&self, key: u64, expires: bool, text: Option<u64>) -> u64 {
        let name = header(key) + key + 1;
        let embedded = text.filter(|len| self.embeds(key, expires, *len));
        let string = |len: u64| self.string_of(len);
        if self.server.embeds_key() {
            let alone = self.object_of(key, expires);
            let first = match self.server {
                Server::Redis84 | Server::Redis810 => alone,
                _ => self.taken(alone),
            };
            return match (self.server, embedded) {
                // The pointer's place stays if the value needs less.
                (Server::Valkey91, Some(len)) => {
                    self.taken(alone.max(alone + 3 + len + 1 - POINTER))
                }
                (_, Some(len)) => self.taken(alone + 3 + len + 1),
                (_, None) => first + text.map_or(0, string),
            };
        }
        let entry = match self.server {
            Server::Valkey80 => self.taken(17 + name),
            Server::Redis7 => self.taken(name) + ENTRY + SLOT_LIST,
            _ => self.taken(name) + ENTRY,
        };
        entry
            + match embedded {
                Some(len) => self.taken(OBJECT + 3 + len + 1),
                None => OBJECT + text.map_or(0, string),
            }
    }

    /// A key whose elements are packed into one block of `len` bytes.
    pub(super) fn object_with_block(&self, key: u64, expires: bool, len: u64) -> u64 {
        self.object(key, expires, None) + self.block(len.min(MAX_LEN))
    }

    /// The table for this many elements, without them.
    fn table(&self, elements: u64) -> f64 {
        if !self.server.has_buckets() {
            return (DICT + 8 * elements.max(4).next_power_of_two()) as f64;
        }
        // Buckets hold seven; a full one chains another.
        let buckets = (5 * elements).div_ceil(32).max(1).next_power_of_two() as f64;
        let mean = elements as f64 / buckets;
        let (mut term, mut up_to_seven) = ((-mean).exp(), 0.0);
        for count in 1..=8 {
            up_to_seven += term;
            term *= mean / f64::from(count);
        }
        80.0 + 64.0 * buckets * (2.0 - up_to_seven)
    }

    /// Adds the dict overhead of an element.
    fn entry(&mut self) {
        if !self.server.has_buckets() {
            self.parts += ENTRY as f64;
        }
    }

    /// The mean size of a skip list node: each level exists in a quarter of the nodes that have the one below.
    fn mean_node(&self, bytes: u64) -> f64 {
        let levels = (1..=MAX_LEVEL).scan(0.75, |share, level| {
            let own_share = *share;
            *share /= 4.0;
            Some(own_share * self.taken(bytes + LEVEL * level) as f64)
        });
        levels.take(16).sum()
    }

    /// Bytes before a string that shares a block with others.
    fn header(&self, len: u64) -> u64 {
        // If the string nearly needs a longer header, Redis uses the longer one.
        match header(len) {
            short if self.server.joins_fields() && len >= 32 => header(len + short),
            bytes => bytes,
        }
    }

    fn string(&mut self, len: u64) {
        self.parts += self.string_of(len) as f64;
    }

    /// Bytes of a string. A short one does not store its block size, so the requested bytes count.
    fn string_of(&self, len: u64) -> u64 {
        match header(len) + len + 1 {
            size if self.server.adds_up() && (1..32).contains(&len) => size,
            size => self.taken(size),
        }
    }

    fn add_packed(&mut self, len: u64) {
        self.parts += self.block(len) as f64;
    }

    /// Elements in one block that stores its own length.
    fn block(&self, len: u64) -> u64 {
        if self.server.adds_up() {
            len
        } else {
            self.taken(len)
        }
    }

    /// The bytes of a top-level structure, including its size field if any, rounded by the allocator.
    fn with_bytes(&self, top: u64) -> u64 {
        if self.server.adds_up() {
            self.taken(top + BYTES)
        } else {
            top
        }
    }

    fn add(&mut self, request: u64) {
        self.parts += self.taken(request) as f64;
    }

    fn taken(&self, request: u64) -> u64 {
        self.allocator.taken(request)
    }
}

/// Like `header`, for a hash field in Redis 7.4 and later.
fn field_header(len: u64) -> u64 {
    match len {
        256..65_536 => 3,
        len => header(len),
    }
}

/// Bytes before a string that encode its length.
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

    /// A string of `len` bytes, at a key of three bytes.
    fn text(server: Server, len: u64, expires: bool) -> u64 {
        let mut memory = memory(server);
        memory.text(Some(len));
        memory.total(3, expires, 1).unwrap()
    }

    #[test]
    fn a_string_is_embedded_where_the_server_does_that() {
        for (server, [short, medium, long]) in [
            // The documented example, foo = bar, is 56 bytes.
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
        // An object, 16; a dict with 8 buckets, 56 + 64; five entries and members of 8 bytes.
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
            huge.field(u64::MAX, u64::MAX, Some(u64::MAX));
            huge.scored(u64::MAX);
        }
        huge.text(Some(u64::MAX));
        assert!(huge.total(64 << 20, true, 1).unwrap() > MAX_LEN);
    }
}
