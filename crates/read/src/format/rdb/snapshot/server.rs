//! How versions of Redis and Valkey lay out keys and values in the memory that MEMORY USAGE counts.

use crate::format::Notice;
use crate::format::rdb::snapshot::header::Header;
use crate::format::rdb::snapshot::kind::Space;

/// Versions grouped by memory layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Server {
    /// Redis up to 7.2 in cluster mode, where each key is linked in a list of its slot.
    Redis7,
    /// Redis 7.4 and 8.0.
    Redis74,
    /// Redis 8.2: the key is embedded in the object.
    Redis82,
    /// Redis 8.4: sums up the bytes it requests.
    Redis84,
    /// Redis 8.6 and 8.8: hash fields share a block with their values, sorted set members are in their skip list nodes.
    Redis86,
    /// Redis from 8.10 on: radix trees have no node per id.
    Redis810,
    /// Valkey 8.0: the key is embedded in the dict entry.
    Valkey80,
    /// Valkey 8.1 and 9.0: the key is embedded in the object, and tables use buckets.
    Valkey81,
    /// Valkey from 9.1 on: more values are embedded as well, and sorted set members are in their skip list nodes.
    Valkey91,
}

impl Server {
    /// The server that wrote a file, from the version stated in the file.
    pub(super) fn of_version(is_valkey: bool, version: &[u8]) -> Option<Server> {
        let mut numbers = version.split(|byte| *byte == b'.');
        let mut number =
            || -> Option<u32> { std::str::from_utf8(numbers.next()?).ok()?.parse().ok() };
        let version = (number()?, number()?);
        let until: &[_] = if is_valkey {
            &[
                ((8, 0), Server::Redis7),
                ((8, 1), Server::Valkey80),
                ((9, 1), Server::Valkey81),
                ((u32::MAX, 0), Server::Valkey91),
            ]
        } else {
            &[
                ((7, 4), Server::Redis7),
                ((8, 2), Server::Redis74),
                ((8, 4), Server::Redis82),
                ((8, 6), Server::Redis84),
                ((8, 10), Server::Redis86),
                ((u32::MAX, 0), Server::Redis810),
            ]
        };
        let row = until.iter().find(|(end, _)| version < *end);
        row.map(|(_, server)| *server)
    }

    /// The server assumed for a file: the first version that writes `header`.
    pub(super) fn of_header(header: Header) -> Server {
        match (header.space, header.version) {
            (Space::Valkey, 80) => Server::Valkey81,
            (Space::Valkey, _) => Server::Valkey91,
            (Space::Redis, ..12) | (Space::Dragonfly, _) => Server::Redis7,
            (Space::Redis, 12) => Server::Redis74,
            (Space::Redis, ..15) => Server::Redis86,
            (Space::Redis, _) => Server::Redis810,
        }
    }

    /// The report's note on the accuracy of memory estimates.
    pub(super) fn estimate(self) -> Notice {
        match self {
            Server::Redis84 | Server::Redis86 | Server::Valkey80 | Server::Valkey81 => {
                Notice::Estimated
            }
            _ => Notice::Measured,
        }
    }

    /// Whether the key is embedded in the object.
    pub(super) fn embeds_key(self) -> bool {
        !matches!(self, Server::Redis7 | Server::Redis74 | Server::Valkey80)
    }

    /// Whether it is Redis 8.2 or later.
    pub(super) fn is_redis_82(self) -> bool {
        matches!(self, Server::Redis82) || self.adds_up()
    }

    /// Whether values track the bytes they requested.
    pub(super) fn adds_up(self) -> bool {
        matches!(self, Server::Redis84) || self.joins_fields()
    }

    /// Whether hash fields share a block with their values, and sorted set members are in their skip list nodes.
    pub(super) fn joins_fields(self) -> bool {
        matches!(self, Server::Redis86 | Server::Redis810)
    }

    /// Whether sets, hashes and sorted sets use bucket tables.
    pub(super) fn has_buckets(self) -> bool {
        self >= Server::Valkey81
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_of_the_server_that_wrote_it() {
        for (is_valkey, version, server) in [
            (false, "2.8.9", Server::Redis7),
            (false, "7.2.6", Server::Redis7),
            (false, "7.4.1", Server::Redis74),
            (false, "8.0.2", Server::Redis74),
            (false, "8.2.3", Server::Redis82),
            (false, "8.4.0", Server::Redis84),
            (false, "8.6.1", Server::Redis86),
            (false, "8.8.0", Server::Redis86),
            (false, "8.10.0", Server::Redis810),
            (false, "255.255.255", Server::Redis810),
            (true, "7.2.5", Server::Redis7),
            (true, "8.0.1", Server::Valkey80),
            (true, "9.0.0", Server::Valkey81),
            (true, "9.1.2", Server::Valkey91),
        ] {
            assert_eq!(
                Server::of_version(is_valkey, version.as_bytes()),
                Some(server)
            );
        }
        for odd in ["", "7", "7.x", "a.b.c"] {
            assert_eq!(Server::of_version(false, odd.as_bytes()), None);
        }
    }
}
