//! `cluster-call`: raw keys of several nodes, as printed by `redis-cli --cluster call HOST:PORT KEYS '*'`: the first
//! line of each node has `ip:port: ` before the key. The node of a block's first keys is named in an earlier block, so
//! all blocks are searched for nodes before they are read.
//!
//! A node without a key on its line has either no keys or the empty key first; the next line decides. A line end after
//! an error belongs to the error. Empty keys are therefore recognised from pairs of neighbouring lines; `Borders`
//! handles pairs across blocks.

use std::ops::Range;

use crate::format::batch::Spans;
use crate::format::frame::batch_rows::{BatchBuilder, each_line_before};
use crate::format::frame::block_joins::Borders;
use crate::format::redis_cli::errors;
use crate::format::redis_cli::named_nodes::NamedNodes;
use crate::format::redis_cli::noise;
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader, Sink};
use crate::source::block::{Block, Piece};
use crate::source::boundary::line_at;

/// The limitations of this format, for a report's notes; redis-cli 7.0.15 stops at a NUL.
const NOTE: &str = "a raw key list of redis-cli --cluster call: a key with a line end is split, a NUL in a key cuts off \
    all that its node lists behind it, and replicas list their keys once more unless --cluster-only-masters is given; \
    redis-cli --no-raw --scan of every primary loses nothing";

/// The format.
pub(crate) struct ClusterCall;

impl Format for ClusterCall {
    fn name(&self) -> &'static str {
        "cluster-call"
    }

    fn example(&self) -> &'static str {
        "127.0.0.1:7000: user:{1000}:profile"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let mut lines = head.bytes.split(|byte| *byte == b'\n');
        let first = lines
            .by_ref()
            .map(noise::bare)
            .find(|line| !is_script(line));
        match first {
            _ if !head.whole && head.bytes.len() < 2 * ADDRESS => Detected::NeedMore,
            // The first two words are in bold, even in a pipe.
            Some(line)
                if line.starts_with(CALLING)
                    && lines.next().is_some_and(|line| node(line, None).is_some()) =>
            {
                Detected::Yes
            }
            Some(line) if node(line, None).is_some_and(|node| is_ip(host(&line[node]).0)) => {
                Detected::Yes
            }
            _ => Detected::No,
        }
    }

    fn note(&self) -> Option<&'static str> {
        Some(NOTE)
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let lines = || head.bytes.split(|byte| *byte == b'\n');
        let mut first =
            lines().filter(|line| !is_script(line) && !noise::bare(line).starts_with(CALLING));
        let asked = first
            .next()
            .and_then(|line| node(line, None).map(|node| line[node].to_vec()))
            .unwrap_or_default();
        let crlf = lines()
            .find(|line| !is_script(line))
            .is_some_and(|line| line.ends_with(b"\r"));
        let calls = Calls {
            asked,
            crlf,
            nodes: NamedNodes::default(),
            borders: Borders::default(),
        };
        Ok(Opened::lines(self.name(), calls))
    }
}

/// The longest address with its separator: a host name, a colon, a port, a colon and a blank.
const ADDRESS: usize = 253 + 8;

const CALLING: &[u8] = b">>> Calling";

/// Whether `script` writes such a line before and after a recording.
fn is_script(line: &[u8]) -> bool {
    line.starts_with(b"Script started on 20") || line.starts_with(b"Script done on 20")
}

/// The position of a node's address in `line`, if the line starts with `address: `. A host name could also be the start
/// of a key: one without a dot counts only if it, or its port, is that of `asked`, the node queried first.
fn node(line: &[u8], asked: Option<&[u8]>) -> Option<Range<usize>> {
    let end = memchr::memmem::find(&line[..line.len().min(ADDRESS)], b": ")?;
    let (name, port) = host(&line[..end]);
    let is_port = (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    let is_name = !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b".:-_[]%".contains(byte));
    let is_known = || match asked.map(host) {
        None => true,
        Some(asked) => is_ip(name) || name.contains(&b'.') || asked.0 == name || asked.1 == port,
    };
    (is_port && is_name && is_known()).then_some(0..end)
}

/// Splits an address into host and port, at the last colon because of IPv6.
fn host(address: &[u8]) -> (&[u8], &[u8]) {
    memchr::memrchr(b':', address).map_or((address, b""), |at| (&address[..at], &address[at + 1..]))
}

fn is_ip(host: &[u8]) -> bool {
    let host = host
        .strip_prefix(b"[")
        .and_then(|host| host.strip_suffix(b"]"))
        .unwrap_or(host);
    std::str::from_utf8(host).is_ok_and(|host| host.parse::<std::net::IpAddr>().is_ok())
}

/// Whether a node replied with an error.
fn is_error(reply: &[u8]) -> bool {
    reply == b"Failed!" || errors::is_failure(reply)
}

/// The kind of a line that its neighbours depend on.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// A node without a key.
    Node,
    /// A node with an error.
    Error,
    /// An empty line.
    Blank,
    /// A key.
    Key,
    /// A node with its first key.
    NodeAndKey,
}

/// Whether two neighbouring lines contain an empty key: on the node's line, and on a blank line.
fn empty_keys(before: Line, line: Line) -> (bool, bool) {
    let of_node = before == Line::Node && matches!(line, Line::Blank | Line::Key);
    (of_node, line == Line::Blank && before != Line::Error)
}

/// The reader.
struct Calls {
    /// The address of the first node, the one named by the user; empty if the first line names none.
    asked: Vec<u8>,
    crlf: bool,
    nodes: NamedNodes,
    /// The lines at block borders, with their nodes.
    borders: Borders<(Line, Option<u32>)>,
}

impl Reader for Calls {
    fn learns(&self) -> bool {
        true
    }

    fn learn(&self, block: &Block, piece: Piece) {
        let owned = &block.content()[piece.from as usize..];
        let mut end = owned.len();
        while let Some(at) = memchr::memmem::rfind(&owned[..end], b": ") {
            let start = memchr::memrchr(b'\n', &owned[..at]).map_or(0, |end| end + 1);
            if let Some(node) = node(line_at(owned, start).0, Some(&self.asked)) {
                let offset = piece.offset + u64::from(piece.from) + start as u64;
                return self.nodes.note(offset, &owned[start..][node]);
            }
            end = start;
        }
    }

    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        let owned = piece.offset + u64::from(piece.from)..piece.offset + block.len() as u64;
        let mut keys = Keys {
            gather: BatchBuilder::new(columns, sink),
            node: (0, 0),
        };
        let end = block.len();
        keys.node = append(block, &self.nodes.address(self.nodes.before(owned.start)));
        // The first line of an input has no predecessor, which is treated like an error: a line end is not a key there.
        let (mut first, mut last) = (None, piece.first.then_some(Line::Error));
        each_line_before(block, piece.from, end, |block, start, end| {
            let whole = &block.content()[start..end];
            let line = if self.crlf {
                whole.strip_suffix(b"\r").unwrap_or(whole)
            } else {
                whole
            };
            let node = node(line, Some(&self.asked));
            let reply = start + node.as_ref().map_or(0, |node| node.end + 2);
            let key = &line[reply - start..];
            let kind = match (&node, key) {
                (None, b"") if self.crlf && whole.is_empty() => {
                    return keys.gather.note(Notice::BlankLine);
                }
                (None, b"") => Line::Blank,
                (None, key) if is_script(key) => return keys.gather.note(Notice::Warning),
                (None, key) if noise::bare(key).starts_with(CALLING) => {
                    return keys.gather.note(Notice::Progress);
                }
                (None, _) => Line::Key,
                (Some(_), b"") => Line::Node,
                (Some(_), key) if is_error(key) => Line::Error,
                (Some(_), _) => Line::NodeAndKey,
            };
            let key_end = start + line.len();
            match last.replace(kind) {
                None => first = Some(kind),
                Some(before) => keys.meet(block, before, kind),
            }
            if let Some(node) = node {
                keys.node = ((start + node.start) as u32, (start + node.end) as u32);
                keys.gather.note(Notice::Node);
            }
            match kind {
                Line::Key | Line::NodeAndKey => keys.key(block, reply, key_end),
                Line::Error => keys.gather.failure(start),
                Line::Node | Line::Blank => {}
            }
        });
        let node = self.nodes.before(owned.end);
        let (first, last) = (
            first.map(|line| (line, None)),
            last.map(|line| (line, node)),
        );
        let mut pairs = Vec::new();
        let met = |before, line| pairs.push((before, line));
        self.borders.join(owned, first, last, met);
        for ((before, node), (line, _)) in pairs {
            keys.node = append(block, &self.nodes.address(node));
            keys.meet(block, before, line);
        }
        keys.gather.finish(block)
    }
}

/// Stores an address after the last line of a block; returns its position.
fn append(block: &mut Block, address: &[u8]) -> (u32, u32) {
    if address.is_empty() {
        return (0, 0);
    }
    let start = block.len() + 1;
    block.resize(start + address.len());
    let content = block.content_mut();
    content[start - 1] = b'\n';
    content[start..].copy_from_slice(address);
    (start as u32, content.len() as u32)
}

/// The keys found, each with its node.
struct Keys<'a, 'c> {
    gather: BatchBuilder<'a, 'c>,
    /// The position of the current node's address; empty if unknown.
    node: (u32, u32),
}

impl Keys<'_, '_> {
    fn key(&mut self, block: &Block, from: usize, to: usize) {
        let nodes: &mut Spans = &mut self.gather.values().nodes;
        nodes.push(self.node.0, self.node.1);
        self.gather.key(block, from, to);
    }

    /// Adds the empty keys between two lines.
    fn meet(&mut self, block: &Block, before: Line, line: Line) {
        let (of_node, of_line) = empty_keys(before, line);
        for _ in 0..u8::from(of_node) + u8::from(of_line) {
            self.gather.note(Notice::EmptyKey);
            self.key(block, 0, 0);
        }
        if line == Line::Blank && !of_line {
            self.gather.note(Notice::BlankLine);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{Found, read_whole};

    fn found(content: &str) -> Found {
        read_whole(&ClusterCall, content.as_bytes())
    }

    fn pairs(found: &Found) -> Vec<(&str, &str)> {
        let keys = found
            .keys
            .iter()
            .map(|key| std::str::from_utf8(key).unwrap());
        found
            .nodes
            .iter()
            .map(|node| std::str::from_utf8(node).unwrap())
            .zip(keys)
            .collect()
    }

    #[test]
    fn each_key_is_on_the_node_that_was_named_last() {
        let found = found(
            "\x1b[29;1m>>> Calling\x1b[0m KEYS *\nlocalhost:7000: a\n127.0.0.1:6379> \nuser:12: x\n127.0.0.1:7001: \n\
             ::1:7002: b: c\nredis-1:7000: d\nh.example.com:80: e\n",
        );
        let expected = [
            ("localhost:7000", "a"),
            ("localhost:7000", "127.0.0.1:6379> "),
            ("localhost:7000", "user:12: x"),
            ("::1:7002", "b: c"),
            ("redis-1:7000", "d"),
            ("h.example.com:80", "e"),
        ];
        assert_eq!(pairs(&found), expected);
        assert_eq!(
            (
                found.seen.count(Notice::Node),
                found.seen.count(Notice::Progress)
            ),
            (5, 1)
        );
    }

    #[test]
    fn the_empty_key_is_not_taken_for_an_empty_reply_and_from_the_end_of_an_error() {
        let (a, b) = ("1.1.1.1:1", "1.1.1.1:2");
        for (text, expected) in [
            ("1.1.1.1:1: \n1.1.1.1:2: \n", vec![]),
            ("1.1.1.1:1: \nx\n1.1.1.1:2: \n", vec![(a, ""), (a, "x")]),
            (
                "1.1.1.1:1: x\n\n1.1.1.1:2: y\n",
                vec![(a, "x"), (a, ""), (b, "y")],
            ),
            (
                "1.1.1.1:1: ERR unknown command\n\n1.1.1.1:2: NOAUTH x\n\n",
                vec![],
            ),
            ("1.1.1.1:1: Failed!\n1.1.1.1:2: y\n", vec![(b, "y")]),
        ] {
            assert_eq!(pairs(&found(text)), expected, "{text}");
        }
    }

    #[test]
    fn what_script_captured_has_two_line_ends() {
        let text = "Script started on 2026-11-21 04:16:25+00:00 [x]\n\x1b[29;1m>>> Calling\x1b[0m KEYS *\r\n\
                    1.1.1.1:1: a\r\n\r\nb\r\n\nScript done on 2026-11-21 04:16:25+00:00 [x]\n";
        assert_eq!(
            ClusterCall.detect(Head {
                bytes: text.as_bytes(),
                whole: true
            }),
            Detected::Yes
        );
        assert_eq!(found(text).keys, [&b"a"[..], b"", b"b"]);
    }

    #[test]
    fn only_what_starts_with_a_node_is_detected() {
        let detect = |text: &str| {
            ClusterCall.detect(Head {
                bytes: text.as_bytes(),
                whole: true,
            })
        };
        for yes in [
            "\x1b[29;1m>>> Calling\x1b[0m KEYS *\nh:1: a\n",
            "10.0.0.1:6379: a\n",
            "[::1]:1: \n",
        ] {
            assert_eq!(detect(yes), Detected::Yes, "{yes}");
        }
        for no in [
            "",
            "user:12: x\n",
            ">>> Calling\n",
            "127.0.0.1:6379> KEYS *\n1) \"a\"\n",
            "10.0.0.1:x: a\n",
        ] {
            assert_eq!(detect(no), Detected::No, "{no}");
        }
    }
}
