//! The capacity of nodes, if the user gave their memory.

use slotscope_base::text::{bytes, counted};
use slotscope_model::Summary;
use slotscope_model::capacity::{Capacity, NodeRoom};
use slotscope_model::limit;

use crate::view::cell::Tone;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Section, Table, Value};

/// How full the nodes are, and when they will be full.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let capacity = summary.capacity.as_ref()?;
    let part = |node: &NodeRoom| node.used as f64 / node.maxmemory.max(1) as f64;
    let mut nodes: Vec<&NodeRoom> = capacity.nodes.iter().collect();
    nodes.sort_by(|a, b| part(b).total_cmp(&part(a)));
    let tone = |part: f64| match part {
        part if part >= limit::FULL => Tone::Alarm,
        part if part >= limit::CLOSE => Tone::Watch,
        _ => Tone::Plain,
    };
    let table = Table::of(nodes)
        .column(Column::words("node").flexible(), |node| {
            Cell::owner(&summary.nodes.list, Some(&node.id))
        })
        .column(Column::number("used").rank(Rank::Main), |node| {
            Cell::bytes(node.used)
        })
        .column(Column::number("headroom").rank(Rank::Main), |node| {
            Value::SignedBytes(node.headroom).into()
        })
        .column(Column::number("of the limit").rank(Rank::Detail), |node| {
            let part = part(node);
            Cell::share(part).with_bar(part, None, tone(part))
        })
        .column(
            Column::number("months")
                .rank(Rank::Main)
                .hint("until it is full"),
            |node| Cell::of(node.months, |months| Cell::ratio(months, 1)),
        )
        .build();
    let section = Section::titled("Capacity")
        .anchored("capacity", "Capacity")
        .explained("commands/analyze.md#capacity", "limits and growth")
        .line(capacity.sentence.clone());
    let section = usable(capacity).into_iter().fold(section, Section::line);
    Some(section.table(table))
}

fn usable(capacity: &Capacity) -> Option<String> {
    let usable = capacity.usable_bytes?;
    let limits = capacity.nodes.iter().map(|node| node.maxmemory);
    let nominal = limits.fold(0, u64::saturating_add);
    let most = capacity.max_nodes.map_or(String::new(), |most| {
        format!(
            "; beyond {} one slot alone is more than a fair share",
            counted(most, "node")
        )
    });
    Some(format!(
        "{} of {} can be filled before the fullest node is full{most}",
        bytes(usable as u64),
        bytes(nominal)
    ))
}
