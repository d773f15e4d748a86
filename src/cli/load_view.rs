//! The load of a collection as a section: the activity of each primary.

use slotscope_engine::source::collection::load::{LoadEntry, MonitorEntry, NodeWork};
use slotscope_engine::text::{bytes, counted, grouped, percent};
use slotscope_report::view::{Cell, Column, Section, Table};

/// Commands listed per node.
const COMMANDS: usize = 2;

pub(super) fn section(load: &LoadEntry) -> Section<'_> {
    let start = Section::untitled()
        .paragraph(headline(load))
        .table(table(load));
    let refused = load.nodes.iter().filter_map(refused);
    let section = refused.fold(start, Section::line);
    match &load.monitor {
        Some(monitor) => section.paragraph(captured(monitor)),
        None => section,
    }
}

fn headline(load: &LoadEntry) -> String {
    let count = load.nodes.len() as u64;
    let by_slot = match load.nodes_by_slot {
        0 => "not by slot".to_owned(),
        some if some == count => "by slot too".to_owned(),
        some => format!("by slot on {}", grouped(some)),
    };
    format!(
        "load of {} over the same {:.1} s, read within {:.0} ms, {by_slot}:",
        counted(count, "primary").replace("primarys", "primaries"),
        load.secs,
        1000.0 * load.spread_secs
    )
}

fn table(load: &LoadEntry) -> Table<'_> {
    let rate = |rate: Option<f64>| rate.map(|rate| rate.round() as u64);
    Table::of(&load.nodes)
        .column(Column::words("node"), |node| Cell::text(&*node.name))
        .column(Column::number("commands/s"), move |node| {
            Cell::of(rate(node.ops_per_sec), Cell::count)
        })
        .column(Column::number("CPU"), |node| {
            Cell::text(node.cpu.map_or_else(String::new, percent))
        })
        .column(Column::number("in/s"), move |node| {
            traffic(rate(node.net_in_per_sec))
        })
        .column(Column::number("out/s"), move |node| {
            traffic(rate(node.net_out_per_sec))
        })
        .column(Column::words("busiest commands"), |node| {
            Cell::text(commands(node))
        })
        .build()
}

fn traffic<'a>(rate: Option<u64>) -> Cell<'a> {
    Cell::text(rate.map_or_else(String::new, bytes))
}

fn commands(node: &NodeWork) -> String {
    let busiest = node.commands.iter().take(COMMANDS);
    let shares = busiest.map(|command| format!("{} {}", command.name, percent(command.share)));
    shares.collect::<Vec<_>>().join(", ")
}

/// `127.0.0.1:7001 refuses 480 commands/s with CROSSSLOT (mget, sunionstore)`
fn refused(node: &NodeWork) -> Option<String> {
    let first = node.refused.errors.first()?;
    let most_refused = node.refused.commands.iter().take(COMMANDS);
    let names: Vec<&str> = most_refused.map(|command| &*command.name).collect();
    let commands = match names.as_slice() {
        [] => String::new(),
        names => format!(" ({})", names.join(", ")),
    };
    Some(format!(
        "{} refuses {} commands/s with {}{commands}",
        node.name,
        grouped(first.per_sec.round() as u64),
        first.name
    ))
}

/// How much MONITOR saw.
fn captured(monitor: &MonitorEntry) -> String {
    let commands = monitor.nodes.iter().map(|node| node.commands).sum();
    format!(
        "MONITOR for {:.0} s: {}",
        monitor.secs,
        counted(commands, "command")
    )
}
