//! Patterns of key names and their prefixes: the kinds of keys, and how much each holds.
//!
//! Prefixes are rolled up from patterns level by level, stopping before the first level with an id: patterns cover the
//! levels below. Separators inside the hash tag do not split.

use serde::{Deserialize, Serialize};

use slotscope_base::metric::PerMetric;
use slotscope_base::name::Name;

/// Patterns or prefixes and their load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "KeyGroups_of_{R}"))]
pub struct KeyGroups<R> {
    /// The counts are exact, and no row that is not listed holds more than `max_error`. Where it is false, there are too
    /// many patterns for any list.
    pub exact: bool,
    /// No row that is not listed holds more than this, in the metric that they are listed by.
    pub max_error: u64,
    /// 0: ids are those of the rules. More: there are more patterns than can be counted, and coarser ones are: words with
    /// a digit or of mixed case are ids too (1), and all words from the third segment on (2), from the second (3), or all (4).
    #[serde(default)]
    pub coarseness: u8,
    /// The heaviest, ties by name.
    pub top: Vec<R>,
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Pattern {
    /// Key names with marks in place of ids.
    pub pattern: Name,
    /// The load of its keys.
    #[serde(flatten)]
    pub kind: GroupLoad,
}

/// A prefix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Prefix {
    /// The first segments of key names.
    pub prefix: Name,
    /// How many segments.
    #[serde(default)]
    pub level: usize,
    /// The load of its keys.
    #[serde(flatten)]
    pub kind: GroupLoad,
}

/// The load of the keys of a pattern or prefix.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GroupLoad {
    /// Exact.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// The part of the load of all keys, in the metric of the table.
    pub share: f64,
    /// The part of its keys that have a hash tag.
    pub tagged_share: f64,
    /// Slots that its keys are in; `None` where there were too many patterns to count.
    pub slots: Option<u64>,
    /// The part of its keys that do not expire; absent where the input does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_expiry_share: Option<f64>,
}
