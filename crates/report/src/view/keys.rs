//! Keys: the heaviest ones, the largest, their types and databases.

use slotscope_engine::metric::Metric;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::keys::Key;

use crate::view::extremes;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Section, Table};

/// The keys with most bytes.
pub fn big(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::titled("Big keys, by bytes").anchored("big-keys", "Big keys");
    by_weight(summary, section, Metric::Bytes)
}

/// The keys that are used most, by operations where those are known, else by LFU counters.
pub fn hot(summary: &Summary) -> Option<Section<'_>> {
    let is_known = |metric: &Metric| !heaviest(summary, *metric).is_empty();
    let by = [Metric::Ops, Metric::Accesses].into_iter().find(is_known)?;
    let section = Section::titled(format!("Hot keys, by {}", by.title()));
    by_weight(summary, section.anchored("hot-keys", "Hot keys"), by)
}

fn by_weight<'a>(summary: &'a Summary, section: Section<'a>, by: Metric) -> Option<Section<'a>> {
    let keys = heaviest(summary, by);
    (!keys.is_empty()).then(|| section.narrow().table(listed(summary, keys, by)))
}

/// The heaviest keys by a metric.
fn heaviest(summary: &Summary, by: Metric) -> &[Key] {
    let keys = summary.keys.as_ref().and_then(|keys| keys.heaviest.get(by));
    keys.map_or(&[], Vec::as_slice)
}

/// The heaviest single keys as a table; empty if none are listed.
pub fn heaviest_table(summary: &Summary) -> Table<'_> {
    let keys = summary.keys.as_ref();
    let top = keys.map_or(&[][..], |keys| &keys.top);
    let by = keys.and_then(|keys| keys.by).unwrap_or(summary.by);
    listed(summary, top, by)
}

fn listed<'a>(summary: &'a Summary, keys: &'a [Key], by: Metric) -> Table<'a> {
    Table::of(keys)
        .column(Column::words("key").flexible(), |key| Cell::name(&key.key))
        .column(Column::number("slot").rank(Rank::Detail), |key| {
            Cell::number(key.slot)
        })
        .column(Column::words("node"), |key| {
            Cell::owner(&summary.nodes.list, key.node.as_ref())
        })
        .columns(
            Metric::WEIGHTS,
            |metric| Column::load(metric, by),
            |metric, key| {
                let weight = key.weights.get(metric);
                Cell::of(weight, |weight| Cell::amount(metric, *weight))
            },
        )
        .column(
            Column::number("share").rank(Rank::Main).hint(SHARE),
            |key| Cell::share(key.share),
        )
        .column(
            Column::words("listed by").only_for_people().optional(),
            |key| extremes::mark(summary, &key.key, key.slot),
        )
        .build()
}

/// The meaning of a share.
pub const SHARE: &str = "the part of the load of all keys";

/// Keys by type and encoding.
pub(crate) fn types(summary: &Summary) -> Option<Section<'_>> {
    let table = Table::of(summary.encodings.as_ref()?)
        .column(Column::words("type").flexible(), |of| Cell::name(&of.kind))
        .column(Column::words("encoding").optional(), |of| {
            Cell::of(of.encoding.as_ref(), Cell::name)
        })
        .column(
            Column::number("elements").rank(Rank::Detail).optional(),
            |of| Cell::of(of.elements, Cell::count),
        )
        .loads(Metric::ALL, summary.by, |of| of.load)
        .build();
    let section = Section::titled("Keys by type").anchored("types", "Types");
    Some(section.table(table))
}

/// The keys with most elements.
pub(crate) fn largest(summary: &Summary) -> Option<Section<'_>> {
    let table = Table::of(summary.largest.as_ref()?)
        .column(Column::words("key").flexible(), |key| Cell::name(&key.key))
        .column(Column::words("type"), |key| Cell::name(&key.kind))
        .column(Column::number("slot").rank(Rank::Detail), |key| {
            Cell::number(key.slot)
        })
        .column(Column::words("node").rank(Rank::Detail), |key| {
            Cell::owner(&summary.nodes.list, key.node.as_ref())
        })
        .column(Column::number("elements").rank(Rank::Main), |key| {
            Cell::count(key.elements)
        })
        .column(
            Column::number("bytes").rank(Rank::OtherMetric).optional(),
            |key| Cell::of(key.load.bytes().copied(), Cell::bytes),
        )
        .build();
    let section = Section::titled("Keys with most elements").anchored("largest", "Elements");
    Some(section.table(table))
}

/// Keys by database, where there are several.
pub(crate) fn databases(summary: &Summary) -> Option<Section<'_>> {
    let databases = summary.databases.as_ref().filter(|of| of.len() > 1)?;
    let table = Table::of(databases)
        .column(Column::number("database"), |of| Cell::number(of.db))
        .loads(Metric::ALL, summary.by, |of| of.load)
        .build();
    let section = Section::titled("Keys by database").anchored("databases", "Databases");
    Some(section.narrow().table(table))
}
