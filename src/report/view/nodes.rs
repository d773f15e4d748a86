//! The nodes: how full each is, why the fullest is, and what other numbers of nodes would give.

use crate::metric::Metric;
use crate::report::view::cell::Tone;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Block, Cell, Column, Scope, Section, Table};
use crate::summary::Summary;
use crate::summary::node_counts::NodeCounts;
use crate::summary::nodes::NodeLoad;
use crate::summary::state::{Role, State};
use crate::text::{self, counted, percent};

/// Nodes that are shown where space is short.
const BARS: usize = 6;

/// Characters of what all names of nodes share.
const NAME: usize = 200;

/// What "fair" means in the head of a column.
const FAIR: &str = "its load over that of the average node; the mark is the fair share";

/// The nodes against their fair share.
pub fn section(summary: &Summary) -> Option<Section<'_>> {
    if summary.has_only_extremes() {
        return None;
    }
    let nodes = &summary.nodes;
    let section = Section::titled(format!("Nodes ({})", nodes.source))
        .anchored("nodes", "Nodes")
        .table(table(summary));
    let section = match nodes.left_out() {
        Some(names) => section.line(format!("names of nodes: {}", text::name(&names, NAME))),
        None => section,
    };
    let unowned = &nodes.unowned;
    if unowned.load.keys == 0 {
        return Some(section);
    }
    Some(section.line(format!(
        "{} ({}) are in the {} that no node owns",
        counted(unowned.load.keys, "key"),
        percent(unowned.load.keys as f64 / summary.input.keys as f64),
        counted(u64::from(unowned.slots), "slot")
    )))
}

/// The nodes, and `nodes.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let (nodes, by) = (&summary.nodes, summary.by);
    let mean = nodes.balance.get(by).map_or(0.0, |balance| balance.mean);
    let load = |node: &NodeLoad| node.load.get(by).copied().unwrap_or(0) as f64;
    let most = nodes.list.iter().map(load).fold(mean, f64::max);
    let role = summary.verdict.by(by);
    let bands = role
        .filter(|role| role.state.is_uneven())
        .map(|role| role.bands);
    let tone = |ratio: f64| match bands {
        Some(bands) if ratio >= bands.upper => Tone::Alarm,
        Some(bands) if ratio > bands.lower => Tone::Watch,
        _ => Tone::Plain,
    };
    let other = other_role(summary);
    let rows = nodes.list.iter().map(|node| {
        let mut row = vec![
            Cell::node(node),
            Cell::of(node.address.as_ref(), Cell::name),
            Cell::count(node.slots),
        ];
        row.extend(loads(&node.load));
        row.push(match mean > 0.0 {
            true => fair(load(node) / mean, most / mean, tone(load(node) / mean)),
            false => Cell::none(),
        });
        row.extend(other.map(|role| of_role(node, role)));
        row
    });
    let mut columns = vec![
        Column::words("node").flexible(),
        Column::words("address").only_in_files(),
        Column::number("slots").rank(Rank::Detail),
    ];
    columns.extend(Column::loads(by));
    columns.push(fair_column());
    columns.extend(other.map(other_column));
    Table::new(columns, rows).in_file("nodes.csv")
}

/// The role that the tables are not by, where nodes are judged in both.
fn other_role(summary: &Summary) -> Option<Role> {
    let by = summary.verdict.by(summary.by)?.role?;
    let other = summary.verdict.roles.iter().filter_map(|role| role.role);
    other.filter(|role| *role != by).find(|role| {
        let mut nodes = summary.nodes.list.iter();
        nodes.any(|node| node.over_share.of(*role).is_some())
    })
}

fn of_role<'a>(node: &NodeLoad, role: Role) -> Cell<'a> {
    Cell::of(node.over_share.of(role), |ratio| Cell::ratio(ratio, 3))
}

fn other_column(role: Role) -> Column {
    let title = match role {
        Role::Memory => "memory × fair",
        Role::Load => "load × fair",
    };
    let column = Column::number(title).only_for_people();
    column.rank(Rank::Main).hint("the same in the other role")
}

fn fair_column() -> Column {
    let column = Column::number("× fair").only_for_people();
    column.rank(Rank::Main).hint(FAIR)
}

/// How often a node holds its fair share, with a bar to the largest such ratio.
fn fair<'a>(ratio: f64, most: f64, tone: Tone) -> Cell<'a> {
    Cell::ratio(ratio, 3).with_bar(ratio / most, Some(1.0 / most), tone)
}

/// The fullest nodes and the emptiest as bars, in few lines.
pub fn bars(summary: &Summary) -> Option<Section<'_>> {
    let (nodes, by) = (&summary.nodes, summary.by);
    let other = other_role(summary);
    let mean = nodes.balance.get(by).map_or(0.0, |balance| balance.mean);
    let mut list: Vec<&NodeLoad> = nodes.list.iter().collect();
    list.sort_by_key(|node| std::cmp::Reverse(node.load_by(by)));
    let most = list.first().map_or(0, |node| node.load_by(by)) as f64;
    if mean <= 0.0 {
        return None;
    }
    let more = list.len().saturating_sub(BARS);
    if more > 0 {
        list.drain(BARS - 1..list.len() - 1);
    }
    let rows = list.iter().map(|node| {
        let load = node.load_by(by) as f64;
        let row = [
            Cell::node(node),
            Cell::count(node.slots),
            Cell::amount(by, node.load_by(by)),
            fair(load / mean, most / mean, Tone::Plain),
        ];
        let other = other.map(|role| of_role(node, role));
        row.into_iter().chain(other).collect::<Vec<_>>()
    });
    let columns = [
        Column::words("node").flexible(),
        Column::number("slots").rank(Rank::Detail),
        Column::load(by, by),
        fair_column(),
    ];
    let columns = columns.into_iter().chain(other.map(other_column)).collect();
    let section = Section::untitled().table(Table::new(columns, rows));
    Some(match more {
        0 => section,
        more => section.line(format!("{} between them", counted(more as u64, "node"))),
    })
}

/// The same keys on other numbers of nodes.
pub fn node_counts(summary: &Summary) -> Option<Section<'_>> {
    let found = summary.verdict.by(summary.by)?;
    let ratios = found
        .by_node_count
        .iter()
        .filter_map(|scaled| scaled.max_over_mean);
    let most = ratios.fold(1.0, f64::max);
    let bar = |ratio: f64, state| {
        Cell::ratio(ratio, 2).with_bar(ratio / most, Some(1.0 / most), tone(state))
    };
    let rows = found.by_node_count.iter().map(|scaled| {
        vec![
            Cell::number(scaled.nodes as u64),
            Cell::of(scaled.max_over_mean, |ratio| bar(ratio, scaled.state)),
            Cell::text(scaled.state.name()),
        ]
    });
    let columns = vec![
        Column::number("nodes"),
        Column::number("fullest node").hint("in fair shares; the mark is the fair share"),
        Column::words("verdict"),
    ];
    let table = Table::new(columns, rows);
    let section = Section::titled("The same keys on other numbers of equal nodes");
    page_only(section.anchored("counts", "").narrow(), table)
}

/// How good or bad a state is.
fn tone(state: State) -> Tone {
    match state {
        State::Skewed => Tone::Alarm,
        State::Watch => Tone::Watch,
        _ => Tone::Plain,
    }
}

fn page_only<'a>(section: Section<'a>, table: Table<'a>) -> Option<Section<'a>> {
    let is_empty = table.rows.is_empty();
    (!is_empty).then(|| section.scoped(Scope::Page).table(table))
}

/// The report of key counts that the nodes give themselves, without a dump.
pub fn counts_only(counts: &NodeCounts) -> Vec<Section<'_>> {
    let verdict = &counts.verdict;
    let most = counts.nodes.list.iter().filter_map(|node| node.over_fair);
    let most = most.fold(1.0, f64::max);
    let rows = counts.nodes.list.iter().map(|node| {
        vec![
            Cell::name(&node.address),
            Cell::count(node.slots),
            Cell::amount(Metric::Keys, node.keys),
            Cell::of(node.over_fair, |ratio| fair(ratio, most, Tone::Plain)),
        ]
    });
    let columns = vec![
        Column::words("node").flexible(),
        Column::number("slots").rank(Rank::Detail),
        Column::load(Metric::Keys, Metric::Keys),
        fair_column(),
    ];
    let title = format!("Nodes ({})", counts.nodes.source);
    vec![
        Section::untitled().with(Block::Verdict(
            verdict.state,
            verdict.state.word(None).into(),
            verdict.sentence.to_string(),
        )),
        Section::titled(title).table(Table::new(columns, rows)),
    ]
}
