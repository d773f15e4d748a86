//! Keys: the heaviest ones, the largest, their types and databases.

use crate::metric::Metric;
use crate::report::view::extremes;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Cell, Column, Section, Table};
use crate::summary::Summary;
use crate::summary::keys::Key;

/// The heaviest single keys.
pub fn heaviest(summary: &Summary) -> Option<Section<'_>> {
    let keys = summary.keys.as_ref()?;
    let by = keys.by?;
    let section = Section::titled(format!("Heaviest keys by {}", by.title()));
    Some(
        section
            .anchored("keys", "Keys")
            .table(listed(summary, &keys.top, by)),
    )
}

/// The keys with most accesses by LFU counters.
pub fn hottest(summary: &Summary) -> Option<Section<'_>> {
    let keys = summary
        .keys
        .as_ref()
        .filter(|keys| !keys.hottest.is_empty())?;
    let section = Section::titled(format!("Hottest keys by {}", Metric::Accesses.title()));
    let section = section.anchored("hot-keys", "Hot keys");
    Some(section.table(listed(summary, &keys.hottest, Metric::Accesses)))
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
        Column::number("slot"),
        Column::words("node").rank(Rank::Detail),
    ];
    columns.extend(Metric::WEIGHTS.map(|metric| Column::load(metric, by)));
    columns.push(Column::number("share").rank(Rank::Main).hint(SHARE));
    columns.push(Column::words("listed by").only_for_people().optional());
    Table::new(columns, rows)
}

/// What a share is a part of.
pub const SHARE: &str = "of the load of all keys";

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
