//! Keys: the heaviest ones, their types, databases and expiry.

use crate::metric::Metric;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Cell, Column, Section, Table};
use crate::summary::Summary;
use crate::text::{counted, percent};

/// The heaviest single keys.
pub fn heaviest(summary: &Summary) -> Option<Section<'_>> {
    let keys = summary.keys.as_ref()?;
    let by = keys.by?;
    let rows = keys.top.iter().map(|key| {
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
        cells
    });
    let mut columns = vec![
        Column::words("key").flexible(),
        Column::number("slot"),
        Column::words("node").rank(Rank::Detail),
    ];
    columns.extend(Metric::WEIGHTS.map(|metric| Column::load(metric, by)));
    columns.push(Column::number("share").rank(Rank::Main).hint(SHARE));
    Some(
        Section::titled(format!("Heaviest keys by {}", by.name()))
            .anchored("keys", "Keys")
            .table(Table::new(columns, rows)),
    )
}

/// What a share is a part of.
pub const SHARE: &str = "of the load of all keys";

/// Keys by type.
pub fn types(summary: &Summary) -> Option<Section<'_>> {
    let rows = summary.types.as_ref()?.iter().map(|of| {
        [Cell::name(&of.kind)]
            .into_iter()
            .chain(loads(&of.load))
            .collect()
    });
    let mut columns = vec![Column::words("type").flexible()];
    columns.extend(Column::loads(summary.by));
    let section = Section::titled("Keys by type").anchored("types", "Types");
    Some(section.narrow().table(Table::new(columns, rows)))
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

/// How many keys never expire.
pub fn without_expiry(summary: &Summary) -> Option<Section<'_>> {
    let keys = summary.no_expiry?;
    let share = percent(keys as f64 / summary.input.keys.max(1) as f64);
    let text = format!("{} without expiry ({share}).", counted(keys, "key"));
    Some(Section::untitled().narrow().paragraph(text))
}
