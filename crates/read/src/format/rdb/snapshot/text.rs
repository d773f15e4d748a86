//! Lengths and strings of RDB files. A string is stored as bytes, an integer, or LZF; values are skipped by length.

use std::borrow::Cow;

use crate::format::frame::fault::{Fault, Read, wrong};
use crate::format::rdb::snapshot::lzf;
use crate::source::forward::Forward;

/// Compressed bytes that suffice for the first `PREFIX` bytes: no byte takes more than two.
const PACKED_PREFIX: usize = 2 * PREFIX;

/// Bytes of a string examined while skipping it.
pub(super) const PREFIX: usize = 24;

/// How a string is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// As this many bytes.
    Bytes(u64),
    /// As an integer; the string is its decimal text.
    Integer(i32),
    /// As this many bytes of LZF, with this uncompressed length.
    Lzf(u64, u64),
}

/// The start of a string: up to `PREFIX` bytes, fewer if it is damaged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    bytes: [u8; PREFIX],
    len: u8,
}

impl Start {
    /// The start of a string from its bytes in the file; the first ones suffice.
    pub(super) fn of(stored: Stored, bytes: &[u8]) -> Self {
        let most = stored.len().min(PREFIX as u64) as usize;
        match stored {
            Stored::Integer(number) => Start::copy(number.to_string().as_bytes()),
            Stored::Bytes(_) => Start::copy(&bytes[..bytes.len().min(most)]),
            Stored::Lzf(..) => {
                let mut start = Start::copy(&[]);
                let len = lzf::decode(bytes, &mut start.bytes[..most]);
                start.len = len.unwrap_or(0) as u8;
                start
            }
        }
    }

    fn copy(bytes: &[u8]) -> Self {
        let mut start = Start {
            bytes: [0; PREFIX],
            len: bytes.len() as u8,
        };
        start.bytes[..bytes.len()].copy_from_slice(bytes);
        start
    }
}

impl std::ops::Deref for Start {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl Stored {
    /// The length of the string in bytes.
    pub(super) fn len(self) -> u64 {
        match self {
            Stored::Bytes(len) | Stored::Lzf(_, len) => len,
            Stored::Integer(number) => {
                let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
                u64::from(digits) + u64::from(number < 0)
            }
        }
    }

    /// Bytes that suffice for its start.
    fn bytes_for_start(self) -> usize {
        let most = match self {
            Stored::Lzf(..) => PACKED_PREFIX,
            _ => PREFIX,
        };
        self.bytes_behind().min(most as u64) as usize
    }

    /// The string from its bytes in the file; `None` if its LZF is broken.
    pub(super) fn whole(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Stored::Bytes(_) => Some(bytes.into()),
            Stored::Integer(number) => Some(number.to_string().into_bytes().into()),
            Stored::Lzf(_, len) => lzf::decoded(bytes, len as usize).map(Cow::from),
        }
    }

    /// The bytes of it that follow its header in the file.
    pub(super) fn bytes_behind(self) -> u64 {
        match self {
            Stored::Bytes(len) | Stored::Lzf(len, _) => len,
            Stored::Integer(_) => 0,
        }
    }
}

/// A length, or the number of a string encoding.
enum Length {
    Of(u64),
    Encoding(u8),
}

// Called for each string of a hash table.
#[inline(always)]
fn length_or_encoding(input: &mut Forward) -> Read<Length> {
    let at = input.offset();
    let first = input.byte()?;
    match first {
        0..0x40 => Ok(Length::Of(first.into())),
        _ => long_length(input, at, first),
    }
}

/// A length of more than one byte, or an encoding, given its first byte at `at`.
fn long_length(input: &mut Forward, at: u64, first: u8) -> Read<Length> {
    Ok(match first >> 6 {
        0 | 1 => Length::Of(u64::from(first & 0x3F) << 8 | u64::from(input.byte()?)),
        2 if first == 0x80 => Length::Of(u64::from(u32::from_be_bytes(input.array()?))),
        2 if first == 0x81 => Length::Of(u64::from_be_bytes(input.array()?)),
        2 => return wrong(at, format!("a byte that starts no length, 0x{first:02x}")),
        _ => Length::Encoding(first & 0x3F),
    })
}

/// Strings of an RDB file.
impl Forward {
    /// A length; string encodings are not lengths.
    #[inline]
    pub(super) fn length(&mut self) -> Read<u64> {
        let at = self.offset();
        match length_or_encoding(self)? {
            Length::Of(len) => Ok(len),
            Length::Encoding(_) => wrong(at, "the encoding of a string in place of a length"),
        }
    }

    /// The header of the next string; its bytes follow.
    #[inline]
    pub(super) fn stored(&mut self) -> Read<Stored> {
        let at = self.offset();
        Ok(match length_or_encoding(self)? {
            Length::Of(len) => Stored::Bytes(len),
            Length::Encoding(0) => Stored::Integer(self.byte()? as i8 as i32),
            Length::Encoding(1) => Stored::Integer(i16::from_le_bytes(self.array()?).into()),
            Length::Encoding(2) => Stored::Integer(i32::from_le_bytes(self.array()?)),
            Length::Encoding(3) => {
                let (packed, len) = (self.length()?, self.length()?);
                // Servers give up here as well: once a length is wrong, the next one is garbage.
                if len > packed.saturating_mul(lzf::MOST) {
                    let message =
                        format!("a string of {packed} packed bytes that claims to hold {len}");
                    return wrong(at, message);
                }
                Stored::Lzf(packed, len)
            }
            Length::Encoding(encoding) => {
                return wrong(at, format!("a string in an unknown encoding, {encoding}"));
            }
        })
    }

    /// Skips a string.
    #[inline]
    pub(super) fn skip_string(&mut self) -> Read<Stored> {
        // Most strings of tables are in the buffer and have a length of six bits.
        if let [len @ ..64, ref behind @ ..] = *self.ahead()
            && behind.len() >= usize::from(len)
        {
            self.pass(1 + usize::from(len));
            return Ok(Stored::Bytes(len.into()));
        }
        let stored = self.stored()?;
        self.skip(stored.bytes_behind())?;
        Ok(stored)
    }

    /// The start of the string whose bytes follow, without consuming it.
    #[inline]
    pub(super) fn start_of(&mut self, stored: Stored) -> Read<Start> {
        let bytes = self.peek(stored.bytes_for_start())?;
        Ok(Start::of(stored, bytes))
    }

    /// Reads the following bytes of a string into `into`, at most `most`.
    #[inline]
    pub(super) fn stored_string(
        &mut self,
        stored: Stored,
        into: &mut Vec<u8>,
        most: u64,
    ) -> Read<()> {
        let at = self.offset();
        into.clear();
        if stored.len().max(stored.bytes_behind()) > most {
            let message = format!(
                "a string of {} bytes, of which at most {most} are read",
                stored.len()
            );
            return wrong(at, message);
        }
        self.read(into, stored.bytes_behind())?;
        if !matches!(stored, Stored::Bytes(_)) {
            let Some(text) = stored.whole(into) else {
                return wrong(at, "a string whose LZF is broken");
            };
            *into = text.into_owned();
        }
        Ok(())
    }

    /// A string of at most `most` bytes; a longer or damaged one is skipped and yields an empty one.
    pub(super) fn short_string(&mut self, most: u64) -> Read<Vec<u8>> {
        let stored = self.stored()?;
        let mut text = Vec::new();
        if stored.len().max(stored.bytes_behind()) > most {
            self.skip(stored.bytes_behind())?;
            return Ok(text);
        }
        match self.stored_string(stored, &mut text, most) {
            Err(Fault::Wrong(..)) => Ok(Vec::new()),
            result => result.map(|()| text),
        }
    }

    /// A signed 64-bit integer.
    #[inline]
    pub(super) fn int64(&mut self) -> Read<i64> {
        Ok(i64::from_le_bytes(self.array().map_err(Fault::from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn input(bytes: &[u8]) -> Forward {
        Forward::stream(Box::new(Cursor::new(bytes.to_vec())))
    }

    fn string(bytes: &[u8]) -> Read<Vec<u8>> {
        let (mut input, mut into) = (input(bytes), Vec::new());
        let stored = input.stored()?;
        input.stored_string(stored, &mut into, 100).map(|()| into)
    }

    #[test]
    fn lengths_have_four_forms_and_all_else_is_refused() {
        for (bytes, len) in [
            (&[0x3F][..], 63),
            (&[0x41, 0x02], 258),
            (&[0x80, 0, 1, 0, 2], 65_538),
            (&[0x81, 1, 0, 0, 0, 0, 0, 0, 3], (1 << 56) + 3),
        ] {
            assert_eq!(input(bytes).length().unwrap(), len);
            assert!(matches!(
                input(&bytes[..bytes.len() - 1]).length(),
                Err(Fault::CutOff)
            ));
        }
        for first in [0x82, 0xBF, 0xC0, 0xC3, 0xFF] {
            let refused = input(&[first; 12]).length();
            assert!(matches!(refused, Err(Fault::Wrong(0, _))), "{first}");
        }
    }

    #[test]
    fn a_string_is_bytes_an_integer_or_lzf() {
        for (bytes, text) in [
            (&b"\x03abc"[..], &b"abc"[..]),
            (b"\x00", b""),
            (b"\xC0\x85", b"-123"),
            (b"\xC1\x39\x30", b"12345"),
            (b"\xC2\x00\x00\x00\x80", b"-2147483648"),
            (b"\xC3\x08\x0D\x01ab\xE0\x01\x01\x00c", b"ababababababc"),
        ] {
            assert_eq!(string(bytes).unwrap(), text);
            let mut input = input(bytes);
            let stored = input.stored().unwrap();
            let start = input.start_of(stored).unwrap();
            assert_eq!((&*start, stored.len()), (text, text.len() as u64));
            input.skip(stored.bytes_behind()).unwrap();
            assert_eq!(input.offset(), bytes.len() as u64);
        }
    }

    #[test]
    fn broken_strings_are_refused_at_their_place() {
        for bytes in [
            &b"\xC4"[..],
            b"\xFFx",
            b"\xC3\x02\x05\x01a",
            b"\xC3\x02\x02\x20\x05",
        ] {
            assert!(matches!(string(bytes), Err(Fault::Wrong(..))), "{bytes:?}");
        }
        assert!(matches!(
            string(b"\x40\xC8aaa"),
            Err(Fault::Wrong(2, what)) if what.starts_with("a string of 200 bytes, ")
        ));
        assert!(matches!(string(b"\x05ab"), Err(Fault::CutOff)));
    }

    #[test]
    fn lzf_that_claims_more_than_its_bytes_can_hold_is_refused_before_it_is_read() {
        let claim = |len: u64| [&b"\xC3\x03\x81"[..], &len.to_be_bytes(), b"\xE0\xFF\x00"].concat();
        assert_eq!(input(&claim(264)).stored().unwrap(), Stored::Lzf(3, 264));
        for len in [265, 1 << 60, u64::MAX] {
            let refused = input(&claim(len)).stored();
            assert!(
                matches!(&refused, Err(Fault::Wrong(0, _))),
                "{len}: {refused:?}"
            );
        }
    }

    #[test]
    fn only_the_start_of_a_long_string_is_looked_at() {
        let long = [&b"\x80\x00\x01\x00\x00"[..], &[b'x'; 65_536]].concat();
        let mut input = input(&long);
        let stored = input.stored().unwrap();
        let start = input.start_of(stored).unwrap();
        assert_eq!((&*start, stored.len()), (&[b'x'; PREFIX][..], 65_536));
    }
}
