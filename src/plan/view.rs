//! A plan as sections: what it brings, what it is judged by, the nodes before and after, what moves.

use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::plan::duration;
use crate::plan::outcome::{Change, FloorUnit, MoveOutcome, NodeOutcome, PlanOutcome};
use crate::report::view::table::Rank;
use crate::report::view::{Cell, Column, Section, Table, remarks};
use crate::summary::cause::limit;
use crate::text::{
    self, amount, and_more, bytes, counted, list, percent, plural, ranges, short_id,
};

/// Ranges of a move that are shown; all are in the JSON and in the script.
const RANGES: usize = 12;
/// Nodes and moves that are shown.
pub const ROWS: usize = 60;
/// Giant keys that are shown.
const BIG_KEYS: usize = 20;

/// The sections of a plan.
pub fn sections(outcome: &PlanOutcome) -> Vec<Section<'_>> {
    let mut top = Section::untitled().paragraph(headline(outcome));
    for text in leftovers(outcome)
        .chain(others(outcome))
        .chain(empty_today(outcome))
        .chain(floor(outcome))
        .chain([basis(outcome)])
    {
        top = top.paragraph(text);
    }
    if !outcome.moves.is_empty() {
        top = top.paragraph(setslot_duration(outcome));
    }
    vec![
        top,
        Section::untitled().table(nodes(outcome)),
        moves(outcome),
        big_keys(outcome),
        remarks::section(remarks::remarks(&outcome.warnings, &[])),
    ]
}

/// What moves, and what that brings.
pub fn headline(outcome: &PlanOutcome) -> String {
    let over_fair = outcome.nodes.iter().filter_map(|node| node.over_fair);
    let before = over_fair.map(|over| over.before).fold(0.0, f64::max);
    let removed: Vec<Name> = removed(outcome).map(node_name).collect();
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
    let (empty, fullest) = match removed.is_empty() {
        true => (String::new(), "the fullest node"),
        false => (
            format!("empty {}: ", list(removed.iter(), ROWS)),
            "the fullest of the nodes that stay",
        ),
    };
    format!(
        "{empty}move {} in {} ({}): {fullest} goes from {before:.3} to {:.3} times its fair share{}",
        counted(outcome.slots_moved as u64, "slot"),
        counted(ranges as u64, "range"),
        moved(outcome),
        outcome.over_fair,
        match outcome.limited && leftovers(outcome).next().is_none() {
            true => "; the limits keep it from less",
            false => "",
        },
    )
}

/// The nodes that are to be emptied.
fn removed(outcome: &PlanOutcome) -> impl Iterator<Item = &NodeOutcome> {
    let is_removed = |node: &&NodeOutcome| node.weight <= 0.0 && !node.failed;
    outcome.nodes.iter().filter(is_removed)
}

/// What nodes keep that are to be emptied.
pub fn leftovers(outcome: &PlanOutcome) -> impl Iterator<Item = String> {
    let kept = removed(outcome).filter(|node| node.slots.after > 0);
    kept.map(|node| {
        let keys = &node.load.keys;
        format!(
            "{} is not emptied: the limits leave it {} with {} of its {}",
            node_name(node),
            counted(node.slots.after as u64, "slot"),
            text::grouped(keys.after),
            counted(keys.before, "key"),
        )
    })
}

/// What the same moves bring by the metrics that they are not judged by.
fn others(outcome: &PlanOutcome) -> Option<String> {
    let one = |(metric, change): (&&str, &Change<f64>)| {
        let [before, after] = [change.before, change.after].map(|over| format!("{over:.3}"));
        match before == after {
            true => format!("{metric} {after}"),
            false => format!("{metric} {before} → {after}"),
        }
    };
    let others: Vec<String> = outcome.others.iter().map(one).collect();
    (!others.is_empty() && !outcome.moves.is_empty()).then(|| {
        format!(
            "the fullest node by the other metrics: {}",
            others.join(", ")
        )
    })
}

/// Primaries without slots count in fair shares here and not in a report, so both differ.
fn empty_today(outcome: &PlanOutcome) -> Option<String> {
    let is_empty = |node: &&NodeOutcome| node.slots.before == 0 && node.weight > 0.0;
    let empty: Vec<Name> = outcome
        .nodes
        .iter()
        .filter(is_empty)
        .map(node_name)
        .collect();
    (!empty.is_empty()).then(|| {
        let names = list(empty.iter(), RANGES);
        format!("fair shares are those with primaries that own no slots today: {names}")
    })
}

/// Keys that move, and bytes where they are known.
fn moved(outcome: &PlanOutcome) -> String {
    let keys = counted(outcome.keys_moved, "key");
    outcome
        .bytes_moved
        .map_or(keys.clone(), |moved| format!("{keys}, {}", bytes(moved)))
}

/// What the plan is judged by, and what it does not know.
pub fn basis(outcome: &PlanOutcome) -> String {
    let weighted = |(metric, weight): (&&str, &f64)| match outcome.by.len() {
        1 => (*metric).to_string(),
        _ => format!("{metric} (weight {weight})"),
    };
    let by: Vec<String> = outcome.by.iter().map(weighted).collect();
    let by = format!("judged by {}", list(by.iter(), ROWS));
    match (
        outcome.bytes_moved,
        outcome.by.contains_key(Metric::Bytes.name()),
    ) {
        (None, _) => format!(
            "{by} only: the dump has no sizes, so memory is not known, and a key of many megabytes counts as one key"
        ),
        (Some(_), false) => {
            let of_bytes = outcome.others.get(Metric::Bytes.name());
            let uneven = of_bytes.filter(|change| change.after > limit::BALANCED);
            let so_much = uneven.map_or(String::new(), |change| {
                format!(
                    ", of which the fullest node has {:.3} times its fair share",
                    change.after
                )
            });
            format!("{by}; --by bytes plans for memory{so_much}")
        }
        (Some(_), true) => by,
    }
}

/// How long the setslot script takes.
pub fn setslot_duration(outcome: &PlanOutcome) -> String {
    let unknown = match outcome.bytes_moved {
        Some(_) => "",
        None => "; longer where values are large, which the dump does not say",
    };
    format!(
        "--commands setslot takes about {} on quiet nodes ({}){unknown}",
        span(outcome.estimated_secs),
        duration::BASIS
    )
}

/// A span of time in words, rounded.
fn span(secs: f64) -> String {
    match secs {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// What no plan can beat, and why; `None` where nothing does but the mean.
pub fn floor(outcome: &PlanOutcome) -> Option<String> {
    let unit = outcome.floor_unit.as_ref()?;
    let least = format!("no plan gets it below {:.3}", outcome.floor);
    let FloorUnit {
        kind,
        name,
        slot,
        share,
    } = unit;
    Some(match *kind {
        "slots" => format!("{least}: {name} slots have to share a node"),
        "slot" => format!("{least}: slot {name} cannot be split"),
        kind => {
            let name = match kind {
                "tag" => format!("{{{}}}", text::short(name)),
                _ => text::short(name),
            };
            let slot = slot.map_or(String::new(), |slot| format!(" of slot {slot}"));
            let share = share.map_or(String::new(), |share| {
                format!(", {}{slot},", percent(share))
            });
            format!("{least}: the {kind} {name}{share} cannot be split")
        }
    })
}

/// The nodes, each amount today and then in one cell.
fn nodes(outcome: &PlanOutcome) -> Table<'_> {
    let first = outcome.nodes.first();
    let loads = first.iter().flat_map(|node| node.load.iter());
    let metrics: Vec<Metric> = loads.map(|(metric, _)| metric).collect();
    let mut columns = vec![
        Column::words("node").flexible(),
        Column::number("weight").rank(Rank::Detail).optional(),
        Column::number("slots").rank(Rank::Detail),
    ];
    columns.extend(metrics.iter().map(|metric| {
        let is_judged = outcome.by.contains_key(metric.name());
        Column::number(metric.name()).rank(match is_judged {
            true => Rank::Usual,
            false => Rank::OtherMetric,
        })
    }));
    columns.push(Column::number("× fair").rank(Rank::Main));
    let is_weighed = outcome
        .nodes
        .iter()
        .any(|node| ![0.0, 1.0].contains(&node.weight));
    let row = |node: &'_ NodeOutcome| {
        let weight = is_weighed.then_some(node.weight);
        let mut row = vec![
            Cell::text(marked_name(node)),
            Cell::of(weight, |weight| Cell::text(weight.to_string())),
            Cell::change([node.slots.before, node.slots.after].map(|n| text::grouped(n as u64))),
        ];
        for metric in &metrics {
            let load = node.load.get(*metric).copied();
            row.push(Cell::of(load, |Change { before, after }| {
                Cell::change([before, after].map(|load| text::amount_cell(*metric, load)))
            }));
        }
        row.push(Cell::of(node.over_fair, |Change { before, after }| {
            Cell::change([before, after].map(|over| format!("{over:.3}")))
        }));
        row
    };
    Table::new(columns, outcome.nodes.iter().map(row))
}

/// A node and what is special about it.
fn marked_name(node: &NodeOutcome) -> String {
    let mark = match (node.failed, node.weight <= 0.0) {
        (true, _) => " (failed)",
        (_, true) => " (to be emptied)",
        _ => "",
    };
    format!("{}{mark}", node_name(node))
}

fn moves(outcome: &PlanOutcome) -> Section<'_> {
    let name = |id: &Name| {
        let node = outcome.nodes.iter().find(|node| node.id == *id);
        node.map_or_else(|| short_id(id), |node| node_name(node).to_string())
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

/// Keys that MIGRATE takes long for.
fn big_keys(outcome: &PlanOutcome) -> Section<'_> {
    if outcome.big_keys.is_empty() {
        return Section::untitled();
    }
    let columns = vec![
        Column::words("key").flexible(),
        Column::number("slot"),
        Column::number("size").rank(Rank::Main),
    ];
    let rows = outcome.big_keys.iter().map(|key| {
        vec![
            Cell::name(&key.key),
            Cell::number(key.slot),
            Cell::bytes(key.bytes),
        ]
    });
    Section::titled("Large keys that move: MIGRATE blocks both nodes while it copies one")
        .table(Table::new(columns, rows).at_most(BIG_KEYS))
}

/// What people call a node.
pub fn node_name(node: &NodeOutcome) -> Name {
    text::node_name(&node.id, node.address.as_ref(), node.hostname.as_ref())
}
