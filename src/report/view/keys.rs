//! Keys: the heaviest ones, the largest, their types and databases.

use crate::metric::Metric;
use crate::report::view::extremes;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Cell, Column, Section, Table};
use crate::summary::Summary;
use crate::summary::keys::Key;

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

/// The heaviest single keys as a table; empty where none are listed.
pub fn heaviest_table(summary: &Summary) -> Table<'_> {
    let keys = summary.keys.as_ref();
    let top = keys.map_or(&[][..], |keys| &keys.top);
    let by = keys.and_then(|keys| keys.by).unwrap_or(summary.by);
    listed(summary, top, by)
}

fn listed<'a>(summary: &'a Summary, keys: &'a [Key], by: Metric) -> Table<'a> {
    let rows = keys.iter().map(|key| {
        let mut cells = vec![
            Cell::name(&key.key),
            Cell::number(key.slot),
            Cell::owner(&summary.nodes.list, key.node.as_ref()),
        ];
        cells.extend(Metric::WEIGHTS.map(|metric| {
            Cell::of(key.weights.get(metric), |weight| {
                Cell::amount(metric, *weight)
            })
        }));
        cells.push(Cell::share(key.share));
        cells.push(extremes::mark(summary, &key.key, key.slot));
        cells
    });
    let mut columns = vec![
        Column::words("key").flexible(),
        Column::number("slot").rank(Rank::Detail),
        Column::words("node"),
    ];
    columns.extend(Metric::WEIGHTS.map(|metric| Column::load(metric, by)));
    columns.push(Column::number("share").rank(Rank::Main).hint(SHARE));
    columns.push(Column::words("listed by").only_for_people().optional());
    Table::new(columns, rows)
}

/// What a share is a part of.
pub const SHARE: &str = "the part of the load of all keys";

/// Keys by type and encoding.
pub fn types(summary: &Summary) -> Option<Section<'_>> {
    let rows = summary.encodings.as_ref()?.iter().map(|of| {
        let mut row = vec![
            Cell::name(&of.kind),
            Cell::of(of.encoding.as_ref(), Cell::name),
            Cell::of(of.elements, Cell::count),
        ];
        row.extend(loads(&of.load));
        row
    });
    let mut columns = vec![
        Column::words("type").flexible(),
        Column::words("encoding").optional(),
        Column::number("elements").rank(Rank::Detail).optional(),
    ];
    columns.extend(Column::loads(summary.by));
    let section = Section::titled("Keys by type").anchored("types", "Types");
    Some(section.table(Table::new(columns, rows)))
}

/// The keys with most elements.
pub fn largest(summary: &Summary) -> Option<Section<'_>> {
    let rows = summary.largest.as_ref()?.iter().map(|key| {
        let mut row = vec![
            Cell::name(&key.key),
            Cell::name(&key.kind),
            Cell::number(key.slot),
            Cell::owner(&summary.nodes.list, key.node.as_ref()),
            Cell::count(key.elements),
        ];
        row.push(Cell::of(key.load.bytes().copied(), Cell::bytes));
        row
    });
    let columns = vec![
        Column::words("key").flexible(),
        Column::words("type"),
        Column::number("slot").rank(Rank::Detail),
        Column::words("node").rank(Rank::Detail),
        Column::number("elements").rank(Rank::Main),
        Column::number("bytes").rank(Rank::OtherMetric).optional(),
    ];
    let section = Section::titled("Keys with most elements").anchored("largest", "Elements");
    Some(section.table(Table::new(columns, rows)))
}

/// Keys by database, where there are several.
pub fn databases(summary: &Summary) -> Option<Section<'_>> {
    let databases = summary.databases.as_ref().filter(|of| of.len() > 1)?;
    let rows = databases
        .iter()
        .map(|of| vec![Cell::number(of.db), Cell::count(of.keys)]);
    let columns = vec![Column::number("database"), Column::number("keys")];
    let section = Section::titled("Keys by database").anchored("databases", "Databases");
    Some(section.narrow().table(Table::new(columns, rows)))
}
