//! `redis-cli --cluster info` and `check`: the key count each primary reports, to compare with a dump.
//!
//! ```text
//! 127.0.0.1:7901 (98e3a8e4...) -> 7 keys | 5461 slots | 0 replicas.
//! ```
//! Colours are stripped and other lines ignored, but a file without any such line is refused.

use std::path::Path;

use slotscope_base::ansi;
use slotscope_base::error::{Error, Result};
use slotscope_base::small_file;

/// Listings are far smaller; anything near this is another kind of file.
const MAX_BYTES: u64 = 16 << 20;

const NO_NODE: &str = "no line of a node; make one with: redis-cli --cluster info HOST:PORT > FILE";

/// A primary's own counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeKeys {
    /// Its address as printed by redis-cli.
    pub address: String,
    /// The start of its id.
    pub id_start: String,
    /// Its keys, in all databases.
    pub keys: u64,
    /// Its slots.
    pub slots: u32,
}

impl NodeKeys {
    /// Whether a node of a topology is this one, by id, or by address for listings without ids.
    pub fn is(&self, id: &[u8], address: Option<&[u8]>) -> bool {
        let by_id = !self.id_start.is_empty() && id.starts_with(self.id_start.as_bytes());
        by_id || address == Some(self.address.as_bytes())
    }
}

/// Reads a file with the output of `redis-cli --cluster info`.
///
/// # Errors
/// The file cannot be read, or no line has counts.
pub fn read(path: &Path) -> Result<Vec<NodeKeys>> {
    let bytes = small_file::read(path, MAX_BYTES, NO_NODE)?;
    let nodes = parse(&String::from_utf8_lossy(&bytes));
    if !nodes.is_empty() {
        Ok(nodes)
    } else {
        Err(Error::bad_file(path, NO_NODE))
    }
}

pub(crate) fn parse(text: &str) -> Vec<NodeKeys> {
    text.lines()
        .filter_map(|line| node(&ansi::stripped(line)))
        .collect()
}

fn node(line: &str) -> Option<NodeKeys> {
    let (name, counts) = line.trim().split_once(" -> ")?;
    let (address, id) = name.split_once(" (")?;
    let mut counts = counts.split(" | ").map(|count| count.split_once(' '));
    let (keys, "keys") = counts.next()?? else {
        return None;
    };
    let (slots, "slots") = counts.next()?? else {
        return None;
    };
    Some(NodeKeys {
        address: address.to_string(),
        id_start: id.trim_end_matches(')').trim_end_matches('.').to_string(),
        keys: keys.parse().ok()?,
        slots: slots.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_read_through_colours_and_other_lines() {
        let text = "\x1b[0;32m[OK] 7 keys in 3 primaries.\x1b[0m\n\
            127.0.0.1:7901 (98e3a8e4...) -> 7 keys | 5461 slots | 0 replicas.\n\
            \x1b[29;1m::1:7902 (706e29b1...) -> 0 keys | 5462 slots | 1 slaves.\x1b[0m\r\n0.00 keys per slot on average.\n";
        let nodes = parse(text);
        assert_eq!(nodes.len(), 2);
        assert_eq!(
            (nodes[0].address.as_str(), nodes[0].keys, nodes[0].slots),
            ("127.0.0.1:7901", 7, 5461)
        );
        assert!(nodes[1].is(b"706e29b1c7ae", None) && nodes[1].is(b"x", Some(b"::1:7902")));
        assert!(!nodes[1].is(b"98e3a8e4", Some(b"127.0.0.1:7901")));
    }

    #[test]
    fn another_file_is_refused_with_a_way_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "a\nb -> c\n").unwrap();
        assert!(
            read(file.path())
                .unwrap_err()
                .to_string()
                .contains("redis-cli --cluster info")
        );
    }
}
