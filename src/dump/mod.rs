//! The keys of RDB files, one per line, in the order of the file.

pub(crate) mod view;

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::calendar::utc;
use slotscope_engine::format::batch::MISSING;
use slotscope_engine::format::rdb::snapshot::record::Record;
use slotscope_engine::name::Name;
use slotscope_engine::scan::filter::KeyFacts;

/// A key of an RDB file; the fields are those of a line of the JSON and the columns of the CSV.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct RecordLine {
    /// The key.
    pub key: Name,
    /// The number of its database.
    pub db: u64,
    /// The reply to TYPE.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The reply to OBJECT ENCODING for a value that is stored so; absent if only a module knows.
    pub encoding: Option<&'static str>,
    /// How many elements it has; absent where only a module knows, and of a damaged value.
    pub elements: Option<u64>,
    /// Bytes it takes in the file, with its expiry and its name.
    pub bytes: u64,
    /// Bytes it takes in memory, estimated as the server that wrote the file counts; absent where only a module knows.
    pub memory: Option<u64>,
    /// When it expires, in UTC.
    pub expiry: Option<String>,
    /// Its LFU counter, a logarithmic rank from 0 to 255.
    pub lfu: Option<u8>,
    /// Seconds since it was last used.
    pub idle: Option<u64>,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    pub tag: Option<Name>,
}

/// The fields of a record that filters use; size is in memory.
pub(crate) fn facts<'a>(record: &'a Record<'_>) -> KeyFacts<'a> {
    KeyFacts {
        name: record.key,
        kind: record.type_name.as_bytes(),
        size: record.memory.unwrap_or(MISSING),
        expiry: record.attributes.expiry(),
    }
}

impl RecordLine {
    pub(crate) fn of(record: &Record<'_>) -> Self {
        let attributes = &record.attributes;
        RecordLine {
            key: Name::from(record.key),
            db: record.database,
            type_name: record.type_name.to_string(),
            encoding: Some(record.encoding).filter(|name| !name.is_empty()),
            elements: record.elements.known(),
            bytes: record.bytes,
            memory: record.memory,
            expiry: attributes.expires_ms.map(utc),
            lfu: attributes.lfu,
            idle: attributes.idle_secs,
            slot: hashslot::slot(record.key),
            tag: hashslot::tag(record.key).map(|tag| Name::from(&record.key[tag])),
        }
    }
}
