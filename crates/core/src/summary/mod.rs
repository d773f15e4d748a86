//! Stage 5, FINDINGS: tallies and a topology come in, the numbers of the report go out. No I/O.
//!
//! The fields are those of report.json, in its order and with its names.

pub mod balance;
pub mod capacity;
pub mod cause;
pub mod evidence;
pub mod expiry;
pub mod explanation;
pub mod extremes;
pub mod independent_units;
pub mod integrity;
pub mod judge;
pub mod keys;
pub mod kinds;
pub mod model;
pub mod node_counts;
pub mod nodes;
pub mod operations;
pub mod patterns;
pub mod quantiles;
pub mod recency;
pub mod remedy;
pub mod risk;
pub mod run;
pub mod scaling;
mod siblings;
pub mod split;
pub mod tags;
pub mod unit_sizes;
pub mod verdict;
pub mod worded;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::{Metric, PerMetric, PerWeight};
use crate::name::Name;
use crate::redact::Redaction;
use crate::slot::SLOTS;
use crate::summary::balance::{Balance, tidy};
use crate::summary::capacity::Capacity;
use crate::summary::evidence::Evidence;
use crate::summary::expiry::Expiry;
use crate::summary::independent_units::Units;
use crate::summary::keys::{DatabaseKeys, Keys, TypeLoad};
use crate::summary::kinds::{EncodingLoad, LargeKey};
use crate::summary::model::rehash;
use crate::summary::nodes::Nodes;
use crate::summary::patterns::{KeyGroups, Levels, Pattern, Prefix};
use crate::summary::quantiles::{Quantiles, TagSizes};
use crate::summary::recency::{IdleLoad, LfuLoad};
pub use crate::summary::run::{Dumped, Run};
use crate::summary::tags::{RowContext, TagLoad, Tags};
use crate::summary::verdict::Verdict;
use crate::summary::worded::Worded;
use crate::tally::Tallies;
use crate::tally::recount::{Recount, hottest};
use crate::topology::Topology;

/// The name and version of the form of report.json.
pub const SCHEMA: &str = "slotscope.report/2";

/// All findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The name and version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// How the report was made; the only part that differs from run to run.
    #[serde(default)]
    pub run: Run,
    /// What was read.
    pub input: InputFacts,
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
    /// What key names begin with; absent where they are not counted.
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
    /// What lists of extremes say of keys, where they are among the inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extremes: Vec<extremes::ExtremeKeys>,
    /// Keys without expiry, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_expiry: Option<u64>,
    /// Keys by database, where the input has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub databases: Option<Vec<DatabaseKeys>>,
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
    /// The independent units and what is known of them.
    #[serde(skip)]
    pub units: Units,
    /// The metric of the tables.
    #[serde(default)]
    pub by: Metric,
    /// Rows that tables for people show.
    #[serde(skip)]
    pub rows: usize,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InputFacts {
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
    /// Lines that are no keys.
    pub rejected: Rejected,
    /// Those of them in which redis-cli or a server reports an error: a scan broke off.
    pub error_lines: u64,
    /// When the newest dump was written, in seconds since 1970, where it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The hash policy, where it is not that of servers; of redacted reports without its patterns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Name>,
    /// What the sizes of RDB files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// The percentage of slots that were collected, where it was a sample of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_percent: Option<f64>,
    /// Places after which an input could not be read.
    pub incomplete: Vec<Incomplete>,
    /// Evidence that the dump is not what it should be.
    pub warnings: Vec<Worded<Evidence>>,
    /// What the forms that were read cannot show.
    pub notes: Vec<String>,
}

/// What the sizes of RDB files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sizes {
    /// Estimates of the memory that a server uses.
    Memory,
    /// Bytes in the file.
    Serialized,
}

/// One input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FileFacts {
    /// As the user named it.
    pub name: Name,
    /// The form it is in.
    pub format: String,
    /// Bytes.
    pub bytes: u64,
    /// Keys.
    pub keys: u64,
    /// Whether it is an RDB file of a server in cluster mode, with a header for each slot.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_cluster: bool,
    /// Which version of an object it is, where it is in an object store or on a web server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectFacts>,
}

/// The version of an object that was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ObjectFacts {
    /// Its length; bytes of the input are those behind decompression.
    pub size_bytes: u64,
    /// Its entity tag, as the server spells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<Name>,
}

/// Lines that are no keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Rejected {
    /// How many.
    pub count: u64,
    /// The first five.
    pub first: Vec<RejectedLine>,
}

/// A line that is no key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedLine {
    /// The input it is in.
    pub file: Name,
    /// Its number, from 1; absent where the input cannot be read again to count.
    pub line: Option<u64>,
    /// Its offset in bytes.
    pub byte: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A place after which an input could not be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Incomplete {
    /// The input.
    pub file: Name,
    /// Offset in bytes.
    pub byte: u64,
    /// Why.
    pub reason: String,
}

/// Loads by slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// What is listed, and how.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    /// The metric of the tables; that of the verdict where there is none, and keys where the input does not carry it.
    pub by: Option<Metric>,
    /// How keys are split into prefixes.
    pub levels: Levels<'a>,
    /// Rows that tables for people show.
    pub rows: usize,
    /// Names that are not to be shown are replaced by it; those of nodes and files are replaced elsewhere.
    pub redaction: Option<&'a Redaction>,
}

impl From<Metric> for Listing<'_> {
    fn from(by: Metric) -> Self {
        Listing {
            by: Some(by),
            levels: Levels {
                separator: b":",
                depth: 4,
            },
            rows: 20,
            redaction: None,
        }
    }
}

/// Makes the findings, the verdict and the tables. `recount` is the second pass, where there was one.
pub fn summarise<'l>(
    tallies: &Tallies,
    recount: Option<&Recount>,
    topology: &Topology,
    listing: impl Into<Listing<'l>>,
    input: InputFacts,
) -> Summary {
    let listing = listing.into();
    let loads = &tallies.slots.loads;
    let totals = loads.map(|_, loads| balance::sum(loads));
    let owner = |slot: u16| {
        topology
            .owner(slot)
            .map(|node| Name::from(topology.nodes[node].id.as_str()))
    };
    let redaction = listing.redaction;
    let shown =
        |name: &Name| redaction.map_or_else(|| name.clone(), |redaction| redaction.name(name));
    let hot = |by: Metric| -> Vec<u16> {
        let hottest = loads
            .get(by)
            .map(|loads| hottest(loads).map(|slot| slot as u16));
        hottest.map(Iterator::collect).unwrap_or_default()
    };
    let names = tallies.names.as_ref();
    let tag_sizes = names.and_then(|names| TagSizes::of(&names.tags));
    // What the verdict needs of tags and keys does not depend on the metric that they are listed by.
    let listed = |by: Metric| {
        let slots = hot(by);
        let context = RowContext {
            totals: &totals,
            by,
            slots: &slots,
            owner: &owner,
            shown: &shown,
        };
        let tags = names.map(|names| Tags::of(&names.tags, recount, &context));
        let keys = names.and_then(|names| Keys::of(&names.heaviest, &context));
        let hottest = hot_slots(loads, &context, tags.as_ref());
        (tags, keys, hottest)
    };
    let (tags, keys, hottest) = listed(Metric::Keys);
    let tag_sizes = tag_sizes.map(|sizes| match &tags {
        Some(tags) => sizes.of_all(tags),
        None => sizes,
    });

    let mut nodes = Nodes::of(topology, loads);
    let units = Units::of(
        tags.as_ref(),
        tag_sizes.as_ref(),
        keys.as_ref(),
        &tallies.weights,
        &totals,
    );
    let owning = nodes.owning().count();
    nodes.expected = units
        .per
        .filter_map(|units| rehash::of_nodes(owning, units));
    let (input, signs) = evidence::of(tallies, &nodes, &units, input);
    let attributes = names.map(|names| &names.attributes);
    let expiry = attributes
        .and_then(|of| Expiry::of(&of.expiry, input.written, tallies.slots.total(), &totals));
    let largest = attributes.and_then(|of| kinds::largest(&of.kinds, &shown, &owner, &totals));
    let risks = risk::risks(
        &nodes,
        &units,
        keys.as_ref(),
        largest.as_deref(),
        expiry.as_ref(),
    );
    let extremes = names.map(|of| extremes::of(&of.extremes, &shown, &owner));
    let extremes = extremes.unwrap_or_default();
    let mut verdict = Verdict::of(&nodes, loads, &units, &signs, risks);
    if !extremes.is_empty() {
        verdict.names_only_extremes();
    }
    let by = listing.by.unwrap_or(verdict.metric);
    let by = loads.get(by).map_or(Metric::Keys, |_| by);
    let (tags, keys, hottest) = match by {
        Metric::Keys => (tags, keys, hottest),
        by => listed(by),
    };

    let patterns = names.and_then(|names| names.patterns.as_ref());
    let (patterns, prefixes) = patterns
        .map(|counted| patterns::of(counted, &totals, by, listing.levels, redaction))
        .unzip();
    Summary {
        schema: SCHEMA.into(),
        run: Run::default(),
        types: attributes.and_then(|attributes| keys::types(attributes, &totals)),
        no_expiry: attributes
            .filter(|attributes| attributes.expiry.is_known())
            .map(|attributes| attributes.expiry.never[Metric::Keys]),
        databases: attributes.and_then(keys::databases),
        encodings: attributes.and_then(|of| kinds::encodings(&of.kinds, &totals)),
        largest,
        expiry,
        idle: attributes.and_then(|of| recency::idle(&of.recency, &totals)),
        lfu: attributes.and_then(|of| recency::lfu(&of.recency, &totals)),
        operations: names.and_then(|names| operations::Operations::of(&names.operations, &shown)),
        extremes,
        lengths: names.map(|names| Quantiles::of(&names.lengths.0)),
        sizes: names
            .map(|names| &names.sizes.0)
            .filter(|sizes| sizes.count() > 0)
            .map(Quantiles::of),
        tag_sizes,
        input: InputFacts {
            keys: tallies.slots.total(),
            ..input
        },
        slots: Slots {
            stats: loads.map(|metric, loads| balance_of_slots(metric, loads)),
            hottest,
            loads: loads.clone(),
        },
        nodes,
        tags,
        keys,
        prefixes,
        patterns,
        capacity: None,
        verdict,
        units,
        by,
        rows: listing.rows,
    }
}

fn balance_of_slots(metric: Metric, loads: &[u64]) -> Balance {
    if metric == Metric::Keys {
        Balance::of_keys_by_slot(loads)
    } else {
        Balance::of(loads)
    }
}

fn hot_slots(
    loads: &PerMetric<Vec<u64>>,
    context: &RowContext<'_>,
    tags: Option<&Tags>,
) -> Vec<HotSlot> {
    let mean = context
        .totals
        .get(context.by)
        .map_or(0.0, |total| *total as f64 / SLOTS as f64);
    let row = |slot: &u16| {
        let load = loads.map(|_, loads| loads[usize::from(*slot)]);
        HotSlot {
            slot: *slot,
            node: (context.owner)(*slot),
            over_mean: tidy(load.get(context.by).map_or(0.0, |load| *load as f64) / mean),
            load,
            top_tags: tags
                .and_then(|tags| tags.by_slot.get(slot))
                .cloned()
                .unwrap_or_default(),
        }
    };
    context.slots.iter().map(row).collect()
}
