//! The keys of an RDB file, as tests compare them.

use std::io::Cursor;

use slotscope::format::rdb::snapshot::allocator::Allocator;
use slotscope::format::rdb::snapshot::elements::Elements;
use slotscope::format::rdb::snapshot::record::{Event, Remark};
use slotscope::format::rdb::snapshot::walk::Walker;
use slotscope::name::Name;
use slotscope::redact::spelled;
use slotscope::source::forward::Forward;

/// A key, as tests compare it.
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

/// All keys and remarks of a file, and where it cannot be read on.
pub fn found(bytes: &[u8]) -> (Vec<Found>, Vec<Remark>, Option<(u64, String)>) {
    found_with(bytes, Allocator::default())
}

/// As `found`, with the memory of a server with this allocator.
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

/// How far the sum of the estimates of an encoding may be off, in percent.
pub fn most(type_name: &str, encoding: &str) -> f64 {
    match (type_name, encoding) {
        ("stream", _) => 15.0,
        (_, "hashtable" | "skiplist") => 5.0,
        _ => 7.0,
    }
}
