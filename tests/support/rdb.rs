//! The keys of an RDB file in a comparable form.

use std::io::Cursor;

use slotscope::format::rdb::snapshot::allocator::Allocator;
use slotscope::format::rdb::snapshot::elements::Elements;
use slotscope::format::rdb::snapshot::record::{Event, Remark};
use slotscope::format::rdb::snapshot::walk::Walker;
use slotscope::name::Name;
use slotscope::redact::spelled;
use slotscope::source::forward::Forward;

/// A key in a comparable form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
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

/// All keys and remarks of a file, and the position at which reading failed.
pub fn found(bytes: &[u8]) -> (Vec<Found>, Vec<Remark>, Option<(u64, String)>) {
    found_with(bytes, Allocator::default())
}

/// Like `found`, with the memory of a server with this allocator.
pub fn found_with(
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

/// The tolerance for the sum of an encoding's estimates, in percent.
pub fn most(type_name: &str, encoding: &str) -> f64 {
    match (type_name, encoding) {
        ("stream", _) => 15.0,
        (_, "hashtable" | "skiplist") => 5.0,
        _ => 7.0,
    }
}

/// An RDB file with strings as a server writes it, but without a checksum; keys have up to 63 bytes.
#[derive(Debug, Default, Clone, Copy)]
pub struct Snapshot {
    /// The second in which it was written.
    pub written: Option<u32>,
    /// Whether each key is in the section of its slot, as in clusters.
    pub headers: bool,
}

impl Snapshot {
    /// The file with these keys, each with the millisecond in which it expires.
    pub fn of<K: AsRef<[u8]>>(self, keys: impl IntoIterator<Item = (K, Option<u64>)>) -> Vec<u8> {
        let mut bytes = b"REDIS0012".to_vec();
        if let Some(written) = self.written {
            bytes.extend(b"\xFA\x05ctime\xC2");
            bytes.extend(written.to_le_bytes());
        }
        bytes.extend(b"\xFE\x00");
        for (key, expires_ms) in keys {
            let key = key.as_ref();
            if self.headers {
                let slot = slotscope::slot(key);
                bytes.extend([0xF4, 0x40 | (slot >> 8) as u8, slot as u8, 1, 0]);
            }
            if let Some(at) = expires_ms {
                bytes.push(0xFC);
                bytes.extend(at.to_le_bytes());
            }
            bytes.extend([0, key.len() as u8]);
            bytes.extend(key);
            bytes.extend(b"\x05value");
        }
        bytes.push(0xFF);
        bytes.extend([0; 8]);
        bytes
    }
}
