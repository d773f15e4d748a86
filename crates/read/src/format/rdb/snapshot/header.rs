//! The header of an RDB file: magic and version, and what precedes them in a captured replication stream.

use crate::format::rdb::snapshot::kind::Space;

/// The prefix of a captured snapshot whose end is marked.
const MARKED: &[u8] = b"EOF:";

/// The length of a mark.
pub(super) const MARK: usize = 40;

/// An upper bound on the header, including the line end per second that a server sends until it is ready.
pub(super) const LONGEST: usize = 4096;

/// The start of an RDB file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub wrapper: usize,
    /// The type numbering it uses.
    pub space: Space,
    pub version: u32,
}

impl Header {
    /// The header that `head` starts with.
    pub(super) fn of(head: &[u8]) -> Option<Header> {
        let wrapper = wrapper(head)?;
        let magic = &head[wrapper..];
        let number = |magic: &[u8], rest: &[u8]| {
            let digits = rest.strip_prefix(magic)?.get(..9 - magic.len())?;
            let is_number = digits.iter().all(u8::is_ascii_digit);
            std::str::from_utf8(digits)
                .ok()
                .filter(|_| is_number)?
                .parse()
                .ok()
        };
        let server = [(Space::Redis, &b"REDIS"[..]), (Space::Valkey, b"VALKEY")]
            .into_iter()
            .find_map(|(space, name)| Some((space, number(name, magic)?)));
        server.map(|(space, version)| Header {
            wrapper,
            space,
            version,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.wrapper + 9
    }

    /// Whether the file ends with a checksum.
    pub(super) fn has_checksum(&self) -> bool {
        self.version >= 5
    }
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.space {
            Space::Redis | Space::Dragonfly => write!(f, "REDIS{:04}", self.version),
            Space::Valkey => write!(f, "VALKEY{:03}", self.version),
        }
    }
}

/// Whether an RDB file starts here: header, then an opcode.
pub(crate) fn is_snapshot(head: &[u8]) -> bool {
    let opcode = Header::of(head).and_then(|header| head.get(header.bytes()));
    opcode.is_some_and(|opcode| *opcode >= 0xF0)
}

/// Bytes before the magic: `$LENGTH` or `$EOF:` with a mark, each with a line end, after any earlier server replies.
fn wrapper(head: &[u8]) -> Option<usize> {
    let replies = said(head);
    let Some(rest) = head[replies..].strip_prefix(b"$") else {
        return (replies == 0).then_some(0);
    };
    let len = rest.iter().take(LONGEST).position(|byte| *byte == b'\r')?;
    let (label, behind) = rest.split_at(len);
    let is_length = label.iter().all(u8::is_ascii_digit) && len > 0;
    let is_marked = label.starts_with(MARKED) && len == MARKED.len() + MARK;
    (behind.starts_with(b"\r\n") && (is_length || is_marked)).then_some(replies + 1 + len + 2)
}

/// Bytes of replies and line ends that a server sends before a snapshot.
fn said(head: &[u8]) -> usize {
    let line_at = |at: usize| match head.get(at) {
        Some(b'\n') => Some(at + 1),
        Some(b'+') => Some(at + 1 + head[at..].iter().position(|byte| *byte == b'\n')?),
        _ => None,
    };
    std::iter::successors(Some(0), |at| line_at(*at))
        .last()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_magic_of_nine_bytes_bare_or_captured() {
        let mark = [&b"$EOF:"[..], &[b'a'; MARK], b"\r\nREDIS0012\xFA"].concat();
        let said = [&b"+OK\r\n+FULLRESYNC aa 1\r\n\n\n\n"[..], &mark].concat();
        for (head, wrapper, space, version) in [
            (&b"REDIS0011\xFA"[..], 0, Space::Redis, 11),
            (b"VALKEY080\xFE", 0, Space::Valkey, 80),
            (b"$1234\r\nREDIS0003\xFF", 7, Space::Redis, 3),
            (&mark, 47, Space::Redis, 12),
            (&said, 26 + 47, Space::Redis, 12),
        ] {
            let wanted = Header {
                wrapper,
                space,
                version,
            };
            assert_eq!(Header::of(head), Some(wanted));
            assert!(is_snapshot(head) && !is_snapshot(&head[..head.len() - 1]));
        }
        for head in [
            &b""[..],
            b"$",
            b"REDIS",
            b"REDIS 011",
            b"REDIS001x\xFA",
            b"VALKEY08\xFA",
            b"redis0011\xFA",
            b"$\r\nREDIS0011",
            b"$x\r\nREDIS0011",
            b"$5\rREDIS0011",
            b"$EOF:aa\r\nREDIS0011",
            b"\nREDIS0011\xFA",
            b"+OK\r\nREDIS0011\xFA",
            b"+",
        ] {
            assert_eq!(Header::of(head), None, "{}", head.escape_ascii());
        }
        assert!(!is_snapshot(b"REDIS0011:keys"));
    }
}
