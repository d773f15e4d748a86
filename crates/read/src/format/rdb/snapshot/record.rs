//! The records and remarks produced by a walk over an RDB file.

use std::borrow::Cow;

use slotscope_base::batch::{LEFT, NEVER};

use crate::format::Notice;
use crate::format::rdb::snapshot::elements::Elements;

/// A key and its known attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<'a> {
    /// Its name.
    pub key: &'a [u8],
    /// The number of its database.
    pub database: u64,
    /// The reply to TYPE.
    pub type_name: Cow<'static, str>,
    /// The reply to OBJECT ENCODING for a value stored this way; empty if only a module knows.
    pub encoding: &'static str,
    /// The number of its elements.
    pub elements: Elements,
    /// Its approximate MEMORY USAGE; `None` if only a module knows.
    pub memory: Option<u64>,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its offset in the file; that of its expiry, if it has one.
    pub offset: u64,
    /// Its size in the file.
    pub bytes: u64,
    /// Whether it had expired when the file was written.
    pub has_expired: bool,
    /// Whether its slot was being imported from another node.
    pub is_imported: bool,
}

/// The attributes written before a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Its expiry time, in milliseconds since 1970.
    pub expires_ms: Option<i64>,
    /// Its LFU counter.
    pub lfu: Option<u8>,
    /// Its idle time in seconds.
    pub idle_secs: Option<u64>,
}

impl Attributes {
    /// Its expiry, as in `Number::Expiry`.
    pub fn expiry(&self) -> u64 {
        self.expires_ms.map_or(NEVER, |at| {
            // A time before 1970 has passed too.
            u64::try_from(at).unwrap_or(0).min(LEFT - 1)
        })
    }
}

/// Something odd about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The notice it is counted under.
    pub notice: Notice,
    /// The number of occurrences.
    pub count: u64,
    /// Its offset.
    pub offset: u64,
    /// A description.
    pub what: String,
}

/// An event of a walk.
#[derive(Debug)]
pub enum Event<'a> {
    /// A key.
    Key(Record<'a>),
    /// Something odd.
    Remark(Remark),
}
