//! The keys of RDB files, a line each, in the order of the file.

pub mod view;

use schemars::JsonSchema;
use serde::Serialize;

use crate::calendar::date;
use crate::format::rdb::snapshot::record::Record;
use crate::name::Name;

/// A key of an RDB file; the fields are those of a line of the JSON and the columns of the CSV.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RecordLine {
    /// The key.
    pub key: Name,
    /// The number of its database.
    pub db: u64,
    /// What TYPE answers.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What OBJECT ENCODING answers of a value that is stored so; absent where only a module knows.
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

impl RecordLine {
    /// The line of a record.
    pub fn of(record: &Record<'_>) -> Self {
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

/// A time in milliseconds since 1970 as `2026-03-01T12:00:00.000Z`.
pub fn utc(ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    let (days, rest) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = date(days);
    let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
    let (seconds, ms) = (rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_the_one_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(utc(1000 * seconds), text);
        }
        assert_eq!(utc(1_645_164_929_123), "2022-02-18T06:15:29.123Z");
        // What no server means is a time all the same.
        assert!(utc(i64::MAX).starts_with("292278994-08-17") && utc(i64::MIN).starts_with('-'));
    }
}
