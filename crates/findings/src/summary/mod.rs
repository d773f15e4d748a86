//! Turns tallies and a topology into the numbers of the report. No I/O.
//!
//! The fields are those of report.json, with the same order and names.

mod attributed;
#[doc(hidden)]
pub mod balance;
pub mod block_time;
pub mod capacity;
pub mod cause;
#[doc(hidden)]
pub mod compared;
#[doc(hidden)]
pub mod evidence;
pub mod expiring;
pub mod expiry;
pub mod explain;
#[doc(hidden)]
pub mod explanation;
pub mod extremes;
pub mod finding;
pub mod findings;
pub mod floor;
pub(crate) mod fullest_counted;
#[doc(hidden)]
pub mod gaps;
pub mod headroom;
#[doc(hidden)]
pub mod hot_slots;
pub mod independent_units;
pub mod input_facts;
#[doc(hidden)]
pub mod integrity;
pub mod judge;
pub mod keys;
pub mod kinds;
#[doc(hidden)]
pub mod limit;
pub mod logged;
pub mod measure;
pub mod migration;
#[doc(hidden)]
pub mod model;
mod moving;
pub mod node_counts;
pub mod nodes;
mod noted;
pub mod observed;
pub mod operations;
pub mod patterns;
mod process_time;
pub mod processes;
#[doc(hidden)]
pub mod quantiles;
pub mod reason;
pub mod recency;
#[doc(hidden)]
pub mod redacted;
pub mod risk;
mod role_choice;
pub mod role_load;
pub mod role_verdict;
pub mod run;
pub mod scaling;
pub mod split;
pub mod standing;
pub mod state;
pub mod step;
pub mod tags;
pub mod unit_sizes;
pub mod verdict;
pub(crate) mod verdict_inputs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::redact::Redaction;
use slotscope_engine::slot::SLOTS;
use slotscope_engine::tally::Tallies;
use slotscope_engine::tally::recount::{Recount, hottest};

use crate::summary::balance::{Balance, tidy};
use crate::summary::capacity::{Capacity, Room};
use crate::summary::expiry::Expiry;
use crate::summary::gaps::Gaps;
use crate::summary::headroom::Headroom;
use crate::summary::independent_units::Units;
pub use crate::summary::input_facts::{
    FileFacts, Filtered, Incomplete, InputFacts, ObjectFacts, Rejected, RejectedLine, Sizes,
    UnreadableValues,
};
use crate::summary::keys::{DatabaseLoad, Keys, TypeLoad};
use crate::summary::kinds::{EncodingLoad, LargeKey};
use crate::summary::nodes::Nodes;
use crate::summary::observed::Observed;
use crate::summary::patterns::{KeyGroups, Levels, Pattern, Prefix};
use crate::summary::quantiles::{Quantiles, TagSizes};
use crate::summary::recency::{IdleLoad, LfuLoad};
use crate::summary::role_load::{Asked, RoleLoad};
pub use crate::summary::run::{Dumped, Run};
use crate::summary::tags::{RowContext, TagLoad, Tags};
use crate::summary::verdict::Verdict;
use crate::summary::verdict_inputs::VerdictInputs;
use slotscope_advisor::findings::AdviseFindings;
use slotscope_advisor::retagged::SlotsMoved;
use slotscope_topology::Topology;

/// Schema name and version of report.json.
pub const SCHEMA: &str = "slotscope.report/3";

/// All findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The name and version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// How the report was made; the only part that differs from run to run.
    #[serde(default)]
    pub run: Run,
    /// Facts about the input.
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
    /// The part of a key that belongs in braces, if at least a hundred commands with several keys are among the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<AdviseFindings>,
    /// The verdict.
    pub verdict: Verdict,
    /// The load of slots with the tags of that advice.
    #[serde(skip)]
    pub retagged: Option<SlotsMoved>,
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
    /// Its busiest keys without a hash tag, where captures show them and the list is by operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top_keys: Vec<operations::KeyOps>,
}

/// Length and order of lists.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    /// The user's settings. Tables use the first metric asked for, else the verdict's.
    pub asked: &'a Asked,
    /// Memory limits given by the user.
    pub room: Option<&'a Room>,
    /// How key names are split into prefixes.
    pub levels: Levels<'a>,
    /// Rows shown in tables for people.
    pub rows: usize,
    /// Replaces names that must not be shown; node and file names are replaced elsewhere.
    pub redaction: Option<&'a Redaction>,
}

impl<'a> From<&'a Asked> for Listing<'a> {
    fn from(asked: &'a Asked) -> Self {
        Listing {
            asked,
            room: None,
            levels: Levels {
                separator: b":",
                depth: 4,
            },
            rows: 20,
            redaction: None,
        }
    }
}

/// Computes the findings, the verdict and the tables. `recount` is the optional second pass.
pub fn summarise<'l>(
    tallies: &Tallies,
    recount: Option<&Recount>,
    topology: &Topology,
    observed: &Observed,
    listing: impl Into<Listing<'l>>,
    input: InputFacts,
) -> Summary {
    let listing = listing.into();
    let loads = &tallies.slots.loads;
    let totals = loads.map(|_, loads| balance::sum(loads));
    let named = tallies.weights.of_names(&totals);
    let owner = |slot: u16| {
        topology
            .owner(slot)
            .map(|node| Name::from(topology.nodes[node].id.as_str()))
    };
    let redaction = listing.redaction;
    let shown =
        |name: &Name| redaction.map_or_else(|| name.clone(), |redaction| redaction.name(name));
    let hot = |metric: Metric| -> Vec<u16> {
        let hottest = loads
            .get(metric)
            .map(|loads| hottest(loads).map(|slot| slot as u16));
        hottest.map(Iterator::collect).unwrap_or_default()
    };
    let names = tallies.names.as_ref();
    let tag_sizes = names.and_then(|names| TagSizes::of(&names.tags));
    // The tags and keys for the verdict do not depend on the metric of the tables.
    let listed = |metric: Metric| {
        let slots = hot(metric);
        let context = RowContext {
            totals: &totals,
            named: &named,
            by: metric,
            slots: &slots,
            owner: &owner,
            shown: &shown,
        };
        let tags = names.map(|names| Tags::of(&names.tags, recount, &context));
        let keys = names.and_then(|names| Keys::of(names, &context));
        let mut hottest = hot_slots(loads, &context, tags.as_ref());
        if metric == Metric::Ops {
            operations::name_keys(&mut hottest, names.map(|names| &names.operations), &shown);
        }
        (tags, keys, hottest)
    };
    let (tags, keys, hottest) = listed(Metric::Keys);
    let tag_sizes = tag_sizes.map(|sizes| match &tags {
        Some(tags) => sizes.of_all(tags),
        None => sizes,
    });

    let mut nodes = Nodes::of(topology, loads);
    nodes.note_outages(observed);
    let mut units = Units::of(
        tags.as_ref(),
        tag_sizes.as_ref(),
        keys.as_ref(),
        &tallies.weights,
        &totals,
    );
    let as_shown = hot_slots::Shown {
        name: &shown,
        owner: &owner,
    };
    operations::note_reads(&mut units, names.map(|names| &names.operations), &shown);
    attributed::share_cpu_time(&mut units, loads, observed, as_shown);
    let (input, signs) = evidence::of(tallies, &nodes, &units, observed, input);
    let attributes = names.map(|names| &names.attributes);
    let shown_pattern =
        |name: &Name| redaction.map_or_else(|| name.clone(), |redaction| redaction.pattern(name));
    let total_keys = tallies.slots.total();
    let expiry = attributes.and_then(|attributes| {
        let (expiry, written) = (&attributes.expiry, input.written);
        Expiry::of(expiry, written, total_keys, &named, &owner, &shown_pattern)
    });
    let lfu = attributes.and_then(|attributes| recency::lfu(&attributes.recency, &named));
    let largest =
        attributes.and_then(|attributes| kinds::largest(&attributes.kinds, &shown, &owner, &named));
    let counted = names.map(|names| extremes::of(&names.extremes, &shown, &owner));
    let extremes = counted.unwrap_or_default();
    let usual = Room::default();
    let room = listing.room.unwrap_or(&usual);
    let bytes = loads.get(Metric::Bytes).map(Vec::as_slice);
    let capacity = Capacity::of(&nodes, bytes, room, observed);
    let headroom = Headroom::new(&nodes, capacity.as_ref(), room, observed, expiry.as_ref());
    let (verdict, role_loads, guarded_loads) = Verdict::new(&VerdictInputs {
        nodes: &nodes,
        loads,
        units: &units,
        observed,
        asked: listing.asked,
        input: &input,
        signs: &signs,
        has_only_extremes: !extremes.is_empty(),
        are_accesses_known: recency::are_accesses_known(lfu.as_deref()),
        gaps: &Gaps::of(&input),
        capacity: capacity.as_ref(),
        headroom: &headroom,
        keys: keys.as_ref(),
        largest: largest.as_deref(),
        expiry: expiry.as_ref(),
    });
    nodes.note(&verdict, &role_loads, &headroom, observed);
    if listing.asked.by.is_empty() {
        nodes.note_processes(&verdict, observed);
    }
    let asked = listing.asked.by.first().copied();
    let operations = names.map(|names| &names.operations);
    let hot_keys = hot_slots::keys(&observed.hot_keys, as_shown);
    let hot_slots = hot_slots::of(
        &observed.hot_slots,
        &observed.hot_keys,
        operations,
        as_shown,
    );
    let chosen = asked.unwrap_or_else(|| verdict.metric());
    let by = loads.get(chosen).map_or(Metric::Keys, |_| chosen);
    let (tags, keys, hottest) = match by {
        Metric::Keys => (tags, keys, hottest),
        metric => listed(metric),
    };

    let patterns = names.and_then(|names| names.patterns.as_ref());
    let (patterns, prefixes) = patterns
        .map(|counted| patterns::of(counted, &named, by, listing.levels, redaction))
        .unzip();
    Summary {
        schema: SCHEMA.into(),
        run: Run::default(),
        types: attributes.and_then(|attributes| keys::types(attributes, &named)),
        no_expiry: attributes
            .filter(|attributes| attributes.expiry.is_known())
            .map(|attributes| attributes.expiry.never[Metric::Keys]),
        databases: attributes.and_then(|attributes| keys::databases(attributes, &named)),
        encodings: attributes.and_then(|attributes| kinds::encodings(&attributes.kinds, &named)),
        largest,
        expiry,
        idle: attributes.and_then(|attributes| recency::idle(&attributes.recency, &named)),
        lfu,
        operations: names.and_then(|names| operations::Operations::of(&names.operations, &shown)),
        extremes,
        hot_slots,
        hot_keys,
        logged: logged::of(&observed.logged, as_shown),
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
            stats: loads.map(|metric, loads| Balance::of_slots(metric, loads)),
            hottest,
            loads: loads.clone(),
        },
        nodes,
        tags,
        keys,
        prefixes,
        patterns,
        capacity,
        advice: None,
        verdict,
        retagged: None,
        units,
        role_loads,
        guarded_loads,
        asked: listing.asked.clone(),
        headroom,
        by,
        rows: listing.rows,
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
            top_keys: Vec::new(),
        }
    };
    context.slots.iter().map(row).collect()
}
