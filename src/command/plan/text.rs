//! A plan for people: what it brings, what moves, the nodes before and after.

use std::io::{self, Write};

use crate::advice::plan::outcome::{Change, FloorUnit, MoveOutcome, NodeOutcome, Outcome};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;
use crate::report::units::{bytes, counted, grouped, percent, short_id};

/// Ranges of a move that are shown, and nodes and moves; all are in the JSON and in the script.
const RANGES: usize = 12;
const ROWS: usize = 60;

/// Writes it.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", headline(outcome))?;
    writeln!(out, "{}", floor(outcome))?;
    nodes(outcome, out)?;
    moves(outcome, out)?;
    outcome.warnings.iter().try_for_each(|text| writeln!(out, "\nwarning: {text}"))
}

/// What moves, and what that brings.
pub fn headline(outcome: &Outcome) -> String {
    let before = outcome.nodes.iter().filter_map(|node| node.over_fair).map(|over| over.before).fold(0.0, f64::max);
    if outcome.moves.is_empty() {
        let why = if outcome.limited { " within the limits" } else { "" };
        return format!("nothing to move{why}: the fullest node holds {before:.3} times its fair share");
    }
    let ranges: usize = outcome.moves.iter().map(|of| of.ranges.len()).sum();
    format!(
        "move {} in {} ({}): the fullest node goes from {before:.3} to {:.3} times its fair share{}",
        counted(outcome.slots_moved as u64, "slot"),
        counted(ranges as u64, "range"),
        moved(outcome),
        outcome.over_fair,
        if outcome.limited { "; the limits keep it from less" } else { "" },
    )
}

/// Keys that move, and bytes where they are known.
fn moved(outcome: &Outcome) -> String {
    let keys = counted(outcome.keys_moved, "key");
    outcome.bytes_moved.map_or(keys.clone(), |moved| format!("{keys}, {}", bytes(moved)))
}

/// What no plan can beat, and why.
pub fn floor(outcome: &Outcome) -> String {
    let floor = outcome.floor;
    match &outcome.floor_unit {
        None => format!("no plan gets it below {floor:.3}"),
        Some(FloorUnit { kind: "slots", name, .. }) => {
            format!("no plan gets it below {floor:.3}: {name} slots have to share a node")
        }
        Some(FloorUnit { kind: "slot", name, .. }) => {
            format!("no plan gets it below {floor:.3}: slot {name} cannot be parted")
        }
        Some(FloorUnit { kind, name, slot, share }) => {
            let name = if *kind == "tag" { format!("{{{name}}}") } else { name.to_string() };
            let slot = slot.map_or(String::new(), |slot| format!(" of slot {slot}"));
            let share = share.map_or(String::new(), |share| format!(", {}{slot},", percent(share)));
            format!("no plan gets it below {floor:.3}: the {kind} {name}{share} cannot be parted")
        }
    }
}

fn nodes(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let metrics: Vec<Metric> =
        outcome.nodes.first().into_iter().flat_map(|node| node.load.iter()).map(|(m, _)| m).collect();
    let mut rows = vec![vec![String::from("node"), "weight".into(), "slots".into(), "then".into()]];
    for metric in &metrics {
        rows[0].extend([metric.name().to_string(), "then".into()]);
    }
    rows[0].extend(["x fair".to_string(), "then".into()]);
    for node in outcome.nodes.iter().take(ROWS) {
        let mut row = vec![node_name(node), node.weight.to_string()];
        row.extend([grouped(node.slots.before as u64), grouped(node.slots.after as u64)]);
        for metric in &metrics {
            let change = node.load.get(*metric).copied().unwrap_or(Change { before: 0, after: 0 });
            row.extend([change.before, change.after].map(|load| amount(*metric, load)));
        }
        let over =
            |of: fn(&Change<f64>) -> f64| node.over_fair.as_ref().map_or("-".into(), |c| format!("{:.3}", of(c)));
        row.extend([over(|change| change.before), over(|change| change.after)]);
        rows.push(row);
    }
    writeln!(out)?;
    table(&rows, out)?;
    more(outcome.nodes.len(), "node", out)
}

fn moves(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    if outcome.moves.is_empty() {
        return Ok(());
    }
    let name = |id: &Name| outcome.nodes.iter().find(|node| node.id == *id).map_or_else(|| short_id(id), node_name);
    writeln!(out)?;
    for of in outcome.moves.iter().take(ROWS) {
        let load = contents(&of.load);
        writeln!(out, "  {} -> {}: {}, {load}", name(&of.from), name(&of.to), counted(of.slots as u64, "slot"))?;
        writeln!(out, "    {}", shown_ranges(of))?;
    }
    more(outcome.moves.len(), "move", out)
}

fn more(all: usize, one: &str, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(ROWS) {
        0 => Ok(()),
        more => writeln!(out, "  ... and {}, in --json", counted(more as u64, &format!("more {one}"))),
    }
}

fn contents(load: &PerMetric<u64>) -> String {
    let one = |(metric, load): (Metric, &u64)| match metric {
        Metric::Keys => counted(*load, "key"),
        Metric::Bytes => bytes(*load),
        Metric::Ops => counted(*load, "operation"),
    };
    load.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn shown_ranges(of: &MoveOutcome) -> String {
    let range = |(first, last): &(u16, u16)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let mut text = of.ranges.iter().take(RANGES).map(range).collect::<Vec<_>>().join(" ");
    match of.ranges.len().saturating_sub(RANGES) {
        0 => {}
        more => text += &format!(" and {}, in --json", counted(more as u64, "more range")),
    }
    text
}

/// A node as a reader knows it.
pub fn node_name(node: &NodeOutcome) -> String {
    match &node.address {
        Some(address) => format!("{} {address}", short_id(&node.id)),
        None => short_id(&node.id),
    }
}

fn amount(metric: Metric, load: u64) -> String {
    if metric == Metric::Bytes { bytes(load) } else { grouped(load) }
}

/// Cells in columns as wide as they need: the first to the left, numbers to the right.
fn table(rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
