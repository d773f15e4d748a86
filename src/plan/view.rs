//! A plan as sections: what it brings, the nodes before and after, what moves.

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::plan::outcome::{Change, FloorUnit, MoveOutcome, NodeOutcome, PlanOutcome};
use crate::report::view::table::Rank;
use crate::report::view::{Cell, Column, Section, Table, remarks};
use crate::text::{self, amount, and_more, bytes, counted, percent, plural, ranges, short_id};

/// Ranges of a move that are shown; all are in the JSON and in the script.
const RANGES: usize = 12;
/// Nodes and moves that are shown.
pub const ROWS: usize = 60;

/// The sections of a plan.
pub fn sections(outcome: &PlanOutcome) -> Vec<Section<'_>> {
    vec![
        Section::untitled()
            .paragraph(headline(outcome))
            .paragraph(floor(outcome)),
        Section::untitled().table(nodes(outcome)),
        moves(outcome),
        remarks::section(remarks::remarks(&outcome.warnings, &[])),
    ]
}

/// What moves, and what that brings.
pub fn headline(outcome: &PlanOutcome) -> String {
    let before = outcome
        .nodes
        .iter()
        .filter_map(|node| node.over_fair)
        .map(|over| over.before)
        .fold(0.0, f64::max);
    if outcome.moves.is_empty() {
        let why = if outcome.limited {
            " within the limits"
        } else {
            ""
        };
        return format!(
            "nothing to move{why}: the fullest node holds {before:.3} times its fair share"
        );
    }
    let ranges: usize = outcome.moves.iter().map(|of| of.ranges.len()).sum();
    format!(
        "move {} in {} ({}): the fullest node goes from {before:.3} to {:.3} times its fair share{}",
        counted(outcome.slots_moved as u64, "slot"),
        counted(ranges as u64, "range"),
        moved(outcome),
        outcome.over_fair,
        if outcome.limited {
            "; the limits keep it from less"
        } else {
            ""
        },
    )
}

/// Keys that move, and bytes where they are known.
fn moved(outcome: &PlanOutcome) -> String {
    let keys = counted(outcome.keys_moved, "key");
    outcome
        .bytes_moved
        .map_or(keys.clone(), |moved| format!("{keys}, {}", bytes(moved)))
}

/// What no plan can beat, and why.
pub fn floor(outcome: &PlanOutcome) -> String {
    let floor = outcome.floor;
    match &outcome.floor_unit {
        None => format!("no plan gets it below {floor:.3}"),
        Some(FloorUnit {
            kind: "slots",
            name,
            ..
        }) => {
            format!("no plan gets it below {floor:.3}: {name} slots have to share a node")
        }
        Some(FloorUnit {
            kind: "slot", name, ..
        }) => {
            format!("no plan gets it below {floor:.3}: slot {name} cannot be split")
        }
        Some(FloorUnit {
            kind,
            name,
            slot,
            share,
        }) => {
            let name = if *kind == "tag" {
                format!("{{{name}}}")
            } else {
                name.to_string()
            };
            let slot = slot.map_or(String::new(), |slot| format!(" of slot {slot}"));
            let share = share.map_or(String::new(), |share| {
                format!(", {}{slot},", percent(share))
            });
            format!("no plan gets it below {floor:.3}: the {kind} {name}{share} cannot be split")
        }
    }
}

fn nodes(outcome: &PlanOutcome) -> Table<'_> {
    let first = outcome.nodes.first();
    let metrics: Vec<Metric> = first
        .iter()
        .flat_map(|node| node.load.iter())
        .map(|(metric, _)| metric)
        .collect();
    let then = || Column::number("then");
    let mut columns = vec![
        Column::words("node").flexible(),
        Column::number("weight").rank(Rank::Detail),
        Column::number("slots"),
        then(),
    ];
    columns.extend(
        metrics
            .iter()
            .flat_map(|metric| [Column::number(metric.name()), then()]),
    );
    columns.extend([
        Column::number("× fair").rank(Rank::Main),
        then().rank(Rank::Main),
    ]);
    let row = |node: &'_ NodeOutcome| {
        let mut row = vec![
            Cell::text(node_name(node)),
            Cell::text(node.weight.to_string()),
        ];
        row.extend([node.slots.before, node.slots.after].map(|slots| Cell::count(slots as u64)));
        for metric in &metrics {
            let change = node.load.get(*metric).copied().unwrap_or(Change {
                before: 0,
                after: 0,
            });
            row.extend([change.before, change.after].map(|load| Cell::amount(*metric, load)));
        }
        let over_fair = [
            node.over_fair.map(|change| change.before),
            node.over_fair.map(|change| change.after),
        ];
        row.extend(over_fair.map(|over| Cell::of(over, |over| Cell::ratio(over, 3))));
        row
    };
    Table::new(columns, outcome.nodes.iter().map(row))
}

fn moves(outcome: &PlanOutcome) -> Section<'_> {
    let name = |id: &Name| {
        let mut nodes = outcome.nodes.iter();
        nodes
            .find(|node| node.id == *id)
            .map_or_else(|| short_id(id), node_name)
    };
    let mut section = match outcome.moves.is_empty() {
        true => return Section::untitled(),
        false => Section::titled("Moves"),
    };
    for of in outcome.moves.iter().take(ROWS) {
        let (from, to) = (name(&of.from), name(&of.to));
        let (slots, load) = (counted(of.slots as u64, "slot"), contents(&of.load));
        section = section.line(format!("{from} -> {to}: {slots}, {load}"));
        section = section.line(format!("  {}", shown_ranges(of)));
    }
    match outcome.moves.len().saturating_sub(ROWS) {
        0 => section,
        more => section.line(format!(
            "... {} move{}, in --json",
            and_more(more),
            plural(more as u64)
        )),
    }
}

fn contents(load: &PerMetric<u64>) -> String {
    let one = |(metric, load): (Metric, &u64)| amount(metric, *load);
    load.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn shown_ranges(of: &MoveOutcome) -> String {
    let mut text = ranges(&of.ranges, RANGES);
    if of.ranges.len() > RANGES {
        text += " ranges, in --json";
    }
    text
}

/// A node as a reader knows it.
pub fn node_name(node: &NodeOutcome) -> String {
    text::node_name(&node.id, node.address.as_ref(), node.hostname.as_ref()).to_string()
}
