//! The hash slots: a map of all, the hottest ones, and how evenly they are filled.

use crate::metric::Metric;
use crate::report::view::table::{Rank, loads};
use crate::report::view::{Block, Cell, Column, Scope, Section, Table};
use crate::slot::SLOTS;
use crate::summary::model::expected::Expectation;
use crate::summary::nodes::NodeLoad;
use crate::summary::{HotSlot, Summary};
use crate::text::{self, amount_cell, grouped};

/// Tags and keys that are named for a slot, and characters of their names.
const TAGS: usize = 3;
const NAME: usize = 120;

/// The load of all slots.
pub fn map(summary: &Summary) -> Option<Section<'_>> {
    let by = summary.by;
    let loads = summary.slots.loads.get(by)?;
    let section = Section::titled(format!("Slots by {}", by.title()))
        .anchored("slots", "Slots")
        .with(Block::SlotMap(by, loads));
    // A map without any load is left to the page, whose script draws it.
    Some(match loads.iter().any(|load| *load > 0) {
        true => section,
        false => section.scoped(Scope::Page),
    })
}

/// Every slot: `slots.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let mut owners: Vec<Option<&NodeLoad>> = vec![None; SLOTS];
    for node in &summary.nodes.list {
        for (first, last) in &node.ranges {
            owners[usize::from(*first)..=usize::from(*last)].fill(Some(node));
        }
    }
    let rows = owners.into_iter().enumerate().map(|(slot, owner)| {
        let mut row = vec![
            Cell::number(slot as u64),
            Cell::of(owner, |node| Cell::name(&node.id)),
        ];
        row.extend(loads(&summary.slots.loads.map(|_, loads| loads[slot])));
        row
    });
    let mut columns = vec![Column::number("slot"), Column::words("node")];
    columns.extend(Column::loads(summary.by));
    Table::new(columns, rows)
}

/// The hottest slots.
pub fn hottest(summary: &Summary) -> Option<Section<'_>> {
    let (slots, by) = (&summary.slots, summary.by);
    if slots.hottest.is_empty() {
        return None;
    }
    let rows = slots.hottest.iter().map(|slot| {
        let mut row = vec![
            Cell::number(slot.slot),
            Cell::owner(&summary.nodes.list, slot.node.as_ref()),
        ];
        row.extend(loads(&slot.load));
        row.extend([Cell::ratio(slot.over_mean, 2), fills(slot, by)]);
        row
    });
    let has_keys = slots.hottest.iter().any(|slot| !slot.top_keys.is_empty());
    let node = Column::words("node").rank(Rank::Detail);
    let mut columns = vec![Column::number("slot"), node];
    columns.extend(Column::loads(by));
    columns.extend([
        Column::number("× mean")
            .rank(Rank::Main)
            .hint("its load over that of the average slot"),
        Column::words(if has_keys {
            "its tags and keys"
        } else {
            "its tags"
        })
        .flexible(),
    ]);
    let mean = slots.stats.get(by).map_or(0.0, |stats| stats.mean);
    let mean = text::mean(by, mean);
    let average = match by {
        by if by == Metric::Keys || by.has_unit() => mean,
        by => format!("{mean} {}", by.units()),
    };
    let label = match by {
        by if by.is_of_use() => "Hottest slots",
        _ => "Fullest slots",
    };
    let title = format!("{label} (the average holds {average})");
    let section = Section::titled(title).anchored("hot-slots", label);
    Some(section.table(Table::new(columns, rows)))
}

/// The tags and keys that fill a slot, heaviest first.
fn fills<'a>(slot: &HotSlot, by: Metric) -> Cell<'a> {
    let tags = slot.top_tags.iter().map(|tag| {
        let load = tag.load.get(by).copied();
        (load, format!("{{{}}}", text::name(&tag.tag, NAME)))
    });
    let keys = slot.top_keys.iter();
    let keys = keys.map(|key| (Some(key.ops), text::name(&key.key, NAME)));
    let mut fills: Vec<(Option<u64>, String)> = tags.chain(keys).collect();
    fills.sort_by_key(|(load, _)| std::cmp::Reverse(*load));
    let fills = fills.into_iter().take(TAGS).map(|(load, name)| {
        let load = load.map(|load| amount_cell(by, load));
        format!("{name} {}", load.unwrap_or_default())
    });
    match fills.collect::<Vec<_>>() {
        fills if fills.is_empty() => Cell::none(),
        fills => Cell::text(fills.join(", ")),
    }
}

/// How uneven the slots are, and how uneven chance would make them.
pub fn spread(summary: &Summary) -> Option<Section<'_>> {
    let by = summary.by;
    let stats = summary.slots.stats.get(by)?;
    let (over, cv, gini) = (stats.max_over_mean?, stats.cv?, stats.gini?);
    let positive = summary
        .units
        .per
        .get(by)
        .map_or(0.0, |units| units.positive);
    let plain = (positive > 0.0).then(|| Expectation::of_slots(positive));
    let plain = plain.map_or(String::new(), |plain| {
        format!(
            " (expected without hash tags, with equal sizes: {:.3})",
            plain.cv
        )
    });
    let [p50, p99, max] = [stats.p50, stats.p99, stats.max].map(|load| amount_cell(by, load));
    let empty = grouped(stats.empty as u64);
    let section = Section::titled("Spread over the slots").anchored("spread", "");
    Some(section.line(format!(
        "max/mean {over:.2}, CV {cv:.3}{plain}, Gini {gini:.3}, p50 {p50}, p99 {p99}, max {max}, empty {empty}"
    )))
}
