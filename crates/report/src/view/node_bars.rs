//! The nodes in few lines, and from their own key counts.

use slotscope_base::metric::Metric;
use slotscope_base::text::counted;
use slotscope_model::Summary;
use slotscope_model::measure::Measure;
use slotscope_model::node_counts::NodeCounts;
use slotscope_model::nodes::NodeLoad;

use crate::view::cell::Tone;
use crate::view::nodes::{self, fair, fair_column, measure, of_role, other_role};
use crate::view::table::Rank;
use crate::view::{Block, Cell, Column, Section, Table};

/// Maximum nodes shown if space is short.
const BARS: usize = 6;

/// The fullest and the emptiest nodes as bars, in few lines.
pub(crate) fn bars(summary: &Summary) -> Option<Section<'_>> {
    let (nodes, metric) = (&summary.nodes, summary.by);
    let second = other_role(summary);
    let balance = nodes.balance.get(metric);
    let mean = balance.map_or(0.0, |balance| balance.mean);
    let mut list: Vec<&NodeLoad> = nodes.list.iter().collect();
    if mean <= 0.0 {
        return None;
    }
    let measure = measure(summary, None);
    let role = summary.verdict.by(metric).and_then(|verdict| verdict.role);
    // The share of a node with twice the memory is twice as much.
    let ratio = |node: &NodeLoad| {
        let judged = role.and_then(|role| node.over_share.of(role));
        judged.unwrap_or_else(|| node.load_by(metric) as f64 / mean)
    };
    list.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let most = list.first().map_or(0.0, |node| ratio(node));
    let hidden = list.len().saturating_sub(BARS);
    let mut rows: Vec<Option<&NodeLoad>> = list.into_iter().map(Some).collect();
    if hidden > 0 {
        // One row for all between the fullest and the emptiest.
        rows.splice(BARS - 1..rows.len() - 1, [None]);
    }
    let gap = || Cell::text("");
    let table = Table::of(rows)
        .column(Column::words("node").flexible(), |node| match node {
            Some(node) => Cell::node(node),
            None => Cell::text(format!("… {}", counted(hidden as u64, "more node"))),
        })
        .column(Column::number("slots").rank(Rank::Detail), |node| {
            node.map_or_else(gap, |node| Cell::count(node.slots))
        })
        .column(Column::load(metric, metric), |node| {
            node.map_or_else(gap, |node| Cell::amount(metric, node.load_by(metric)))
        })
        .column(fair_column(measure), |node| {
            node.map_or_else(gap, |node| fair(ratio(node), most, Tone::Plain))
        })
        .columns(
            second,
            |role| fair_column(nodes::measure(summary, Some(role))),
            |role, node| node.map_or_else(gap, |node| of_role(node, role)),
        )
        .build();
    Some(Section::untitled().table(table))
}

/// The report on key counts from the nodes themselves, without a dump.
pub fn counts_only(counts: &NodeCounts) -> Vec<Section<'_>> {
    let verdict = &counts.verdict;
    let ratios = counts.nodes.list.iter().filter_map(|node| node.over_fair);
    let most = ratios.fold(1.0, f64::max);
    let table = Table::of(&counts.nodes.list)
        .column(Column::words("node").flexible(), |node| {
            Cell::name(&node.address)
        })
        .column(Column::number("slots").rank(Rank::Detail), |node| {
            Cell::count(node.slots)
        })
        .column(Column::load(Metric::Keys, Metric::Keys), |node| {
            Cell::amount(Metric::Keys, node.keys)
        })
        .column(fair_column(Measure::Keys), |node| {
            Cell::of(node.over_fair, |ratio| fair(ratio, most, Tone::Plain))
        })
        .build();
    let title = format!("Nodes ({})", counts.nodes.source);
    vec![
        Section::untitled().with(Block::Verdict(
            verdict.state,
            verdict.state.word(None).into(),
            verdict.sentence.clone(),
        )),
        Section::titled(title).table(table),
    ]
}
