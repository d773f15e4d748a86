//! Operations in captures over time, or CPU time and network traffic from CLUSTER SLOT-STATS: by slot, by the heaviest
//! tags, and bursts.

mod bursts;
mod counts;
mod grid;
mod names;
mod nodes;
pub(crate) mod outputs;
mod picture;
mod reading;
mod redacted;
mod series;
pub(crate) mod view;

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_model::{Incomplete, Rejected};
use slotscope_report::view::Heat;

pub(crate) use crate::timeline::reading::{Options, read};

/// Schema name and version.
pub(crate) const SCHEMA: &str = "slotscope.timeline/2";
/// Slots per row.
pub(crate) const SLOTS_PER_ROW: usize = 64;

/// Operations over time, or with `by` CPU time in microseconds or bytes of network traffic: all `ops` are such amounts
/// then, and all rates such amounts a second. All lists of numbers over time have one for each bucket.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The measured kind of load.
    pub by: Heat,
    /// Operations that have a time.
    pub ops: u64,
    /// Seconds of a bucket.
    pub bucket_secs: u64,
    /// The buckets in the order of time.
    pub buckets: Vec<Bucket>,
    /// Slots over time.
    pub slots: SlotsOverTime,
    /// The nodes; absent if none are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeOverTime>>,
    /// The heaviest tags; absent where the input cannot be read twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<TagOverTime>>,
    /// Times in which a slot has far more operations than usual, those with the most first.
    pub bursts: Vec<Burst>,
    /// How many more there are.
    pub more_bursts: u64,
    /// Operations without a time, which are not counted.
    pub untimed: u64,
    /// Lines that are not an operation.
    pub rejected: Rejected,
    /// Where inputs could not be read to their end.
    pub incomplete: Vec<Incomplete>,
    /// Limits of the result.
    pub notes: Vec<String>,
}

/// A span of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bucket {
    /// Its start, in seconds since 1970 (UTC).
    pub from: u64,
    /// Its end, which is not in it.
    pub to: u64,
    /// Its operations.
    pub ops: u64,
}

/// Slots over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SlotsOverTime {
    /// Slots that share a row: row 0 has slots 0 to one less than that.
    pub slots_per_row: usize,
    /// The operations of each row by bucket.
    pub ops: Vec<Vec<u64>>,
}

/// A node over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct NodeOverTime {
    /// Its id in the cluster.
    pub id: Name,
    /// Its display name.
    pub name: Name,
    /// Its slots as first and last, both included.
    pub ranges: Vec<(u16, u16)>,
    /// Its operations.
    pub ops: u64,
    /// By bucket.
    pub over_time: Vec<u64>,
}

/// A hash tag over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TagOverTime {
    /// The tag.
    pub tag: Name,
    /// Its slot.
    pub slot: u16,
    /// The name of its node, where nodes are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// Its operations.
    pub ops: u64,
    /// Their share of all.
    pub share: f64,
    /// By bucket.
    pub over_time: Vec<u64>,
}

/// A time in which a slot has far more operations than usual.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Burst {
    /// The tag that has at least half of its operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Name>,
    /// The key without a tag that has at least half of its operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
    /// The slot.
    pub slot: u16,
    /// The name of its node, where nodes are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// Its start, in seconds since 1970 (UTC), to a bucket.
    pub from: u64,
    /// Its end, which is not in it.
    pub to: u64,
    /// The operations on the slot meanwhile.
    pub ops: u64,
    /// Their share of the operations on the node; on all slots where no nodes are named.
    pub share: f64,
    /// Operations a second.
    pub rate: f64,
    /// The usual operations a second: the median of the slot.
    pub usual_rate: f64,
    /// At least how many times the usual the rate is.
    pub times_usual: f64,
}
