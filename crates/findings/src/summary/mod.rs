//! Turns tallies and a topology into the numbers of the report. No I/O.

pub(crate) mod attributed;
pub mod balance;
pub mod block_time;
pub(crate) mod capacity;
pub mod commands;
pub(crate) mod coverage;
pub mod evidence;
pub(crate) mod expiring;
pub(crate) mod expiry;
pub(crate) mod explain;
pub mod explanation;
pub(crate) mod extremes;
pub(crate) mod findings;
pub mod floor;
pub(crate) mod fullest_counted;
pub(crate) mod gaps;
pub(crate) mod headroom;
pub(crate) mod hot_slots;
pub mod independent_units;
pub mod integrity;
pub(crate) mod judge;
pub(crate) mod keys;
pub(crate) mod kinds;
pub(crate) mod logged;
pub mod migration;
pub(crate) mod moving;
pub mod node_counts;
pub(crate) mod nodes;
pub(crate) mod noted;
pub mod observed;
pub(crate) mod operations;
pub mod patterns;
pub(crate) mod perfect_hash;
pub mod processes;
pub mod quantiles;
pub(crate) mod recency;
pub(crate) mod risk;
pub(crate) mod role_choice;
pub(crate) mod role_verdict;
pub mod split;
pub(crate) mod tags;
pub(crate) mod unit_sizes;
pub(crate) mod verdict;
pub(crate) mod verdict_inputs;

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_base::slot::SLOTS;
use slotscope_count::tally::Tallies;
use slotscope_count::tally::recount::{Recount, hottest};
use slotscope_model::balance::{sum, tidy};
use slotscope_model::capacity::Room;
use slotscope_model::coverage::Coverage;
use slotscope_model::role_load::Asked;
use slotscope_model::run::Run;
use slotscope_model::tags::Tags;
use slotscope_model::verdict::Verdict;
use slotscope_model::{HotSlot, InputFacts, SCHEMA, Slots, Summary};
use slotscope_topology::Topology;

use crate::summary::gaps::Gaps;
use crate::summary::observed::Observed;
use crate::summary::patterns::Levels;
use crate::summary::tags::RowContext;
use crate::summary::verdict_inputs::VerdictInputs;

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
    let totals = loads.map(|_, loads| sum(loads));
    let named = tallies.weights.of_known(&totals);
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
    let tag_sizes = names.and_then(|names| quantiles::of_tags(&names.tags));
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
        let tags = names.map(|names| tags::of(&names.tags, recount, &context));
        let keys = names.and_then(|names| keys::of(names, &context));
        let mut hottest = hot_slots(loads, &context, tags.as_ref());
        if metric == Metric::Ops {
            operations::name_keys(&mut hottest, names.map(|names| &names.operations), &shown);
        }
        (tags, keys, hottest)
    };
    let (tags, keys, hottest) = listed(Metric::Keys);
    let tag_sizes = tag_sizes.map(|sizes| match &tags {
        Some(tags) => quantiles::of_all_tags(sizes, tags),
        None => sizes,
    });

    let mut nodes = nodes::of(topology, loads);
    noted::note_outages(&mut nodes, observed);
    let mut units = independent_units::of(
        tags.as_ref(),
        tag_sizes.as_ref(),
        names.map(|names| &names.tags),
        keys.as_ref(),
        &tallies.weights,
        &totals,
    );
    let as_shown = hot_slots::Shown {
        name: &shown,
        owner: &owner,
    };
    let operations = names.map(|names| &names.operations);
    operations::note_reads(&mut units, operations, &shown);
    attributed::share_cpu_time(&mut units, loads, observed, as_shown);
    let (input, signs) = evidence::of(tallies, &nodes, &units, observed, input);
    let attributes = names.map(|names| &names.attributes);
    let shown_pattern =
        |name: &Name| redaction.map_or_else(|| name.clone(), |redaction| redaction.pattern(name));
    let total_keys = tallies.slots.total();
    let expiry = attributes.and_then(|attributes| {
        let (expiry, written) = (&attributes.expiry, input.written);
        expiry::of(expiry, written, total_keys, &named, &owner, &shown_pattern)
    });
    let counted = names.map(|names| extremes::of(&names.extremes, &shown, &owner));
    let usual = Room::default();
    let room = listing.room.unwrap_or(&usual);
    let bytes = loads.get(Metric::Bytes).map(Vec::as_slice);
    let capacity = capacity::of(&nodes, bytes, room, observed);
    let headroom = headroom::of(&nodes, capacity.as_ref(), room, observed, expiry.as_ref());
    let lacks = coverage::lacks(&nodes, observed, &input);
    commands::note(&mut nodes, observed);
    nodes.open = observed.open_slots.clone();
    let mut summary = Summary {
        schema: SCHEMA.into(),
        run: Run::default(),
        types: attributes.and_then(|attributes| keys::types(attributes, &named)),
        no_expiry: attributes
            .filter(|attributes| attributes.expiry.is_known())
            .map(|attributes| attributes.expiry.never[Metric::Keys]),
        databases: attributes.and_then(|attributes| keys::databases(attributes, &named)),
        encodings: attributes.and_then(|attributes| kinds::encodings(&attributes.kinds, &named)),
        largest: attributes
            .and_then(|attributes| kinds::largest(&attributes.kinds, &shown, &owner, &named)),
        expiry,
        idle: attributes.and_then(|attributes| recency::idle(&attributes.recency, &named)),
        lfu: attributes.and_then(|attributes| recency::lfu(&attributes.recency, &named)),
        operations: operations.and_then(|operations| operations::of(operations, &shown)),
        extremes: counted.unwrap_or_default(),
        hot_slots: hot_slots::of(
            &observed.hot_slots,
            &observed.hot_keys,
            operations,
            as_shown,
        ),
        hot_keys: hot_slots::keys(&observed.hot_keys, as_shown),
        logged: logged::of(&observed.logged, as_shown),
        lengths: names.map(|names| quantiles::of(&names.lengths.0)),
        sizes: names
            .map(|names| &names.sizes.0)
            .filter(|sizes| sizes.count() > 0)
            .map(quantiles::of),
        tag_sizes,
        input,
        coverage: Coverage {
            lacks,
            ..Coverage::default()
        },
        slots: Slots {
            stats: loads.map(|_, loads| balance::of(loads)),
            hottest,
            loads: loads.clone(),
        },
        nodes,
        tags,
        keys,
        prefixes: None,
        patterns: None,
        capacity,
        verdict: Verdict::default(),
        units,
        role_loads: Vec::new(),
        guarded_loads: Vec::new(),
        asked: listing.asked.clone(),
        headroom,
        by: Metric::Keys,
        rows: listing.rows,
    };
    (summary.verdict, summary.role_loads, summary.guarded_loads) = verdict::of(&VerdictInputs {
        summary: &summary,
        observed,
        signs: &signs,
        gaps: &Gaps::of(&summary.input),
    });
    summary.coverage = coverage::of(&summary);
    noted::note(&mut summary, observed);
    let asked = listing.asked.by.first().copied();
    let by = asked.unwrap_or_else(|| summary.verdict.metric());
    if by != Metric::Keys && loads.get(by).is_some() {
        summary.by = by;
        (summary.tags, summary.keys, summary.slots.hottest) = listed(by);
    }
    let patterns = names.and_then(|names| names.patterns.as_ref());
    (summary.patterns, summary.prefixes) = patterns
        .map(|counted| patterns::of(counted, &named, summary.by, listing.levels, redaction))
        .unzip();
    summary
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
