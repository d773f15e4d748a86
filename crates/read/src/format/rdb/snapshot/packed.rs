//! The number of entries in a packed string: stored in its first bytes, unless it overflows the field.

use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::kind::Packing;
use crate::format::rdb::snapshot::text::{Start, Stored};

/// The byte after the last entry.
const END: u8 = 0xFF;

/// The number of entries from the first bytes of a packed string of `len` bytes; eleven are enough. Unknown if there are
/// too many for the header field: all entries must be walked.
pub(super) fn entries(packing: Packing, head: &[u8], len: u64) -> Elements {
    let known = |is_right: bool, count| {
        if is_right {
            Elements::Known(count)
        } else {
            Elements::Damaged
        }
    };
    let counted = |count: u16| match count {
        u16::MAX => Elements::Unknown,
        count => Elements::Known(count.into()),
    };
    let entries = || match packing {
        Packing::Listpack if u64::from(u32_at(head, 0)?) != len => None,
        Packing::Listpack => Some(counted(u16_at(head, 4)?)),
        Packing::Ziplist if u64::from(u32_at(head, 0)?) != len => None,
        Packing::Ziplist => Some(counted(u16_at(head, 8)?)),
        Packing::Intset => {
            let (width, count) = (u64::from(u32_at(head, 0)?), u64::from(u32_at(head, 4)?));
            Some(known(8 + width * count == len, count))
        }
        Packing::Zipmap => match *head.first()? {
            254.. => Some(Elements::Unknown),
            count => Some(Elements::Known(count.into())),
        },
    };
    entries().unwrap_or(Elements::Damaged)
}

/// The elements of a packed string with all its bytes in the file.
pub(super) fn elements(packing: Packing, stored: Stored, bytes: &[u8]) -> Elements {
    match entries(packing, &Start::of(stored, bytes), stored.len()) {
        Elements::Unknown => {
            let whole = stored.whole(bytes);
            let count = whole.and_then(|whole| counted(packing, &whole));
            count.map_or(Elements::Damaged, Elements::Known)
        }
        elements => elements,
    }
}

/// The size of the first entry in bytes.
type EntryBytes = fn(&[u8]) -> Option<usize>;

/// Counts the entries of a packed string one by one; `None` if it is damaged.
pub(super) fn counted(packing: Packing, whole: &[u8]) -> Option<u64> {
    let (mut at, len_of): (usize, EntryBytes) = match packing {
        Packing::Listpack => (6, listpack_entry),
        Packing::Ziplist => (10, ziplist_entry),
        Packing::Zipmap => (1, zipmap_entry),
        Packing::Intset => return None,
    };
    let mut count = 0;
    while *whole.get(at)? != END {
        at = at.checked_add(len_of(&whole[at..])?)?;
        count += 1;
    }
    Some(count)
}

/// The size of a listpack entry: encoding, content, and the backward length.
fn listpack_entry(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    let len = match first {
        0..=0x7F => 1,
        0x80..=0xBF => 1 + usize::from(first & 0x3F),
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 2 + (usize::from(first & 0x0F) << 8 | usize::from(*bytes.get(1)?)),
        0xF0 => 5 + u32_at(bytes, 1)? as usize,
        0xF1 => 3,
        0xF2 => 4,
        0xF3 => 5,
        0xF4 => 9,
        0xF5.. => return None,
    };
    let backwards = match len {
        0..=127 => 1,
        128..=16_383 => 2,
        16_384..=2_097_151 => 3,
        2_097_152..=268_435_455 => 4,
        _ => 5,
    };
    Some(len + backwards)
}

/// The size of a ziplist entry: previous length, encoding, content.
fn ziplist_entry(bytes: &[u8]) -> Option<usize> {
    let before = if *bytes.first()? == 254 { 5 } else { 1 };
    let rest = bytes.get(before..)?;
    let first = *rest.first()?;
    let len = match first >> 6 {
        0 => 1 + usize::from(first & 0x3F),
        1 => 2 + (usize::from(first & 0x3F) << 8 | usize::from(*rest.get(1)?)),
        2 => 5 + u32::from_be_bytes(*rest.get(1..)?.first_chunk()?) as usize,
        _ => match first {
            0xC0 => 3,
            0xD0 => 5,
            0xE0 => 9,
            0xF0 => 4,
            0xFE => 2,
            0xF1..=0xFD => 1,
            _ => return None,
        },
    };
    Some(before + len)
}

/// The size of a zipmap entry: field, value, and free bytes.
fn zipmap_entry(bytes: &[u8]) -> Option<usize> {
    let item = |bytes: &[u8]| match *bytes.first()? {
        254 => Some((5, u32_at(bytes, 1)? as usize)),
        255 => None,
        len => Some((1, usize::from(len))),
    };
    let (head, len) = item(bytes)?;
    let value = head + len;
    let (head, len) = item(bytes.get(value..)?)?;
    let free = usize::from(*bytes.get(value + head)?);
    Some(value + head + 1 + len + free)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A listpack of these entries, each encoding and content.
    fn listpack(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0; 6];
        for entry in entries {
            bytes.extend(entry);
            let backwards = listpack_entry(entry).unwrap() - entry.len();
            bytes.extend(vec![0; backwards]);
        }
        bytes.push(0xFF);
        let len = bytes.len() as u32;
        bytes[..4].copy_from_slice(&len.to_le_bytes());
        bytes[4..6].copy_from_slice(&(entries.len() as u16).to_le_bytes());
        bytes
    }

    fn string(len: usize) -> Vec<u8> {
        let mut entry = match len {
            0..=63 => vec![0x80 | len as u8],
            64..=4095 => vec![0xE0 | (len >> 8) as u8, len as u8],
            _ => [&[0xF0][..], &(len as u32).to_le_bytes()].concat(),
        };
        entry.resize(entry.len() + len, b'x');
        entry
    }

    #[test]
    fn the_entries_of_a_listpack_are_counted_as_its_head_says() {
        let mut entries: Vec<_> = [
            0, 1, 63, 64, 125, 126, 127, 4095, 4096, 16_378, 16_379, 70_000,
        ]
        .map(string)
        .into();
        for (first, len) in [
            (5, 1),
            (0xC0, 2),
            (0xF1, 3),
            (0xF2, 4),
            (0xF3, 5),
            (0xF4, 9),
        ] {
            let mut entry = vec![0; len];
            entry[0] = first;
            entries.push(entry);
        }
        let mut bytes = listpack(&entries);
        let (len, count) = (bytes.len() as u64, entries.len() as u64);
        assert_eq!(
            super::entries(Packing::Listpack, &bytes[..11], len),
            Elements::Known(count)
        );
        assert_eq!(counted(Packing::Listpack, &bytes), Some(count));
        bytes[4..6].copy_from_slice(&[0xFF; 2]);
        assert_eq!(
            super::entries(Packing::Listpack, &bytes, len),
            Elements::Unknown
        );
        assert_eq!(
            super::entries(Packing::Listpack, &bytes, len - 1),
            Elements::Damaged
        );
        for end in 0..200 {
            assert_eq!(counted(Packing::Listpack, &bytes[..end]), None);
        }
    }

    #[test]
    fn the_entries_of_a_ziplist_and_a_zipmap_are_counted() {
        let mut ziplist = vec![0; 10];
        for (first, len) in [
            (0x03, 4),
            (0xC0, 3),
            (0xD0, 5),
            (0xE0, 9),
            (0xF0, 4),
            (0xFE, 2),
            (0xF1, 1),
            (0xFD, 1),
        ] {
            let mut entry = vec![first];
            entry.resize(len, 0);
            ziplist.push(7);
            ziplist.extend(entry);
        }
        ziplist.extend([&[254, 0, 1, 0, 0, 0x41, 0][..], &[b'x'; 256]].concat());
        ziplist.extend([&[9, 0x80, 0, 0, 0, 2][..], b"ab", &[0xFF]].concat());
        assert_eq!(counted(Packing::Ziplist, &ziplist), Some(10));
        let len = ziplist.len() as u32;
        ziplist[..4].copy_from_slice(&len.to_le_bytes());
        ziplist[8] = 10;
        assert_eq!(
            entries(Packing::Ziplist, &ziplist[..11], len.into()),
            Elements::Known(10)
        );

        let zipmap = b"\xFE\x01a\x02\x01bcx\xFE\x03\x00\x00\x00abc\x00\x00\xFF";
        assert_eq!(
            entries(Packing::Zipmap, zipmap, zipmap.len() as u64),
            Elements::Unknown
        );
        assert_eq!(counted(Packing::Zipmap, zipmap), Some(2));
    }

    #[test]
    fn an_intset_is_as_long_as_its_width_and_count_say() {
        let head = [2, 0, 0, 0, 3, 0, 0, 0];
        assert_eq!(entries(Packing::Intset, &head, 14), Elements::Known(3));
        assert_eq!(entries(Packing::Intset, &head, 15), Elements::Damaged);
        assert_eq!(entries(Packing::Intset, &head[..7], 14), Elements::Damaged);
    }
}
