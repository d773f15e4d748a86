//! The report as values: what report.json holds, and what readers of it ask for. Nothing here is computed from counts.
//!
//! The fields are those of report.json, with the same order and names; findings fills them, report makes files of them.
#![deny(missing_docs)]

#[doc(hidden)]
pub mod balance;
pub mod bands;
pub mod capacity;
pub mod cause;
#[doc(hidden)]
pub mod compared;
pub mod coverage;
pub mod expiry;
pub mod extremes;
pub mod finding;
pub mod headroom;
#[doc(hidden)]
pub mod hot_slots;
pub mod independent_units;
pub mod input_facts;
#[doc(hidden)]
pub mod integrity;
pub mod keys;
pub mod kinds;
#[doc(hidden)]
pub mod limit;
pub mod logged;
pub mod measure;
pub mod node_counts;
#[doc(hidden)]
pub mod node_labels;
pub mod nodes;
pub mod operations;
pub mod patterns;
#[doc(hidden)]
pub mod quantiles;
pub mod reason;
pub mod recency;
#[doc(hidden)]
pub mod redacted;
pub mod role_load;
pub mod role_verdict;
pub mod run;
pub mod standing;
pub mod state;
pub mod step;
pub mod tags;
pub mod verdict;
#[doc(hidden)]
pub mod words;

use serde::{Deserialize, Serialize};

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;

use crate::balance::Balance;
use crate::capacity::Capacity;
use crate::coverage::Coverage;
use crate::expiry::Expiry;
use crate::headroom::Headroom;
use crate::independent_units::Units;
pub use crate::input_facts::{
    FileFacts, Filtered, FirstKey, Incomplete, InputFacts, ObjectFacts, Rejected, RejectedLine,
    Sizes, UnreadableValues,
};
use crate::keys::{DatabaseLoad, Keys, TypeLoad};
use crate::kinds::{EncodingLoad, LargeKey};
use crate::nodes::Nodes;
use crate::patterns::{KeyGroups, Pattern, Prefix};
use crate::quantiles::{Quantiles, TagSizes};
use crate::recency::{IdleLoad, LfuLoad};
use crate::role_load::{Asked, RoleLoad};
pub use crate::run::{Dumped, Run};
use crate::tags::{TagLoad, Tags};
use crate::verdict::Verdict;

/// Schema name and version of report.json.
pub const SCHEMA: &str = "slotscope.report/3";

/// All findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Summary {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// How the report was made; the only part that differs from run to run.
    #[serde(default)]
    pub run: Run,
    /// Facts about the input.
    pub input: InputFacts,
    /// The part of the cluster that was seen.
    #[serde(default)]
    pub coverage: Coverage,
    /// The 16384 hash slots.
    pub slots: Slots,
    /// The primaries.
    pub nodes: Nodes,
    /// The hash tags; absent with `--only slots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Tags>,
    /// The heaviest keys; absent where the input weighs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<Keys>,
    /// Prefixes of key names; absent if they are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<KeyGroups<Prefix>>,
    /// Key names without their ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patterns: Option<KeyGroups<Pattern>>,
    /// Keys by type, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<TypeLoad>>,
    /// Keys by type and encoding, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encodings: Option<Vec<EncodingLoad>>,
    /// The keys with most elements, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<Vec<LargeKey>>,
    /// When keys expire, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Expiry>,
    /// Keys by idle time, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Vec<IdleLoad>>,
    /// Keys by LFU counter, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lfu: Option<Vec<LfuLoad>>,
    /// Operations on keys, where captures are among the inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<operations::Operations>,
    /// Keys in lists of extremes, if such lists are among the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extremes: Vec<extremes::ExtremeKeys>,
    /// The slots that took most CPU time, with keys, where a collection measured its load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot_slots: Vec<hot_slots::SlotAtWork>,
    /// The keys that took most CPU time, where a collection measured its load and servers have HOTKEYS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hot_keys: Vec<hot_slots::HotKeyAtWork>,
    /// The commands that servers logged as slow or large while a collection measured its load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logged: Option<logged::LoggedAtWork>,
    /// Keys without expiry, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_expiry: Option<u64>,
    /// Keys by database, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub databases: Option<Vec<DatabaseLoad>>,
    /// Key lengths in bytes; absent with `--only slots`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Quantiles>,
    /// Key sizes in bytes, where the input has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Quantiles>,
    /// Keys by hash tag; absent where no key has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_sizes: Option<TagSizes>,
    /// The room that nodes have, where the user says how much there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// The verdict.
    pub verdict: Verdict,
    /// The independent units and their known weights.
    #[serde(skip)]
    pub units: Units,
    /// The loads of the verdict's roles.
    #[serde(skip)]
    pub role_loads: Vec<RoleLoad>,
    /// The loads of roles that the user did not choose: no step may make them worse.
    #[serde(skip)]
    pub guarded_loads: Vec<RoleLoad>,
    /// The user's settings of the verdict.
    #[serde(skip)]
    pub asked: Asked,
    /// How near the nodes are to their limits.
    #[serde(skip)]
    pub headroom: Headroom,
    /// The metric of the tables.
    #[serde(default)]
    pub by: Metric,
    /// Rows that tables for people show.
    #[serde(skip)]
    pub rows: usize,
}

/// Loads by slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Slots {
    /// The load of each of the 16384 slots, by metric.
    #[serde(flatten)]
    pub loads: PerMetric<Vec<u64>>,
    /// Their balance.
    pub stats: PerMetric<Balance>,
    /// The slots with the largest load.
    #[serde(default)]
    pub hottest: Vec<HotSlot>,
}

/// One of the fullest slots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct HotSlot {
    /// Its number.
    pub slot: u16,
    /// The node that owns it.
    pub node: Option<Name>,
    /// Its load.
    #[serde(flatten)]
    pub load: PerMetric<u64>,
    /// Its load over that of the average slot, in the metric of the verdict.
    #[serde(default)]
    pub over_mean: f64,
    /// The tags that fill it, heaviest first.
    #[serde(default)]
    pub top_tags: Vec<TagLoad>,
    /// Its busiest keys without a hash tag, where captures show them and the list is by operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_keys: Vec<operations::KeyOps>,
}
