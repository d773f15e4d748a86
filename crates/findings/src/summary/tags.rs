//! Hash tags and their key counts, with error bounds.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slotscope_base::metric::{Errors, Load, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::{slot_of_part, spread};
use slotscope_count::tally::listed_tags::{Bounded, ListedTags};
use slotscope_count::tally::recount::Recount;
use slotscope_count::tally::sketch::hyper_log_log::RELATIVE_ERROR;
use slotscope_count::tally::tags::TagCounter;
use slotscope_model::balance::tidy;
use slotscope_model::tags::{Tag, TagLoad, Tags};

/// Rows written to files; the terminal shows fewer.
pub(crate) const LISTED: usize = slotscope_base::LISTED;
/// Tags named per hot slot.
const TAGS_OF_A_SLOT: usize = 5;

/// The context for rows of tags and keys.
pub(crate) struct RowContext<'a> {
    /// The total load in every metric of the input.
    pub totals: &'a PerMetric<u128>,
    /// The same for the metrics that names were counted in.
    pub named: &'a PerMetric<u128>,
    /// The metric they are sorted by.
    pub by: Metric,
    /// The slots whose tags are listed.
    pub slots: &'a [u16],
    pub owner: &'a dyn Fn(u16) -> Option<Name>,
    /// Redacts a name for display, if required.
    pub shown: &'a dyn Fn(&Name) -> Name,
}

/// Built from the first pass and, if available, the second.
pub(crate) fn of(tags: &TagCounter, recount: Option<&Recount>, context: &RowContext<'_>) -> Tags {
    let ListedTags {
        tags: counted_tags,
        bound,
        is_exact,
    } = tags.listed(recount);
    let by_slot = by_slot(&counted_tags, context);
    let heaviest = context
        .totals
        .map(|metric, total| heaviest(&counted_tags, metric, *total, context));
    let (top, cut_off) = heaviest.get(context.by).cloned().unwrap_or_default();
    let max_error = bound[context.by].max(cut_off);
    let certain = certain(&top, context.by, max_error);
    let bounds = Load::from_fn(|metric| {
        bound[metric].max(heaviest.get(metric).map_or(0, |(_, cut_off)| *cut_off))
    });
    let heaviest = heaviest.map(|_, (top, _)| top.clone());
    Tags {
        exact: is_exact,
        distinct: tags.distinct().round() as u64,
        distinct_error: if tags.is_counted() {
            0.0
        } else {
            tidy(RELATIVE_ERROR)
        },
        squares: context.totals.map(|metric, _| tags.squares(metric)),
        tagged_keys: tags.tagged,
        top,
        heaviest,
        bounds,
        by_slot,
        max_error,
        certain,
    }
}

/// How many leading tags hold at least `max_error`; `None` if all do.
fn certain(top: &[Tag], metric: Metric, max_error: u64) -> Option<u64> {
    let is_certain = |tag: &Tag| tag.load.get(metric).is_some_and(|load| *load >= max_error);
    let certain = top.partition_point(is_certain);
    (certain < top.len()).then_some(certain as u64)
}

/// The slot of a tag: it is hashed as is, even if it contains braces.
fn slot_of_tag(tag: &Name) -> u16 {
    slot_of_part(&tag.0)
}

/// The heaviest tags by a metric, and the bound for the first unlisted one.
fn heaviest(
    counted_tags: &[Bounded],
    metric: Metric,
    total: u128,
    context: &RowContext<'_>,
) -> (Vec<Tag>, u64) {
    let mut order: Vec<&Bounded> = loaded(counted_tags, metric).collect();
    // The shared table has no names when it chooses among tags of equal load: by slot. The list is by name.
    order.sort_by_cached_key(|tag| {
        let slot = spread(slot_of_tag(&tag.name));
        (Reverse(tag.load[metric]), slot, &tag.name)
    });
    let cut_off = order
        .get(LISTED..)
        .unwrap_or_default()
        .iter()
        .map(|tag| tag.ceiling[metric])
        .max();
    order.truncate(LISTED);
    order.sort_by_key(|tag| (Reverse(tag.load[metric]), &tag.name));
    let row = |tag: &Bounded| {
        let errors = context
            .named
            .map(|metric, _| tag.ceiling[metric].saturating_sub(tag.load[metric]));
        let slot = slot_of_tag(&tag.name);
        Tag {
            tag: (context.shown)(&tag.name),
            slot,
            node: (context.owner)(slot),
            load: context.named.map(|metric, _| tag.load[metric]),
            errors: Errors(errors),
            share: if total == 0 {
                0.0
            } else {
                tidy(tag.load[metric] as f64 / total as f64)
            },
        }
    };
    (order.into_iter().map(row).collect(), cut_off.unwrap_or(0))
}

/// The tags with any load.
fn loaded(tags: &[Bounded], metric: Metric) -> impl Iterator<Item = &Bounded> {
    tags.iter().filter(move |tag| tag.load[metric] > 0)
}

fn by_slot(counted_tags: &[Bounded], context: &RowContext<'_>) -> BTreeMap<u16, Vec<TagLoad>> {
    let mut by_slot: BTreeMap<u16, Vec<&Bounded>> = context
        .slots
        .iter()
        .map(|slot| (*slot, Vec::new()))
        .collect();
    for tag in loaded(counted_tags, context.by) {
        if let Some(tags) = by_slot.get_mut(&slot_of_tag(&tag.name)) {
            tags.push(tag);
        }
    }
    let metric = context.by;
    let top = |mut tags: Vec<&Bounded>| {
        tags.sort_by(|a, b| {
            (Reverse(a.load[metric]), &a.name).cmp(&(Reverse(b.load[metric]), &b.name))
        });
        let load = |tag: &Bounded| context.named.map(|metric, _| tag.load[metric]);
        let shown = tags.into_iter().take(TAGS_OF_A_SLOT);
        shown
            .map(|tag| TagLoad {
                tag: (context.shown)(&tag.name),
                load: load(tag),
            })
            .collect()
    };
    by_slot
        .into_iter()
        .map(|(slot, tags)| (slot, top(tags)))
        .collect()
}
