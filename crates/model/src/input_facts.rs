//! Facts about the input: its files, their content, and unread parts.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::PerWeight;
use slotscope_base::name::Name;
use slotscope_read::format::{LineBy, Lost};

use crate::coverage::Lack;
use crate::integrity::Integrity;

/// Facts about the input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct InputFacts {
    /// The keys that a filter left out; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filtered>,
    /// The inputs, in their order.
    pub files: Vec<FileFacts>,
    /// All keys.
    pub keys: u64,
    /// All bytes.
    pub bytes_read: u64,
    /// How many keys have a known weight, by metric.
    pub weights: PerWeight<u64>,
    /// The part of the keys that came before already. Absent with `--only slots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_share: Option<f64>,
    /// Whether all keys were compared for it; otherwise it is an estimate from the keys of some slots, in which a key
    /// counts four times at most.
    pub duplicate_share_exact: bool,
    /// Lines that are not keys.
    pub rejected: Rejected,
    /// Values of keys that could not be read: the keys count without them, and what they belong to is not judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable_values: Vec<UnreadableValues>,
    /// Lines in which redis-cli or a server reports an error: a scan broke off.
    pub error_lines: u64,
    /// When the newest dump was written, in seconds since 1970, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The hash policy, where it is not that of servers; of redacted reports without its patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Name>,
    /// The meaning of the sizes of RDB files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// The elements above which servers estimated the size of a value, from a sample that differs from run to run; absent
    /// where they did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_above: Option<u64>,
    /// The percentage of slots that were collected, where it was a sample of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_percent: Option<f64>,
    /// Whether each file is a dump of one node, by its slots.
    #[serde(skip)]
    pub are_one_node_each: bool,
    /// Signs of damage in the files themselves, which `evidence` takes.
    #[serde(skip)]
    pub of_files: Vec<Integrity>,
    /// The lacks of the input as a whole.
    #[serde(skip)]
    pub lacks: Vec<Lack>,
    /// A sign that the dump lacks keys, provided that the even split matches the cluster. Such a dump gives no causes of
    /// skew and no plan.
    #[serde(skip)]
    pub doubt: Option<Integrity>,
    /// Places after which an input could not be read.
    pub incomplete: Vec<Incomplete>,
    /// Evidence that the dump is not what it should be.
    pub warnings: Vec<String>,
    /// Notes on what the formats cannot show.
    pub notes: Vec<String>,
}

/// The keys that a filter left out: all other numbers are of the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Filtered {
    /// The filter as flags; of redacted reports without the patterns.
    pub flags: Name,
    /// Keys.
    pub keys: u64,
    /// Operations, of captures.
    pub operations: u64,
    /// Bytes of the keys, where sizes are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The meaning of the sizes of RDB files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Sizes {
    /// Estimates of the memory that a server uses.
    Memory,
    /// Bytes in the file.
    Serialized,
}

/// One input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FileFacts {
    /// As the user named it.
    pub name: Name,
    /// The form it is in.
    pub format: String,
    /// The shape of its lines, where its form is told by that; absent for raw keys.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub shape: String,
    /// The pattern of its lines, as `--line` takes it; absent where the form has a grammar of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// How that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_by: Option<LineBy>,
    /// The first key as it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstKey>,
    /// Bytes.
    pub bytes: u64,
    /// Keys.
    pub keys: u64,
    /// Keys in it that were not wanted.
    #[serde(skip)]
    pub left_out: u64,
    /// Whether it holds commands of clients, or is the capture of a node that ran none.
    #[serde(skip)]
    pub is_capture: bool,
    /// The node that it is a capture of, and for how many seconds, by the collection that it is in.
    #[serde(skip)]
    pub captured: Option<(Name, f64)>,
    /// Whether it is an RDB file of a server in cluster mode, with a header for each slot.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_cluster: bool,
    /// When it was written, in seconds since 1970, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The version of the object, if the file is in an object store or on a web server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectFacts>,
}

/// The first key of an input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FirstKey {
    /// Its name, the first 512 bytes.
    pub key: Name,
    /// Its size in bytes, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl FileFacts {
    /// The server that actually answered, if it is not the one named.
    pub fn answered_by(&self) -> Option<&Name> {
        self.object.as_ref()?.answered_by.as_ref()
    }
}

/// The version of an object that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ObjectFacts {
    /// Its length; bytes of the input are those after decompression.
    pub size_bytes: u64,
    /// Its entity tag, as the server spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<Name>,
    /// Host and port of the server that sent it, where a redirect led to another than was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<Name>,
}

/// Lines that are not keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Rejected {
    /// How many.
    pub count: u64,
    /// The first five.
    pub first: Vec<RejectedLine>,
}

/// Values of one kind that could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct UnreadableValues {
    /// Their kind.
    pub role: Lost,
    /// How many.
    pub count: u64,
    /// The first of them, which is the reason.
    pub first: RejectedLine,
}

/// A line that is not a key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RejectedLine {
    /// The input it is in.
    pub file: Name,
    /// Its number, from 1; absent where the input cannot be read again to count.
    pub line: Option<u64>,
    /// Its offset in bytes.
    pub byte: u64,
    /// The reason.
    pub reason: String,
}

/// A place after which an input could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Incomplete {
    /// The input.
    pub file: Name,
    /// Offset in bytes.
    pub byte: u64,
    /// Why.
    pub reason: String,
}
