//! Plain rows: a key and a value of one string, entirely within the buffer. Most rows of most files are plain; they are
//! read without copying and without a check per byte.

use std::borrow::Cow;
use std::ops::Range;

use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::{Kind, Layout, Space, kind};
use crate::format::rdb::snapshot::lzf;
use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::packed;
use crate::format::rdb::snapshot::record::{Attributes, Record};
use crate::format::rdb::snapshot::text::Stored;
use crate::format::rdb::snapshot::value::is_number;
use crate::format::rdb::snapshot::walk::Walker;

const EXPIRE_MS: u8 = 252;
const FREQ: u8 = 249;

/// Whether rows of this type may be plain: a text, or one string that packs all elements. These numbers mean the same
/// in the files of all servers.
#[inline(always)]
fn is_plain(number: u8) -> bool {
    matches!(number, 0 | 9..=13 | 16 | 17 | 20)
}

/// A plain row, as offsets from its first byte.
pub(super) struct PlainRow {
    /// The number of its type.
    pub number: u8,
    /// The attributes before the key.
    pub attributes: Attributes,
    /// Where the key is.
    pub key: Range<usize>,
    pub content: Content,
    /// Bytes of the row.
    pub bytes: usize,
}

/// The value of a plain row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text of this many bytes; `None` for one that a server stores as an integer.
    Text(Option<u64>),
    /// Elements, packed into this many bytes.
    Packed(Elements, u64),
}

/// The parts of a plain row, as offsets from its first byte.
pub(super) struct Bounds {
    number: u8,
    attributes: Attributes,
    key: Range<usize>,
    stored: Stored,
    /// The bytes of the value, after its header.
    value: Range<usize>,
}

impl Bounds {
    /// The bounds of the row at the start of `bytes`; `None` if it is not plain, or incomplete.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Option<Bounds> {
        let mut at = 0;
        let mut attributes = Attributes::default();
        let number = loop {
            match *bytes.get(at)? {
                number if is_plain(number) => break number,
                EXPIRE_MS => {
                    let time = *bytes.get(at + 1..)?.first_chunk()?;
                    attributes.expires_ms = Some(i64::from_le_bytes(time));
                    at += 9;
                }
                FREQ => {
                    attributes.lfu = Some(*bytes.get(at + 1)?);
                    at += 2;
                }
                _ => return None,
            }
        };
        let (len, start) = length(bytes, at + 1)?;
        let key = start..start + len;
        let (stored, value) = value(bytes, key.end)?;
        (value.end <= bytes.len()).then_some(Bounds {
            number,
            attributes,
            key,
            stored,
            value,
        })
    }

    /// Bytes of the row.
    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        self.value.end
    }
}

impl PlainRow {
    /// The row at the start of `bytes`; `None` if it is not plain, or incomplete.
    #[inline(always)]
    pub(super) fn at_start_of(bytes: &[u8]) -> Option<PlainRow> {
        let bounds = Bounds::of(bytes)?;
        let value = &bytes[bounds.value.clone()];
        let content = match bounds.number {
            0 => Content::Text(match bounds.stored {
                Stored::Integer(_) => None,
                Stored::Bytes(_) if is_number(value) => None,
                stored => Some(stored.len()),
            }),
            number => packed(number, bounds.stored, value),
        };
        Some(PlainRow {
            number: bounds.number,
            attributes: bounds.attributes,
            key: bounds.key,
            content,
            bytes: bounds.value.end,
        })
    }

    /// Its type.
    pub(super) fn kind(&self) -> Kind {
        kind_of(self.number)
    }

    /// Its memory in a server, and its encoding there.
    #[inline(always)]
    pub(super) fn in_memory(&self, memory: &Footprint) -> (u64, &'static str) {
        let (key, expires) = (self.key.len() as u64, self.attributes.expires_ms.is_some());
        match self.content {
            Content::Text(text) => (
                memory.object(key, expires, text),
                memory.encoding_of(key, expires, text),
            ),
            Content::Packed(_, len) => (
                memory.object_with_block(key, expires, len),
                self.kind().encoding,
            ),
        }
    }

    /// The number of its elements.
    #[inline(always)]
    pub(super) fn elements(&self) -> Elements {
        match self.content {
            Content::Text(_) => Elements::Known(1),
            Content::Packed(elements, _) => elements,
        }
    }
}

fn kind_of(number: u8) -> Kind {
    kind(number, Space::Redis).expect("a plain row is of a known type")
}

/// Packed elements.
fn packed(number: u8, stored: Stored, value: &[u8]) -> Content {
    let Layout::Packed(packing, each) = kind_of(number).layout else {
        unreachable!("all types of plain rows but text are packed");
    };
    let entries = packed::elements(packing, stored, value);
    Content::Packed(entries.of(each), stored.len())
}

impl Walker {
    /// Whether the next row may be plain: the memory layout is known, and no attributes precede it.
    #[inline]
    pub(super) fn is_at_row(&self) -> bool {
        self.memory.is_some() && self.next.0.is_none() && !self.has_ended && self.remarks.is_empty()
    }

    /// Skips the next row if it is plain and no attributes precede it.
    #[inline]
    pub(super) fn plain_row(&mut self) -> Option<PlainRow> {
        if !self.is_at_row() {
            return None;
        }
        let row = PlainRow::at_start_of(self.input.ahead())?;
        self.input.pass(row.bytes);
        self.keys += 1;
        Some(row)
    }

    /// The record of the plain row skipped last.
    #[inline]
    pub(super) fn plain_record(&self, row: PlainRow) -> Record<'_> {
        let in_memory = self.memory.as_ref().map(|memory| row.in_memory(memory));
        let key = &self.input.behind(row.bytes)[row.key.clone()];
        Record {
            key,
            database: self.database,
            type_name: Cow::Borrowed(row.kind().name),
            encoding: in_memory.map_or("", |(_, encoding)| encoding),
            elements: row.elements(),
            memory: in_memory.map(|(memory, _)| memory),
            attributes: row.attributes,
            offset: self.offset() - row.bytes as u64,
            bytes: row.bytes as u64,
            has_expired: self.has_expired(row.attributes.expires_ms),
            is_imported: self.imported.has(key),
        }
    }
}

/// Whether a plain row may start with this byte.
pub(super) fn may_start_row(byte: u8) -> bool {
    is_plain(byte) || matches!(byte, EXPIRE_MS | FREQ)
}

/// The length at `at`, if it takes one or two bytes, and its end.
#[inline]
pub(super) fn length(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    match *bytes.get(at)? {
        first @ ..0x40 => Some((first.into(), at + 1)),
        first @ 0x40..0x80 => {
            let low = *bytes.get(at + 1)?;
            Some((usize::from(first & 0x3F) << 8 | usize::from(low), at + 2))
        }
        _ => None,
    }
}

/// How the string at `at` is stored, and where its bytes are.
#[inline]
fn value(bytes: &[u8], at: usize) -> Option<(Stored, Range<usize>)> {
    let number = |number: i32, len| Some((Stored::Integer(number), at + 1 + len..at + 1 + len));
    match *bytes.get(at)? {
        0xC0 => number(
            i8::from_le_bytes(*bytes.get(at + 1..)?.first_chunk()?).into(),
            1,
        ),
        0xC1 => number(
            i16::from_le_bytes(*bytes.get(at + 1..)?.first_chunk()?).into(),
            2,
        ),
        0xC2 => number(i32::from_le_bytes(*bytes.get(at + 1..)?.first_chunk()?), 4),
        0xC3 => {
            let (packed, at) = length(bytes, at + 1)?;
            let (len, at) = length(bytes, at)?;
            let is_possible = len <= packed * lzf::MOST as usize;
            let stored = Stored::Lzf(packed as u64, len as u64);
            is_possible.then_some((stored, at..at + packed))
        }
        _ => {
            let (len, start) = length(bytes, at)?;
            Some((Stored::Bytes(len as u64), start..start + len))
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::format::frame::walk::Damage;
    use crate::format::rdb::snapshot::allocator::Allocator;
    use crate::source::forward::Forward;
    use std::io::{self, Read};

    /// Types, and values of them; the last ones are damaged or have more entries than their head says.
    pub(in crate::format::rdb::snapshot) const PACKED: [(u8, &[u8]); 11] = [
        (16, b"\x0B\x0B\0\0\0\x02\0\x01\x01\x02\x01\xFF"),
        (17, b"\x0B\x0B\0\0\0\x02\0\x01\x01\x02\x01\xFF"),
        (20, b"\xC3\x0C\x0B\x0A\x0B\0\0\0\x02\0\x01\x01\x02\x01\xFF"),
        (11, b"\x0C\x02\0\0\0\x02\0\0\0\x01\0\x02\0"),
        (10, b"\x0E\x0E\0\0\0\x0A\0\0\0\x01\0\0\xF2\xFF\xFF"),
        (12, b"\x0F\x0F\0\0\0\x0C\0\0\0\x02\0\0\xF2\x02\xF2\xFF"),
        (13, b"\xC0\x07"),
        (9, b"\x05\x01\x01a\x01\0"),
        (9, b"\x07\xFE\x01a\x01\0b\xFF"),
        (16, b"\x0B\x0B\0\0\0\xFF\xFF\x01\x01\x02\x01\xFF"),
        (16, b"\x05\x01\x01\x01\x01\x01"),
    ];

    fn row(bytes: &[u8]) -> Option<(Attributes, &[u8], Option<u64>, usize)> {
        let row = PlainRow::at_start_of(bytes)?;
        let Content::Text(text) = row.content else {
            panic!("no text");
        };
        Some((row.attributes, &bytes[row.key], text, row.bytes))
    }

    #[test]
    fn a_plain_row_is_a_key_and_a_string_with_what_precedes_it() {
        let none = Attributes::default();
        let long = [&b"\x00\x03key\x40\x50"[..], &[b'x'; 80]].concat();
        for (bytes, value, len) in [
            (&b"\x00\x03key\x02ab..."[..], Some(2), 8),
            (b"\x00\x03key\x0212...", None, 8),
            (b"\x00\x03key\x0201...", Some(2), 8),
            (b"\x00\x03key\x00", Some(0), 6),
            (b"\x00\x03key\xC0\x7F", None, 7),
            (b"\x00\x03key\xC1\x00\x00", None, 8),
            (b"\x00\x03key\xC2\x00\x00\x00\x00", None, 10),
            (b"\x00\x03key\xC3\x04\x40\x64\x01ab\xE0", Some(100), 13),
            (&long, Some(80), 87),
        ] {
            assert_eq!(row(bytes), Some((none, &b"key"[..], value, len)));
            for end in 0..len {
                assert_eq!(row(&bytes[..end]), None, "{end} bytes of {bytes:?}");
            }
        }
        let attributes = Attributes {
            expires_ms: Some(258),
            lfu: Some(7),
            idle_secs: None,
        };
        let bytes = b"\xFC\x02\x01\0\0\0\0\0\0\xF9\x07\x00\x03key\x02ab";
        assert_eq!(row(bytes), Some((attributes, &b"key"[..], Some(2), 19)));
    }

    #[test]
    fn a_string_of_packed_elements_is_plain_too() {
        let row = |bytes| PlainRow::at_start_of(bytes).unwrap();
        let hash = row(b"\x10\x03key\x0B\x0B\0\0\0\x02\0\x01\x01\x02\x01\xFF...");
        assert_eq!(
            (hash.kind().name, hash.kind().encoding),
            ("hash", "listpack")
        );
        assert_eq!(hash.content, Content::Packed(Elements::Known(1), 11));
        assert_eq!(hash.bytes, 17);
        // As many entries as its head has no room for; none, and no end.
        let uncounted = row(b"\x14\x01k\x0B\x0B\0\0\0\xFF\xFF\x01\x01\x02\x01\xFF");
        assert_eq!(uncounted.elements(), Elements::Known(2));
        let endless = row(b"\x14\x01k\x0A\x0A\0\0\0\xFF\xFF\x01\x01\x02\x01");
        assert_eq!(endless.elements(), Elements::Damaged);
    }

    #[test]
    fn all_else_is_not_plain() {
        for bytes in [
            &b"\x01\x03key\x02ab"[..],
            b"\x00\x80\x00\x00\x00\x03key\x02ab",
            b"\x00\xC0\x03\x02ab",
            b"\x00\x03key\xC4ab",
            b"\xFE\x00\x00\x03key\x02ab",
        ] {
            assert_eq!(row(bytes), None, "{bytes:?}");
        }
    }

    /// Yields single bytes, so that no row is ever complete in the buffer.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let most = into.len().min(1);
            self.0.read(&mut into[..most])
        }
    }

    fn events(input: Forward) -> (Vec<String>, Option<Damage>) {
        let mut walker = Walker::new(input, true, Allocator::default());
        let mut events = Vec::new();
        loop {
            match walker.next_event() {
                Ok(Some(event)) => events.push(format!("{event:?}")),
                Ok(None) => return (events, None),
                Err(damage) => return (events, Some(damage)),
            }
        }
    }

    #[test]
    fn a_row_is_the_same_whether_it_is_ahead_or_not() {
        let mut file = b"REDIS0011\xFA\x05ctime\x05\x32\x30\x30\x30\x30\xFE\x00".to_vec();
        let header = b"\xF4\x6F\x96\x05\x00"; // The slot of foo, and a wrong count.
        for row in [
            &b"\x00\x01a\x0212"[..],
            b"\xFC\x00\x01\0\0\0\0\0\0\x00\x01b\x03abc",
            b"\xF9\x07\x00\x01c\xC1\x00\x01",
            b"\xF8\x40\x64\x00\x01d\x01x",
            b"\x01\x01e\x02\x01x\x01y",
            header,
            b"\x00\x03foo\xC3\x03\x02\x01ab",
            b"\x00\x05{foo}\x14-9223372036854775808",
            b"\x00\x05{foo}\x1410000000000000000000",
        ] {
            file.extend_from_slice(row);
        }
        for (number, value) in PACKED {
            file.extend([&[number, 1, b'k'][..], value].concat());
        }
        file.extend_from_slice(b"\xFF\0\0\0\0\0\0\0\0");
        for end in 0..=file.len() {
            let cut: &'static [u8] = file[..end].to_vec().leak();
            let whole = events(Forward::stream(Box::new(io::Cursor::new(cut))));
            assert_eq!(whole, events(Forward::stream(Box::new(Drops(cut)))));
            assert_eq!(whole.1.is_none(), end == file.len(), "{end}: {whole:?}");
        }
    }
}
