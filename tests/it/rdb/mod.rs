//! RDB files: the keys found in them, even if bytes are damaged.

mod program;
mod recorded;

use crate::fuzz::targets::snapshots::{MADE, walk};
use slotscope::format::Notice;
use slotscope::source::memory::memory;
use slotscope::tally::{Parts, Tallies};
use testkit::rdb::found;
use testkit::scan::Scanning;

#[test]
fn every_type_and_opcode_is_walked_over() {
    for made in MADE.iter() {
        let (keys, _, damage) = found(&made.bytes);
        let shown = made.bytes.escape_ascii();
        assert_eq!(damage, None, "{shown}");
        let keys = keys
            .iter()
            .map(|of| (of.database, &of.key.0[..], &of.type_name[..], of.elements));
        assert_eq!(keys.collect::<Vec<_>>(), made.keys, "{shown}");
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
            // The end is at the end of the bytes, whatever was to be skipped.
            let at_the_end =
                damage.is_none_or(|(at, what)| at == end as u64 || !what.contains("cut off"));
            assert!(at_the_end, "{}", cut.escape_ascii());
        }
    }
}

#[test]
fn the_checksum_finds_every_flipped_byte() {
    let made = MADE.iter().find(|made| made.keys.len() == 2).unwrap();
    let mut bytes = made.bytes.clone();
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
    let (keys, remarks, damage) = found(&made.bytes);
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
