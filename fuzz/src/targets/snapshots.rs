//! Handmade RDB files: every type, every opcode and every wrapper. The walk terminates on any bytes, returns keys in
//! order, and gives the same result for a file and a stream.

use std::io::Cursor;
use std::sync::LazyLock;

use slotscope::format::rdb::snapshot::allocator::Allocator;
use slotscope::format::rdb::snapshot::record::Event;
use slotscope::format::rdb::snapshot::walk::Walker;
use slotscope::redact::spelled;
use slotscope::source::forward::Forward;
use slotscope::source::memory::memory;

/// An RDB file and its expected content.
pub struct Made {
    pub bytes: Vec<u8>,
    /// Number of bytes after its checksum.
    pub behind: usize,
    /// Its keys: database, name, type, elements.
    pub keys: Vec<(u64, &'static [u8], &'static str, Option<u64>)>,
}

/// Every file.
pub static MADE: LazyLock<Vec<Made>> = LazyLock::new(|| {
    let mut all: Vec<Made> = TYPES.iter().map(of_type).collect();
    all.extend(surroundings());
    all
});

/// The files as seeds.
pub fn seeds() -> Vec<&'static [u8]> {
    MADE.iter().map(|made| &made.bytes[..]).collect()
}

/// A type: the magic of the file, the opcodes before the key, the type number, the bytes after the key, the type name
/// and the number of elements.
type Row = (
    &'static str,
    &'static [u8],
    u8,
    &'static [u8],
    &'static str,
    Option<u64>,
);

/// Listpacks of the strings a and b, and of a, b and a time.
const PAIR: &[u8] = b"\x0D\x0D\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xFF";
const TRIPLE: &[u8] = b"\x0F\x0F\x00\x00\x00\x03\x00\x81a\x02\x81b\x02\x00\x01\xFF";

/// The same pair with unknown count, and as a single LZF run.
const UNCOUNTED: &[u8] = b"\x0D\x0D\x00\x00\x00\xFF\xFF\x81a\x02\x81b\x02\xFF";
const PACKED: &[u8] = b"\xC3\x0E\x0D\x0C\x0D\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xFF";

/// A ziplist of a and b.
const ZIPLIST: &[u8] = b"\x11\x11\x00\x00\x00\x0D\x00\x00\x00\x02\x00\x00\x01a\x03\x01b\xFF";

/// A group with a delivered entry and its consumer, as written by Redis 5.0, 7.0 and 7.2.
const GROUP_5: &[u8] =
    b"\x01\x01g\x01\x00\x01IIIIIIIIIIIIIIIITTTTTTTT\x01\x01\x01cTTTTTTTT\x01IIIIIIIIIIIIIIII";
const GROUP_7: &[u8] =
    b"\x01\x01g\x01\x00\x03\x01IIIIIIIIIIIIIIIITTTTTTTT\x01\x01\x01cTTTTTTTT\x01IIIIIIIIIIIIIIII";
const GROUP_7_2: &[u8] =
    b"\x01\x01g\x01\x00\x03\x01IIIIIIIIIIIIIIIITTTTTTTT\x01\x01\x01cTTTTTTTTAAAAAAAA\x01IIIIIIIIIIIIIIII";

const TYPES: &[Row] = &[
    ("REDIS0003", b"", 0, b"\x05value", "string", Some(1)),
    ("REDIS0011", b"", 0, b"\xC0\xFF", "string", Some(1)),
    ("REDIS0011", b"", 0, b"\xC1\x39\x30", "string", Some(1)),
    (
        "REDIS0011",
        b"",
        0,
        b"\xC2\x00\x00\x00\x80",
        "string",
        Some(1),
    ),
    (
        "REDIS0011",
        b"",
        0,
        b"\xC3\x05\x40\x64\x00x\xE0\x5A\x00",
        "string",
        Some(1),
    ),
    ("REDIS0001", b"", 1, b"\x02\x01a\xC0\x05", "list", Some(2)),
    ("REDIS0001", b"", 2, b"\x40\x01\x01a", "set", Some(1)),
    (
        "REDIS0001",
        b"",
        3,
        b"\x04\x01a\x031.5\x01b\xFD\x01c\xFE\x01d\xFF",
        "zset",
        Some(4),
    ),
    ("REDIS0001", b"", 4, b"\x01\x01a\x01b", "hash", Some(1)),
    ("REDIS0008", b"", 5, b"\x01\x01aSSSSSSSS", "zset", Some(1)),
    (
        "REDIS0003",
        b"",
        9,
        b"\x0A\x01\x01a\x02\x01bcx\xFF\x00",
        "hash",
        Some(1),
    ),
    ("REDIS0006", b"", 10, ZIPLIST, "list", Some(2)),
    (
        "REDIS0006",
        b"",
        11,
        b"\x0C\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x02\x00",
        "set",
        Some(2),
    ),
    ("REDIS0006", b"", 12, ZIPLIST, "zset", Some(1)),
    ("REDIS0006", b"", 13, ZIPLIST, "hash", Some(1)),
    (
        "REDIS0007",
        b"",
        14,
        b"\x01\x11\x11\x00\x00\x00\x0D\x00\x00\x00\x02\x00\x00\x01a\x03\x01b\xFF",
        "list",
        Some(2),
    ),
    ("REDIS0010", b"", 16, PAIR, "hash", Some(1)),
    ("REDIS0010", b"", 17, UNCOUNTED, "zset", Some(1)),
    (
        "REDIS0010",
        b"",
        18,
        b"\x02\x01\x05alone\x02\x0D\x0D\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xFF",
        "list",
        Some(3),
    ),
    ("REDIS0011", b"", 20, PACKED, "set", Some(2)),
    ("REDIS0012", b"", 22, b"\x01\x00\x01f\x01v", "hash", Some(1)),
    (
        "VALKEY080",
        b"",
        22,
        b"\x01\x01f\x01vEEEEEEEE",
        "hash",
        Some(1),
    ),
    ("REDIS0012", b"", 23, TRIPLE, "hash", Some(1)),
    (
        "REDIS0012",
        b"",
        24,
        b"MMMMMMMM\x02\x00\x01f\x01v\x05\x01g\x01w",
        "hash",
        Some(2),
    ),
    (
        "REDIS0012",
        b"",
        25,
        b"MMMMMMMM\x0F\x0F\x00\x00\x00\x03\x00\x81a\x02\x81b\x02\x00\x01\xFF",
        "hash",
        Some(1),
    ),
    (
        "REDIS0014",
        b"",
        28,
        b"\x03\x01\x07\x00\x00\x01a\x01\x01DDDDDDDD\x05\x03\x01c",
        "array",
        Some(3),
    ),
    (
        "REDIS0015",
        b"",
        29,
        b"\x01\x01\x01f\x0D\x0D\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xFF",
        "hash",
        Some(1),
    ),
    ("REDIS0015", b"", 30, PAIR, "hash", Some(1)),
    (
        "REDIS0015",
        b"",
        31,
        b"\x01\x02\x01f\x01g\x01v\x01w",
        "hash",
        Some(2),
    ),
    (
        "REDIS0015",
        b"\xF2\x07\x02\x01a\x01b",
        32,
        b"\x07\x011\x012",
        "hash",
        Some(2),
    ),
    (
        "REDIS0008",
        b"",
        7,
        b"\x81\x26\x11\xa2\xa2\x5d\x24\x48\x00\x01\x05\x02\x06\x03FFFF\x04DDDDDDDD\x05\x01s\x00",
        "JhGiol0kS",
        None,
    ),
];

/// A file with one key, k, of a type.
fn of_type((magic, before, number, value, type_name, elements): &Row) -> Made {
    let bytes = [
        magic.as_bytes(),
        before,
        b"\xFE\x00",
        &[*number],
        b"\x01k",
        value,
    ]
    .concat();
    Made {
        bytes: ended(bytes),
        behind: 0,
        keys: vec![(0, b"k", type_name, *elements)],
    }
}

/// The same with the end marker and without a checksum.
fn ended(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.push(0xFF);
    let has_checksum = !bytes.starts_with(b"REDIS000") || bytes[8] >= b'5';
    bytes.resize(bytes.len() + if has_checksum { 8 } else { 0 }, 0);
    bytes
}

/// Streams, and opcodes that may surround keys.
fn surroundings() -> Vec<Made> {
    let stream = |number, rest: &[&[u8]]| {
        let node = b"\x01\x10IIIIIIIIIIIIIIII\x0D\x0D\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xFF";
        let parts = [
            &b"REDIS0014\xFE\x00"[..],
            &[number],
            b"\x01k",
            node,
            b"\x07\x01\x00",
        ];
        Made {
            bytes: ended([&parts.concat()[..], &rest.concat()].concat()),
            behind: 0,
            keys: vec![(0, b"k", "stream", Some(7))],
        }
    };
    let offsets = b"\x01\x00\x00\x00\x09";
    let producers = b"\x0A\x14\x01\x01p\x01\x01i\x01\x00\x02\x03";
    let refused = b"\x01IIIIIIIIIIIIIIII";
    let k = |database| (database, &b"k"[..], "string", Some(1));
    let made = |bytes: &[u8], keys| Made {
        bytes: ended(bytes.to_vec()),
        behind: 0,
        keys,
    };
    let captured = |before: &[u8], behind: &[u8]| Made {
        bytes: [
            before,
            &ended(b"REDIS0009\xFE\x00\x00\x01k\x01v".to_vec()),
            behind,
        ]
        .concat(),
        behind: behind.len(),
        keys: vec![k(0)],
    };
    vec![
        stream(15, &[GROUP_5]),
        stream(19, &[offsets, GROUP_7]),
        stream(21, &[offsets, GROUP_7_2]),
        stream(26, &[offsets, GROUP_7_2, producers]),
        stream(27, &[offsets, GROUP_7_2, refused, producers]),
        made(b"REDIS0013\xFE\x00\xF3\x01\x11\x22\x33\x44\x02\x05\x00\x00\x01k\x01v", vec![k(0)]),
        made(
            &[&b"VALKEY080\xF3\x28"[..], &[b'a'; 40], b"\x01\x05\x0A\xFE\x00\x00\x01k\x01v"].concat(),
            vec![k(0)],
        ),
        made(
            b"VALKEY080\xFE\x00\xFB\x01\x00\xFA\x09slot-info\x087629,1,0\x00\x01k\x01v",
            vec![k(0)],
        ),
        made(b"REDIS0012\xFE\x00\xFB\x01\x00\xF4\x5D\xCD\x01\x00\x00\x01k\x01v", vec![k(0)]),
        // Expiry in seconds and in milliseconds, LFU and idle time, and two databases.
        made(
            b"REDIS0009\xFA\x05ctime\xC2\x00\x00\x00\x70\xFE\x00\xFD\x01\x00\x00\x00\x00\x01k\x01v\xFE\x03\
              \xFC\x01\x02\x03\x04\x05\x06\x00\x00\xF9\xFF\xF8\x41\x00\x00\x01k\x01v",
            vec![k(0), k(3)],
        ),
        // A module's fields, functions, the opcodes of Redis Enterprise.
        made(
            b"REDIS0010\xF7\x81\x26\x11\xa2\xa2\x5d\x24\x48\x00\x02\x02\x05\x03abc\x00\xF5\x04code\xFE\x00\x6B\x05\x79\x06\x00\x01k\x01v",
            vec![k(0)],
        ),
        // Keys encoded as integers and as LZF.
        made(
            b"REDIS0009\xFE\x00\x00\xC1\x39\x30\x01v\x00\xC3\x08\x0D\x01ab\xE0\x01\x01\x00c\x01v",
            vec![(0, b"12345", "string", Some(1)), (0, b"ababababababc", "string", Some(1))],
        ),
        captured(b"$26\r\n", b""),
        captured(&[&b"$EOF:"[..], &[b'm'; 40], b"\r\n"].concat(), &[b'm'; 40]),
        captured(b"", b"*1\r\n$4\r\nPING\r\n"),
    ]
}

/// The keys and remarks of a walk, and its end.
pub fn walked(input: Forward, verifies: bool) -> (Vec<String>, Option<(u64, String)>) {
    let mut walker = Walker::new(input, verifies, Allocator::default());
    let (mut found, mut end) = (Vec::new(), 0);
    loop {
        match walker.next_event() {
            Ok(Some(Event::Key(record))) => {
                assert!(record.offset >= end && record.bytes > 1, "records in order");
                end = record.offset + record.bytes;
                found.push(format!("{record:?}"));
            }
            Ok(Some(Event::Remark(remark))) => found.push(format!("{remark:?}")),
            Ok(None) => return (found, None),
            Err(damage) => {
                assert!(
                    walker.next_event().is_ok_and(|more| more.is_none()),
                    "an error is the end"
                );
                return (found, Some((damage.offset, spelled(&damage.what, None))));
            }
        }
    }
}

/// Walks over `bytes` as a file and as a stream, with and without the checksum; returns whether anything was found.
pub fn walk(bytes: &[u8]) -> bool {
    let file = || Forward::open(&*memory("dump.rdb", bytes)).expect("memory can be opened");
    let stream = || Forward::stream(Box::new(Cursor::new(bytes.to_vec())));
    let found = [true, false].map(|verifies| {
        let found = walked(file(), verifies);
        assert!(
            found == walked(stream(), verifies),
            "a file and a stream differ"
        );
        found
    });
    let keys = |found: &[String]| found.iter().filter(|row| row.starts_with("Record")).count();
    assert_eq!(
        keys(&found[0].0),
        keys(&found[1].0),
        "the checksum changes keys"
    );
    keys(&found[0].0) > 0
}
