//! The first bytes of an RDB file: the magic and the version, and what a captured replication stream has before them.

use crate::format::rdb::snapshot::kind::Space;

/// What precedes the snapshot in a capture whose end is marked by these bytes.
const MARKED: &[u8] = b"$EOF:";

/// Bytes of such a mark.
pub const MARK: usize = 40;

/// Bytes that hold any header.
pub const LONGEST: usize = 64;

/// How an RDB file starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes before the magic.
    pub wrapper: usize,
    /// Who numbers its types.
    pub space: Space,
    /// Its version.
    pub version: u32,
}

impl Header {
    /// The header that `head` starts with.
    pub fn of(head: &[u8]) -> Option<Header> {
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
        let found = [(Space::Redis, &b"REDIS"[..]), (Space::Valkey, b"VALKEY")]
            .into_iter()
            .find_map(|(space, name)| Some((space, number(name, magic)?)));
        found.map(|(space, version)| Header {
            wrapper,
            space,
            version,
        })
    }

    /// Bytes up to the first opcode.
    pub fn bytes(&self) -> usize {
        self.wrapper + 9
    }

    /// Whether the file ends with a checksum.
    pub fn has_checksum(&self) -> bool {
        self.version >= 5
    }
}

impl std::fmt::Display for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.space {
            Space::Redis => write!(f, "REDIS{:04}", self.version),
            Space::Valkey => write!(f, "VALKEY{:03}", self.version),
        }
    }
}

/// Whether an RDB file starts here: its header, then an opcode.
pub fn is_snapshot(head: &[u8]) -> bool {
    let opcode = Header::of(head).and_then(|header| head.get(header.bytes()));
    opcode.is_some_and(|opcode| *opcode >= 0xF0)
}

/// Bytes before the magic: `$LENGTH` or `$EOF:` with a mark, each with a line end.
fn wrapper(head: &[u8]) -> Option<usize> {
    let Some(rest) = head.strip_prefix(b"$") else {
        return Some(0);
    };
    let line = 1 + rest.iter().take(LONGEST).position(|byte| *byte == b'\r')?;
    let is_length = head[1..line].iter().all(u8::is_ascii_digit) && line > 1;
    let is_marked = head.starts_with(MARKED) && line == MARKED.len() + MARK;
    (head[line..].starts_with(b"\r\n") && (is_length || is_marked)).then_some(line + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_a_magic_of_nine_bytes_bare_or_captured() {
        let mark = [&b"$EOF:"[..], &[b'a'; MARK], b"\r\nREDIS0012\xFA"].concat();
        for (head, wrapper, space, version) in [
            (&b"REDIS0011\xFA"[..], 0, Space::Redis, 11),
            (b"VALKEY080\xFE", 0, Space::Valkey, 80),
            (b"$1234\r\nREDIS0003\xFF", 7, Space::Redis, 3),
            (&mark, 47, Space::Redis, 12),
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
        ] {
            assert_eq!(Header::of(head), None, "{}", head.escape_ascii());
        }
        assert!(!is_snapshot(b"REDIS0011:keys"));
    }
}
