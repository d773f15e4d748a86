//! Plain rows: a key and a string value entirely within the buffer. Most rows of most files are plain; they are read
//! without copying and without a check per byte.

use std::borrow::Cow;
use std::ops::Range;

use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::TEXT;
use crate::format::rdb::snapshot::lzf;
use crate::format::rdb::snapshot::record::{Attributes, Record};
use crate::format::rdb::snapshot::value::is_number;
use crate::format::rdb::snapshot::walk::{Place, Walker};

const EXPIRE_MS: u8 = 252;
const FREQ: u8 = 249;
/// The type of plain rows.
pub(super) const STRING: u8 = 0;

/// A plain row, as offsets from its first byte.
pub(super) struct PlainRow {
    /// The attributes before the key.
    pub attributes: Attributes,
    /// Where the key is.
    pub key: Range<usize>,
    /// The length of the value in bytes, if it is not a number.
    pub value: Option<u64>,
    /// Bytes of the row.
    pub bytes: usize,
}

/// The parts of a plain row, as offsets from its first byte.
pub(super) struct Bounds {
    attributes: Attributes,
    key: Range<usize>,
    value: Text,
    /// Bytes of the row.
    pub bytes: usize,
}

/// The value of a plain row.
enum Text {
    Number,
    /// LZF-compressed, with the length of the text.
    Packed(u64),
    /// Uncompressed.
    Bytes(Range<usize>),
}

impl Bounds {
    /// The bounds of the row at the start of `bytes`; `None` if it is not plain, or incomplete.
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Option<Bounds> {
        let mut at = 0;
        let mut attributes = Attributes::default();
        loop {
            match *bytes.get(at)? {
                STRING => break,
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
        }
        let (len, start) = length(bytes, at + 1)?;
        let key = start..start + len;
        let (value, end) = value(bytes, key.end)?;
        (end <= bytes.len()).then_some(Bounds {
            attributes,
            key,
            value,
            bytes: end,
        })
    }

    #[inline(always)]
    pub(super) fn expires(&self) -> bool {
        self.attributes.expires_ms.is_some()
    }
}

impl PlainRow {
    /// The row at the start of `bytes`; `None` if it is not plain, or incomplete.
    #[inline(always)]
    pub(super) fn at_start_of(bytes: &[u8]) -> Option<PlainRow> {
        let Bounds {
            attributes,
            key,
            value,
            bytes: len,
        } = Bounds::of(bytes)?;
        let value = match value {
            Text::Number => None,
            Text::Packed(len) => Some(len),
            Text::Bytes(text) if is_number(&bytes[text.clone()]) => None,
            Text::Bytes(text) => Some(text.len() as u64),
        };
        Some(PlainRow {
            attributes,
            key,
            value,
            bytes: len,
        })
    }
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
        let row = if self.is_at_row() {
            PlainRow::at_start_of(self.input.ahead())
        } else {
            None
        };
        let Some(row) = row else {
            self.keep_last_key();
            return None;
        };
        self.input.pass(row.bytes);
        self.keys += 1;
        self.place = Place::Value(STRING);
        self.last_plain = Some((row.bytes, row.key.clone()));
        if self.slots.slot().is_some() {
            let key = &self.input.behind(row.bytes)[row.key.clone()];
            let expires = row.attributes.expires_ms.is_some();
            self.slots.key(key, expires);
        }
        Some(row)
    }

    /// Remembers the key of the plain row `row` bytes ahead as the last key.
    pub(super) fn take_key_of(&mut self, row: usize) {
        self.last_plain = None;
        let bytes = &self.input.ahead()[row..];
        if let Some(row) = Bounds::of(bytes) {
            self.key.clear();
            self.key.extend_from_slice(&bytes[row.key]);
        }
    }

    /// Copies the last key before the buffer is refilled, since it is reported.
    pub(super) fn keep_last_key(&mut self) {
        if let Some((bytes, key)) = self.last_plain.take() {
            self.key.clear();
            self.key.extend_from_slice(&self.input.behind(bytes)[key]);
        }
    }

    /// The record of the plain row skipped last.
    #[inline]
    pub(super) fn plain_record(&self, row: PlainRow) -> Record<'_> {
        let key = &self.input.behind(row.bytes)[row.key];
        let expires_ms = row.attributes.expires_ms;
        let (len, expires) = (key.len() as u64, expires_ms.is_some());
        let memory = self.memory.as_ref();
        let encoding = memory.map(|memory| memory.encoding_of(len, expires, row.value));
        let memory = memory.map(|memory| memory.object(len, expires, row.value));
        Record {
            key,
            database: self.database,
            type_name: Cow::Borrowed(TEXT),
            encoding: encoding.unwrap_or_default(),
            elements: Elements::Known(1),
            memory,
            attributes: row.attributes,
            offset: self.offset() - row.bytes as u64,
            bytes: row.bytes as u64,
            has_expired: self.has_expired(expires_ms),
            is_imported: self.imported.has(key),
        }
    }
}

/// Whether a plain row may start with this byte.
pub(super) fn may_start_row(byte: u8) -> bool {
    matches!(byte, STRING | EXPIRE_MS | FREQ)
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

/// The string at `at`, and its end.
#[inline]
fn value(bytes: &[u8], at: usize) -> Option<(Text, usize)> {
    match *bytes.get(at)? {
        encoding @ 0xC0..=0xC2 => Some((Text::Number, at + 1 + (1 << (encoding & 3)))),
        0xC3 => {
            let (packed, at) = length(bytes, at + 1)?;
            let (len, at) = length(bytes, at)?;
            let is_possible = len <= packed * lzf::MOST as usize;
            is_possible.then_some((Text::Packed(len as u64), at + packed))
        }
        _ => {
            let (len, start) = length(bytes, at)?;
            Some((Text::Bytes(start..start + len), start + len))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::frame::walk::Damage;
    use crate::format::rdb::snapshot::allocator::Allocator;
    use crate::source::forward::Forward;
    use std::io::{self, Read};

    fn row(bytes: &[u8]) -> Option<(Attributes, &[u8], Option<u64>, usize)> {
        let row = PlainRow::at_start_of(bytes)?;
        Some((row.attributes, &bytes[row.key], row.value, row.bytes))
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
        file.extend_from_slice(b"\xFF\0\0\0\0\0\0\0\0");
        for end in 0..=file.len() {
            let cut: &'static [u8] = file[..end].to_vec().leak();
            let whole = events(Forward::stream(Box::new(io::Cursor::new(cut))));
            assert_eq!(whole, events(Forward::stream(Box::new(Drops(cut)))));
            assert_eq!(whole.1.is_none(), end == file.len(), "{end}: {whole:?}");
        }
    }
}
