//! The nodes in few lines, on other numbers of nodes, and from the counts that they give themselves.

use crate::metric::Metric;
use crate::report::view::cell::Tone;
use crate::report::view::nodes::{fair, fair_column, of_role, other_role, role_column};
use crate::report::view::table::Rank;
use crate::report::view::{Block, Cell, Column, Scope, Section, Table};
use crate::summary::Summary;
use crate::summary::node_counts::NodeCounts;
use crate::summary::nodes::NodeLoad;
use crate::summary::state::State;
use crate::text::counted;

/// Nodes that are shown where space is short.
const BARS: usize = 6;

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
    let columns = columns.into_iter().chain(other.map(role_column)).collect();
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
        Column::number("fullest node, × fair")
            .field("fullest node")
            .hint("what the fullest node would hold over the average node; the mark is the fair share"),
        Column::words("verdict"),
    ];
    let table = Table::new(columns, rows);
    let section = Section::titled("The same keys on other numbers of equal nodes");
    page_only(section.anchored("counts", "Node counts"), table)
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
