//! Hash tags and their key counts, with error bounds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Errors, Load, Metric, PerMetric};
use slotscope_base::name::Name;

/// The hash tags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tags {
    /// The listed counts are exact. The list may lack tags that are heavier than its last rows: see `max_error`.
    pub exact: bool,
    /// No tag that is not listed holds more than this, in the metric that they are listed by.
    pub max_error: u64,
    /// How many of the first rows no tag that is not listed outweighs; absent where that is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certain: Option<u64>,
    /// Distinct tags.
    #[serde(default)]
    pub distinct: u64,
    /// 0: exact; else the relative standard error of `distinct`.
    #[serde(default)]
    pub distinct_error: f64,
    /// Keys that have a tag.
    #[serde(default)]
    pub tagged_keys: u64,
    /// The heaviest tags, ties by name.
    pub top: Vec<Tag>,
    /// No tag that is not among the heaviest of a metric holds more of it than this.
    #[serde(skip)]
    pub bounds: Load,
    /// The heaviest by each metric.
    #[serde(skip)]
    pub heaviest: PerMetric<Vec<Tag>>,
    /// Sum of the squared loads of all tags.
    #[serde(skip)]
    pub squares: PerMetric<f64>,
    /// Tags of the hottest slots, by slot, heaviest first.
    #[serde(skip)]
    pub by_slot: BTreeMap<u16, Vec<TagLoad>>,
}

/// A hash tag and its load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Tag {
    /// Its bytes.
    pub tag: Name,
    /// The slot it hashes to.
    #[serde(default)]
    pub slot: u16,
    /// The node that owns that slot.
    pub node: Option<Name>,
    /// Its load; lower bounds.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// It holds at most so much more.
    #[serde(flatten)]
    pub errors: Errors,
    /// Its share of the load of all keys, in the metric that tags are listed by.
    #[serde(default)]
    pub share: f64,
}

impl Tag {
    /// Upper bound on its load in a metric beyond the counted value.
    pub fn error(&self, metric: Metric) -> u64 {
        self.errors.0.get(metric).copied().unwrap_or(0)
    }
}

/// A tag and its load, in a list about something else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TagLoad {
    /// Its bytes.
    pub tag: Name,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
}
