//! RDB files: the keys found in them, whatever happens to their bytes.

pub(crate) mod live;
mod nodes;
mod program;
mod published;
mod recorded;

use std::io::Cursor;

use crate::fuzz::targets::snapshots::{MADE, walk};
use crate::support::scan::Scanning;
use slotscope::format::Notice;
use slotscope::format::rdb::snapshot::allocator::Allocator;
use slotscope::format::rdb::snapshot::elements::Elements;
use slotscope::format::rdb::snapshot::record::{Event, Remark};
use slotscope::format::rdb::snapshot::walk::Walker;
use slotscope::name::Name;
use slotscope::redact::spelled;
use slotscope::source::forward::Forward;
use slotscope::source::memory::memory;
use slotscope::tally::{Parts, Tallies};

/// A key, as tests compare it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub database: u64,
    pub key: Name,
    pub type_name: String,
    pub encoding: &'static str,
    pub elements: Option<u64>,
    pub expires_ms: Option<i64>,
    pub lfu: Option<u8>,
    pub idle_secs: Option<u64>,
    pub bytes: u64,
    pub memory: Option<u64>,
    pub is_damaged: bool,
}

/// All keys and remarks of a file, and where it cannot be read on.
pub(crate) fn found(bytes: &[u8]) -> (Vec<Found>, Vec<Remark>, Option<(u64, String)>) {
    found_with(bytes, Allocator::default())
}

/// As `found`, with the memory of a server with this allocator.
pub(crate) fn found_with(
    bytes: &[u8],
    allocator: Allocator,
) -> (Vec<Found>, Vec<Remark>, Option<(u64, String)>) {
    let stream = Forward::stream(Box::new(Cursor::new(bytes.to_vec())));
    let mut walker = Walker::new(stream, true, allocator);
    let (mut keys, mut remarks) = (Vec::new(), Vec::new());
    loop {
        match walker.next_event() {
            Ok(Some(Event::Key(record))) => keys.push(Found {
                database: record.database,
                key: Name::from(record.key),
                type_name: record.type_name.to_string(),
                encoding: record.encoding,
                elements: record.elements.known(),
                expires_ms: record.attributes.expires_ms,
                lfu: record.attributes.lfu,
                idle_secs: record.attributes.idle_secs,
                bytes: record.bytes,
                memory: record.memory,
                is_damaged: record.elements == Elements::Damaged,
            }),
            Ok(Some(Event::Remark(remark))) => remarks.push(remark),
            Ok(None) => return (keys, remarks, None),
            Err(damage) => {
                let what = spelled(&damage.what, None);
                return (keys, remarks, Some((damage.offset, what)));
            }
        }
    }
}

#[test]
fn every_type_and_opcode_is_walked_over() {
    for made in MADE.iter() {
        let (keys, _, damage) = found(&made.bytes);
        let shown = made.bytes.escape_ascii();
        assert_eq!(damage, None, "{shown}");
        let keys: Vec<_> = keys
            .iter()
            .map(|found| {
                (
                    found.database,
                    &found.key.0[..],
                    &found.type_name[..],
                    found.elements,
                )
            })
            .collect();
        assert_eq!(keys, made.keys, "{shown}");
    }
}

#[test]
fn a_file_that_is_cut_off_keeps_the_keys_before_the_cut() {
    for made in MADE.iter() {
        let whole = found(&made.bytes).0;
        for end in 0..made.bytes.len() {
            let cut = &made.bytes[..end];
            walk(cut);
            let (keys, _, damage) = found(cut);
            assert_eq!(keys[..], whole[..keys.len()]);
            let is_whole = end >= made.bytes.len() - made.behind;
            assert_eq!(damage.is_none(), is_whole, "{}", cut.escape_ascii());
            // The end is where the bytes are, whatever was to be passed over.
            let at_the_end =
                damage.is_none_or(|(at, what)| at == end as u64 || !what.contains("cut off"));
            assert!(at_the_end, "{}", cut.escape_ascii());
        }
    }
}

#[test]
fn the_checksum_finds_every_flipped_byte() {
    let mut bytes = MADE
        .iter()
        .find(|made| made.keys.len() == 2)
        .unwrap()
        .bytes
        .clone();
    let end = bytes.len() - 8;
    let sum = bytes[..end].iter().fold(0u64, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc, _| {
            (crc >> 1) ^ ((crc & 1) * 0xad93d23594c935a9u64.reverse_bits())
        })
    });
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    let (whole, remarks, damage) = found(&bytes);
    assert_eq!((remarks, damage), (vec![], None));
    for at in 0..bytes.len() {
        for flip in [0xFF, 0x01] {
            let mut flipped = bytes.clone();
            flipped[at] ^= flip;
            assert!(found(&flipped).2.is_some(), "byte {at}");
        }
    }
    let (keys, remarks, damage) =
        found(&MADE.iter().find(|made| made.keys.len() == 2).unwrap().bytes);
    assert_eq!((keys, damage), (whole, None));
    assert_eq!(remarks[0].notice, Notice::Unverified);
}

#[test]
fn no_flipped_byte_makes_a_walk_panic_or_hang() {
    for made in MADE.iter() {
        for at in 0..made.bytes.len() {
            for flip in [0xFF, 0x80, 0x40, 0x01] {
                let mut bytes = made.bytes.clone();
                bytes[at] ^= flip;
                walk(&bytes);
            }
        }
    }
}

#[test]
fn a_scan_counts_the_keys_of_a_walk_on_any_number_of_threads() {
    let inputs: Vec<_> = MADE
        .iter()
        .map(|made| memory("made", &made.bytes))
        .collect();
    let keys: usize = MADE.iter().map(|made| made.keys.len()).sum();
    let [one, three] = [1, 3].map(|threads| {
        let scan = Scanning::detected().cut(threads, 100);
        let found = scan.run(&inputs, || Tallies::new(Parts::All));
        assert_eq!(found.incomplete, []);
        assert!(found.inputs.iter().all(|input| input.format == "rdb"));
        found.tally
    });
    assert_eq!(one, three);
    assert_eq!(one.slots.total(), keys as u64);
}
