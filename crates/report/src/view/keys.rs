//! Keys: heaviest, largest, types and databases.

use slotscope_base::metric::Metric;
use slotscope_base::text::{amount, counted, short};
use slotscope_model::Summary;
use slotscope_model::keys::Key;

use crate::view::extremes;
use crate::view::table::{Rank, TableBuilder};
use crate::view::{Cell, Column, Section, Table};

/// The keys with the most bytes.
pub fn big(summary: &Summary) -> Option<Section<'_>> {
    let section = Section::titled("Big keys, by bytes").anchored("big-keys", "Big keys");
    by_weight(summary, section, Metric::Bytes)
}

/// The most used keys, by operations if known, else by LFU counters.
pub fn hot(summary: &Summary) -> Option<Section<'_>> {
    let is_known = |metric: &Metric| !heaviest(summary, *metric).is_empty();
    let metric = [Metric::Ops, Metric::Accesses].into_iter().find(is_known)?;
    let section = Section::titled(format!("Hot keys, by {}", metric.title()));
    by_weight(summary, section.anchored("hot-keys", "Hot keys"), metric)
}

/// Keys below this fraction of a node's fair share are only in keys.csv.
const WORTH_A_ROW: f64 = 0.01;
/// Keys with fewer elements are as quick to move and delete as any other.
const MANY: u64 = 1_000;

fn by_weight<'a>(
    summary: &'a Summary,
    section: Section<'a>,
    metric: Metric,
) -> Option<Section<'a>> {
    let keys = heaviest(summary, metric);
    let (first, section) = (keys.first()?, section.narrow());
    let fair = summary
        .nodes
        .balance
        .get(metric)
        .map_or(0.0, |balance| balance.mean);
    let is_worth = |key: &&Key| key.weight(metric) as f64 >= WORTH_A_ROW * fair;
    let worth = keys.iter().take_while(is_worth).count();
    let (shown, rest) = keys.split_at(worth);
    Some(match (shown, rest.len()) {
        ([], _) => section.line(format!(
            "No key is 1% of a node's fair share; the heaviest is {}, {}. keys.csv lists more.",
            short(&first.key),
            amount(metric, first.weight(metric))
        )),
        (shown, 0) => section.table(listed(summary, shown, metric)),
        (shown, less) => section
            .table(listed(summary, shown, metric).out_of(keys.len()))
            .line(format!(
                "keys.csv has {} of less than 1% of a node's fair share.",
                counted(less as u64, "more key")
            )),
    })
}

/// The heaviest keys by a metric.
fn heaviest(summary: &Summary, metric: Metric) -> &[Key] {
    let heaviest = summary.keys.as_ref().map(|keys| &keys.heaviest);
    let keys = heaviest.and_then(|heaviest| heaviest.get(metric));
    keys.map_or(&[], Vec::as_slice)
}

/// The heaviest keys by each weight that the input has, one list after the other: `keys.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let keys = summary.keys.as_ref();
    let mut lists: Vec<(Metric, &[Key])> = keys
        .iter()
        .flat_map(|keys| keys.heaviest.iter())
        .map(|(metric, list)| (metric, list.as_slice()))
        .filter(|(_, list)| !list.is_empty())
        .collect();
    // A report.json has no others.
    if let (Some(keys), true) = (keys, lists.is_empty()) {
        let metric = keys.by.unwrap_or(summary.by);
        lists = vec![(metric, &keys.top), (Metric::Accesses, &keys.hottest)];
    }
    let listed = lists.into_iter();
    let rows = listed.flat_map(|(metric, list)| list.iter().map(move |key| (metric, key)));
    columns(summary, rows, summary.by)
        .column(Column::words("by"), |(metric, _)| Cell::text(metric.name()))
        .column(Column::number("share"), |(_, key)| Cell::share(key.share))
        .build()
        .in_file("keys.csv")
}

fn listed<'a>(summary: &'a Summary, keys: &'a [Key], metric: Metric) -> Table<'a> {
    columns(summary, keys.iter().map(|key| (metric, key)), metric)
        .column(share_column(metric), |(_, key)| Cell::share(key.share))
        .column(
            Column::words("listed by").only_for_people().optional(),
            |(_, key)| extremes::mark(summary, &key.key, key.slot),
        )
        .build()
        .in_file("keys.csv")
}

fn columns<'a>(
    summary: &'a Summary,
    keys: impl IntoIterator<Item = (Metric, &'a Key)>,
    main: Metric,
) -> TableBuilder<'a, (Metric, &'a Key)> {
    Table::of(keys)
        .column(Column::words("key").flexible(), |(_, key)| {
            Cell::name(&key.key)
        })
        .column(Column::number("slot").rank(Rank::Detail), |(_, key)| {
            Cell::number(key.slot)
        })
        .column(Column::words("node"), |(_, key)| {
            Cell::owner(&summary.nodes.list, key.node.as_ref())
        })
        .columns(
            Metric::WEIGHTS,
            |metric| Column::load(metric, main),
            |metric, (_, key)| {
                let weight = key.weights.get(metric);
                Cell::of(weight, |weight| Cell::amount(metric, *weight))
            },
        )
}

/// Fractions of a metric's total.
pub(crate) fn share_column(metric: Metric) -> Column {
    let (field, hint) = match metric {
        Metric::Keys => ("share_of_keys", "its part of all keys"),
        Metric::Bytes => ("share_of_bytes", "its part of all bytes"),
        Metric::Ops => ("share_of_ops", "its part of all operations"),
        Metric::Accesses => ("share_of_accesses", "its part of all estimated accesses"),
        Metric::Cpu => ("share_of_cpu", "its part of the CPU time"),
    };
    let column = Column::number(field).titled("share");
    column.rank(Rank::Main).hint(hint).optional()
}

/// Keys by type and encoding.
pub(crate) fn types(summary: &Summary) -> Option<Section<'_>> {
    let table = Table::of(summary.encodings.as_ref()?)
        .column(Column::words("type").flexible(), |row| {
            Cell::name(&row.kind)
        })
        .column(Column::words("encoding").optional(), |row| {
            Cell::of(row.encoding.as_ref(), Cell::name)
        })
        .column(
            Column::number("elements").rank(Rank::Detail).optional(),
            |row| Cell::of(row.elements, Cell::count),
        )
        .loads(Metric::ALL, summary.by, |row| row.load)
        .build();
    let section = Section::titled("Keys by type").anchored("types", "Types");
    Some(section.table(table))
}

/// The keys with the most elements.
pub(crate) fn largest(summary: &Summary) -> Option<Section<'_>> {
    let keys = summary.largest.as_ref()?.iter();
    let largest: Vec<_> = keys.filter(|key| key.elements >= MANY).collect();
    if largest.is_empty() {
        return None;
    }
    let table = Table::of(largest)
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

/// Keys by database, if there are several.
pub(crate) fn databases(summary: &Summary) -> Option<Section<'_>> {
    let databases = summary.databases.as_ref().filter(|list| list.len() > 1)?;
    let table = Table::of(databases)
        .column(Column::number("database"), |row| Cell::number(row.db))
        .loads(Metric::ALL, summary.by, |row| row.load)
        .build();
    let section = Section::titled("Keys by database").anchored("databases", "Databases");
    Some(section.narrow().table(table))
}
