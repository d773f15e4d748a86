//! The tables of the page, one function each: rows of the summary come in, cells go out.

use super::spell;
use super::table::{Cell, Column, Table};
use super::words;
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::summary::Summary;
use crate::summary::nodes::NodeLoad;
use crate::summary::verdict::{Verdict, limit};

/// Bytes that tables take: what is left of a page when slots, names and the page itself have theirs.
mod room {
    pub const NODES: usize = 60_000;
    pub const TAGS: usize = 160_000;
    pub const PATTERNS: usize = 60_000;
    pub const KEYS: usize = 60_000;
    pub const SMALL: usize = 12_000;
}

/// The metrics of the report.
fn metrics(summary: &Summary) -> impl Iterator<Item = Metric> {
    summary.slots.loads.iter().map(|(metric, _)| metric)
}

fn load_columns(summary: &Summary) -> impl Iterator<Item = Column> {
    metrics(summary).map(|metric| Column::numbers(metric.name(), ""))
}

fn load_cells(summary: &Summary, load: &PerMetric<u64>) -> impl Iterator<Item = Cell> {
    let load = *load;
    metrics(summary).map(move |metric| load.get(metric).map_or(Cell::none(), |load| Cell::load(metric, *load)))
}

fn row(parts: impl IntoIterator<Item = Vec<Cell>>) -> Vec<Cell> {
    parts.into_iter().flatten().collect()
}

fn columns(parts: impl IntoIterator<Item = Vec<Column>>) -> Vec<Column> {
    parts.into_iter().flatten().collect()
}

/// The node that has this id as people know it.
fn owner(summary: &Summary, id: Option<&Name>) -> Cell {
    let Some(id) = id else { return Cell::none() };
    let node = summary.nodes.list.iter().find(|node| node.id == *id);
    Cell::words(node.map_or_else(|| spell::cut(id), spell::node))
}

/// The nodes against their fair share.
pub fn nodes(summary: &Summary) -> Table {
    let by = summary.skew.by;
    let mean = summary.nodes.balance.get(by).map_or(0.0, |balance| balance.mean);
    let load = |node: &NodeLoad| node.load.get(by).copied().unwrap_or(0) as f64;
    let longest = summary.nodes.list.iter().map(load).fold(mean, f64::max).max(f64::MIN_POSITIVE);
    let uneven = matches!(summary.skew.verdict, Verdict::Watch | Verdict::Skewed | Verdict::Placement);
    let class = |ratio: f64| match ratio {
        r if uneven && r >= limit::SKEWED => "alarm",
        r if uneven && r >= limit::BALANCED => "watch",
        _ => "load",
    };
    let cells = |node: &NodeLoad| {
        let share = match mean > 0.0 {
            true => {
                let ratio = load(node) / mean;
                Cell::ratio(ratio, 3).with_bar(load(node) / longest, Some(mean / longest), class(ratio))
            }
            false => Cell::none(),
        };
        let name = Cell { title: spell::cut(&node.id), ..Cell::words(spell::node(node)) };
        row([vec![name, Cell::count(node.slots.into())], load_cells(summary, &node.load).collect(), vec![share]])
    };
    let heads = columns([
        vec![Column::words("node"), Column::numbers("slots", "")],
        load_columns(summary).collect(),
        vec![Column::numbers("× fair share", "its load over that of the average node; the mark is the fair share")],
    ]);
    let caption = format!("Nodes ({})", spell::cut(&summary.nodes.source));
    Table::of(("nodes-table", caption), heads, summary.nodes.list.iter().map(cells), (room::NODES, "nodes.csv"))
}

/// Why the fullest node is above its fair share.
pub fn causes(summary: &Summary) -> Table {
    let ratio = |ratio: Option<f64>| ratio.map_or(Cell::none(), |ratio| Cell::ratio(ratio, 3));
    let rows = summary.skew.causes.iter().map(|cause| {
        let excess = Cell { text: signed(cause.excess), ..Cell::ratio(cause.excess, 3) };
        let owner = owner(summary, cause.node.as_ref());
        vec![Cell::words(words::cause(cause)), owner, excess, ratio(cause.max_over_mean_without)]
    });
    let heads = vec![
        Column::words("what"),
        Column::words("node"),
        Column::numbers("fair shares", "what it adds to the node's load; all add up to its excess"),
        Column::numbers("without it", "the node in fair shares, were this spread over all slots"),
    ];
    let caption = "What fills the fullest node".into();
    Table::of(("causes-table", caption), heads, rows, (room::SMALL, "report.json"))
}

/// The same keys on other numbers of nodes.
pub fn node_counts(summary: &Summary) -> Table {
    let rows = summary.skew.by_node_count.iter().map(|scaled| {
        let ratio = scaled.max_over_mean.map_or(Cell::none(), |ratio| Cell::ratio(ratio, 2));
        vec![Cell::number(scaled.nodes), ratio, Cell::words(words::word(scaled.verdict).to_lowercase())]
    });
    let heads =
        vec![Column::numbers("nodes", ""), Column::numbers("fullest node", "in fair shares"), Column::words("verdict")];
    let caption = "The same keys on other numbers of equal nodes".into();
    Table::of(("counts-table", caption), heads, rows, (room::SMALL, "report.json"))
}

/// The hottest slots.
pub fn hottest(summary: &Summary) -> Table {
    let rows = summary.slots.hottest.iter().map(|slot| {
        let tags: Vec<_> = slot.top_tags.iter().take(3).map(|tag| Cell::tag(&tag.tag).text).collect();
        let tags = if tags.is_empty() { Cell::none() } else { Cell::words(tags.join("  ")) };
        let ends = vec![Cell::ratio(slot.over_mean, 2), tags];
        let starts = vec![Cell::number(slot.slot), owner(summary, slot.node.as_ref())];
        row([starts, load_cells(summary, &slot.load).collect(), ends])
    });
    let heads = columns([
        vec![Column::numbers("slot", ""), Column::words("node")],
        load_columns(summary).collect(),
        vec![Column::numbers("× mean", "its load over that of the average slot"), Column::words("its heaviest tags")],
    ]);
    Table::of(("hottest-table", "Hottest slots".into()), heads, rows, (room::SMALL, "slots.csv"))
}

/// The heaviest hash tags.
pub fn tags(summary: &Summary) -> Option<Table> {
    let tags = summary.tags.as_ref()?;
    let bounded = tags.top.iter().any(|tag| tag.keys_error > 0);
    let longest = tags.top.first().map_or(0.0, |tag| tag.share).max(f64::MIN_POSITIVE);
    let rows = tags.top.iter().map(|tag| {
        let error = bounded.then(|| Cell { text: format!("+{}", tag.keys_error), ..Cell::count(tag.keys_error) });
        row([
            vec![Cell::tag(&tag.tag), Cell::number(tag.slot), owner(summary, tag.node.as_ref())],
            load_cells(summary, &tag.load).collect(),
            error.into_iter().collect(),
            vec![Cell::share(tag.share).with_bar(tag.share / longest, None, "load")],
        ])
    });
    let error = bounded.then(|| Column::numbers("more", "it holds at most so many more keys"));
    let heads = columns([
        vec![Column::words("tag"), Column::numbers("slot", ""), Column::words("node")],
        load_columns(summary).collect(),
        error.into_iter().collect(),
        vec![Column::numbers("share", "of the load of all keys")],
    ]);
    Some(Table::of(("tags-table", "Heaviest hash tags".into()), heads, rows, (room::TAGS, "tags.csv")))
}

/// Patterns of key names.
pub fn patterns(summary: &Summary) -> Option<Table> {
    let patterns = summary.patterns.as_ref()?;
    let longest = patterns.top.first().map_or(0.0, |row| row.kind.share).max(f64::MIN_POSITIVE);
    let rows = patterns.top.iter().map(|pattern| {
        let kind = &pattern.kind;
        let share = Cell::share(kind.share).with_bar(kind.share / longest, None, "load");
        let loads = load_cells(summary, &kind.load).collect();
        let slots = kind.slots.map_or(Cell::none(), Cell::count);
        row([vec![Cell::name(&pattern.pattern)], loads, vec![slots, Cell::share(kind.tagged_share), share]])
    });
    let heads = columns([
        vec![Column::words("pattern")],
        load_columns(summary).collect(),
        vec![
            Column::numbers("in slots", "how many slots its keys are in"),
            Column::numbers("tagged", "the part of its keys that have a hash tag"),
            Column::numbers("share", "of the load of all keys"),
        ],
    ]);
    Some(Table::of(("patterns-table", "Patterns of key names".into()), heads, rows, (room::PATTERNS, "patterns.csv")))
}

/// The heaviest single keys.
pub fn keys(summary: &Summary) -> Option<Table> {
    let keys = summary.keys.as_ref()?;
    let weight = |metric, weight: Option<u64>| weight.map_or(Cell::none(), |weight| Cell::load(metric, weight));
    let weights: Vec<_> = metrics(summary).filter(|metric| *metric != Metric::Keys).collect();
    let rows = keys.top.iter().map(|key| {
        let cells = weights.iter().map(|metric| match metric {
            Metric::Ops => weight(Metric::Ops, key.ops),
            _ => weight(Metric::Bytes, key.bytes),
        });
        let starts = vec![Cell::name(&key.key), Cell::number(key.slot), owner(summary, key.node.as_ref())];
        row([starts, cells.collect(), vec![Cell::share(key.share)]])
    });
    let heads = columns([
        vec![Column::words("key"), Column::numbers("slot", ""), Column::words("node")],
        weights.iter().map(|metric| Column::numbers(metric.name(), "")).collect(),
        vec![Column::numbers("share", "of the load of all keys")],
    ]);
    Some(Table::of(("keys-table", "Heaviest single keys".into()), heads, rows, (room::KEYS, "report.json")))
}

/// Keys by type.
pub fn types(summary: &Summary) -> Option<Table> {
    let rows = summary.types.as_ref()?.iter();
    let rows = rows.map(|row| self::row([vec![Cell::name(&row.kind)], load_cells(summary, &row.load).collect()]));
    let heads = columns([vec![Column::words("type")], load_columns(summary).collect()]);
    Some(Table::of(("types-table", "Types".into()), heads, rows, (room::SMALL, "report.json")))
}

/// Keys by database.
pub fn databases(summary: &Summary) -> Option<Table> {
    let rows = summary.databases.as_ref()?.iter();
    let rows = rows.map(|row| vec![Cell::number(row.db), Cell::load(Metric::Keys, row.keys)]);
    let heads = vec![Column::numbers("database", ""), Column::numbers("keys", "")];
    Some(Table::of(("databases-table", "Databases".into()), heads, rows, (room::SMALL, "report.json")))
}

/// The room that nodes have.
pub fn capacity(summary: &Summary) -> Option<Table> {
    let capacity = summary.capacity.as_ref()?;
    let limit = capacity.maxmemory.max(1) as f64;
    let rows = capacity.nodes.iter().map(|node| {
        let part = node.used as f64 / limit;
        let class = if part >= 1.0 { "alarm" } else { "load" };
        let left = match u64::try_from(node.headroom) {
            Ok(left) => Cell::load(Metric::Bytes, left),
            Err(_) => {
                let over = u64::try_from(node.headroom.unsigned_abs()).unwrap_or(u64::MAX);
                let cell = Cell::load(Metric::Bytes, over);
                Cell { text: format!("−{}", cell.text), value: node.headroom.to_string(), ..cell }
            }
        };
        let months = node.months.map_or(Cell::none(), |months| Cell::ratio(months, 1));
        let used = Cell::load(Metric::Bytes, node.used);
        vec![owner(summary, Some(&node.id)), used, left, Cell::share(part).with_bar(part, None, class), months]
    });
    let heads = vec![
        Column::words("node"),
        Column::numbers("used", ""),
        Column::numbers("left", ""),
        Column::numbers("of the limit", ""),
        Column::numbers("months", "until it is full"),
    ];
    Some(Table::of(("capacity-table", "Room of the nodes".into()), heads, rows, (room::SMALL, "report.json")))
}

/// The inputs.
pub fn files(summary: &Summary) -> Table {
    let rows = summary.input.files.iter().map(|file| {
        let (bytes, keys) = (Cell::load(Metric::Bytes, file.bytes), Cell::load(Metric::Keys, file.keys));
        vec![Cell::name(&file.name), Cell::words(file.format), bytes, keys]
    });
    let heads =
        vec![Column::words("file"), Column::words("form"), Column::numbers("bytes", ""), Column::numbers("keys", "")];
    Table::of(("files-table", "Files".into()), heads, rows, (room::SMALL, "report.json"))
}

/// Lines that are no keys.
pub fn rejected(summary: &Summary) -> Table {
    let rows = summary.input.rejected.first.iter().map(|reject| {
        let line = reject.line.map_or(Cell::none(), Cell::count);
        vec![Cell::name(&reject.file), line, Cell::count(reject.byte), Cell::words(shortened(&reject.reason))]
    });
    let heads = vec![
        Column::words("file"),
        Column::numbers("line", ""),
        Column::numbers("byte", ""),
        Column::words("what is wrong with it"),
    ];
    Table::of(("rejected-table", "The first of them".into()), heads, rows, (room::SMALL, "report.json"))
}

/// With its sign, and no sign where three digits show none.
fn signed(number: f64) -> String {
    if number.abs() < 0.0005 { "0.000".into() } else { format!("{number:+.3}").replace('-', "−") }
}

/// A reason may quote what it is about.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(400) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
