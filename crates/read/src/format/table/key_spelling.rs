//! Keys of a CSV table escaped by redis-cli: `"\xd1\x82"`, pasted before a size, or the same text inside a field,
//! `"""\xd1\x82"""`.
//!
//! redis-cli quotes every key and writes only printable ASCII, while a CSV writer quotes only what it must, or column
//! names as well. The first rows thus show which of them wrote the keys, even if none has an escape.

use crate::format::Head;
use crate::format::parse::csv_row::{self, cut_row};
use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;
use crate::format::table::columns::KeyEscapes;
use crate::format::table::{Span, unmarked};
use crate::source::boundary::line_at;

/// Rows examined.
const ROWS: usize = 1000;

/// The columns printed by `slotscope dump`, whose keys are escaped like names in reports: a backslash is doubled.
pub const DUMP: [&str; 12] = [
    "key", "db", "type", "encoding", "elements", "bytes", "memory", "expiry", "lfu", "idle",
    "slot", "tag",
];

/// How the keys of a table are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySpelling {
    /// As in RFC 4180.
    Plain,
    /// With escapes, in quotes that a backslash can escape; one row per line.
    Escaped,
    /// An RFC 4180 field that contains the key with redis-cli's quotes and escapes.
    EscapedInField,
    /// An RFC 4180 field or JSON string that contains the key with escapes but without extra quotes.
    Name,
}

impl KeySpelling {
    /// The escaping in a table starting with `head`, with keys in column `key`.
    pub(crate) fn of(head: Head<'_>, delimiter: u8, key: usize, wanted: KeyEscapes) -> KeySpelling {
        let mut content = unmarked(head.bytes).to_vec();
        if !head.whole {
            // The last line continues beyond the head.
            content.truncate(memchr::memrchr(b'\n', &content).map_or(0, |end| end + 1));
        }
        let is_in_field = || all_in_fields(&content, delimiter, key);
        match wanted {
            KeyEscapes::None => KeySpelling::Plain,
            _ if line_at(&content, 0).0 == DUMP.join(",").as_bytes() => KeySpelling::Name,
            _ if is_in_field() => KeySpelling::EscapedInField,
            KeyEscapes::C => KeySpelling::Escaped,
            KeyEscapes::Auto if all_of_redis_cli(&content, delimiter, key) => KeySpelling::Escaped,
            KeyEscapes::Auto => KeySpelling::Plain,
        }
    }

    /// Decodes the escapes of a key; `None` if they are invalid.
    pub(crate) fn undo(self, content: &mut [u8], (from, to): Span) -> Option<Span> {
        let (from, to) = (from as usize, to as usize);
        let (from, to) = match self {
            KeySpelling::Plain => return Some((from as u32, to as u32)),
            KeySpelling::Escaped | KeySpelling::Name => (from, to),
            KeySpelling::EscapedInField => {
                escape::is_quoted(&content[from..to]).then_some((from + 1, to - 1))?
            }
        };
        let to = escape::undo(Escapes::C, content, from, to);
        Some((from as u32, to as u32))
    }
}

/// Splits the line at `at` into fields, where backslashes escape quotes, and returns the start of the next line;
/// without fields if text follows a closing quote or a quote is unclosed.
pub(crate) fn cut_line(
    content: &[u8],
    start: usize,
    delimiter: u8,
    fields: &mut Vec<Span>,
) -> (usize, Option<()>) {
    fields.clear();
    let (line, next) = line_at(content, start);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut at = 0;
    while !line.is_empty() {
        let (field, end) = if line.get(at) == Some(&b'"') {
            let Some(end) = escape::close(line, at + 1) else {
                return (next, None);
            };
            ((at + 1, end), end + 1)
        } else {
            let rest = &line[at..];
            let end = memchr::memchr(delimiter, rest).map_or(line.len(), |len| at + len);
            ((at, end), end)
        };
        let field = ((start + field.0) as u32, (start + field.1) as u32);
        csv_row::push(fields, field);
        match line.get(end) {
            None => break,
            Some(byte) if *byte == delimiter => at = end + 1,
            Some(_) => return (next, None),
        }
    }
    (next, Some(()))
}

/// Whether there is a row below the header, and in every row the field of the key contains text quoted by redis-cli.
fn all_in_fields(content: &[u8], delimiter: u8, key: usize) -> bool {
    let (mut content, mut fields) = (content.to_vec(), Vec::new());
    let mut at = cut_row(&mut content, 0, delimiter, &mut fields);
    let mut rows = 0;
    while at < content.len() && rows < ROWS {
        at = cut_row(&mut content, at, delimiter, &mut fields);
        let Some((from, to)) = fields.get(key) else {
            continue;
        };
        if !escape::is_quoted(&content[*from as usize..*to as usize]) {
            return false;
        }
        rows += 1;
    }
    rows > 0
}

/// Whether there is a row below an unquoted header, every key is quoted as redis-cli does, and at least one of them
/// needlessly so by CSV rules.
fn all_of_redis_cli(content: &[u8], delimiter: u8, key: usize) -> bool {
    let (header, mut at) = line_at(content, 0);
    let (mut rows, mut fields, mut needless) = (0, Vec::new(), false);
    while at < content.len() && rows < ROWS {
        let (next, is_row) = cut_line(content, at, delimiter, &mut fields);
        at = next;
        let field = fields
            .get(key)
            .map(|(from, to)| (*from as usize, *to as usize));
        match field.filter(|_| is_row.is_some()) {
            None if fields.is_empty() && is_row.is_some() => continue,
            Some((from, to)) if content[..from].ends_with(b"\"") => {
                let text = &content[from..to];
                if !is_of_redis_cli(text) {
                    return false;
                }
                needless |= !text.iter().any(|byte| *byte == delimiter || *byte == b'"');
            }
            _ => return false,
        }
        rows += 1;
    }
    needless && memchr::memchr(b'"', header).is_none()
}

/// Whether redis-cli could have written this between quotes: printable ASCII, and only its own escapes.
fn is_of_redis_cli(text: &[u8]) -> bool {
    let mut rest = text;
    let is_printable = text.iter().all(|byte| (b' '..=b'~').contains(byte));
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let len = match &rest[at + 1..] {
            [b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => 4,
            [b'\\' | b'"' | b'n' | b'r' | b't' | b'a' | b'b', ..] => 2,
            _ => return false,
        };
        rest = &rest[at + len..];
    }
    is_printable
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelling(content: &str, wanted: KeyEscapes) -> KeySpelling {
        let bytes = content.as_bytes();
        KeySpelling::of(Head { bytes, whole: true }, b',', 0, wanted)
    }

    #[test]
    fn what_redis_cli_wrote_is_not_taken_for_what_a_writer_of_csv_quotes() {
        use KeySpelling::{Escaped, EscapedInField, Plain};
        for (table, expected) in [
            ("key,size\n\"a\",1\n\"\\xd1\\x82\",2\n", Escaped),
            ("key,size\n\"a\",1\n\n\"q\\\"q,\\\\\",2\r\n", Escaped),
            (
                "key,size\n\"\"\"a\"\"\",1\n\"\"\"\\xd1\"\"\",2\n",
                EscapedInField,
            ),
            ("key,size\na,1\n\"\\xd1\",2\n", Plain),
            ("key,size\n\"a,b\",1\n\"c,d\",1\n", Plain),
            ("\"key\",\"size\"\n\"a\",1\n", Plain),
            ("key,size\n\"\u{442}\",1\n\"a\",2\n", Plain),
            ("key,size\n\"a\\q\",1\n\"b\",2\n", Plain),
            ("key,size\n\"a\"\"b\",1\n\"c\",2\n", Plain),
            ("key,size\n\"a\",1\nb,2\n", Plain),
            ("key,size\n", Plain),
        ] {
            assert_eq!(spelling(table, KeyEscapes::Auto), expected, "{table}");
            assert_eq!(spelling(table, KeyEscapes::None), Plain);
            assert_ne!(spelling(table, KeyEscapes::C), Plain);
        }
    }

    #[test]
    fn a_line_that_the_head_cuts_off_is_not_looked_at() {
        let bytes = b"key,size\n\"a\",1\n\"b";
        let of = |whole| KeySpelling::of(Head { bytes, whole }, b',', 0, KeyEscapes::Auto);
        assert_eq!(
            (of(false), of(true)),
            (KeySpelling::Escaped, KeySpelling::Plain)
        );
    }
}
