//! The hash slots: a map, the hottest ones, and how evenly they are filled.

use slotscope_base::metric::Metric;
use slotscope_base::text::{self, amount_cell, grouped};
use slotscope_model::independent_units::slot_cv;
use slotscope_model::{HotSlot, Summary};

use crate::view::table::Rank;
use crate::view::{Block, Cell, Column, Scope, Section, Table, Value};

/// Tags and keys named per slot, and characters of their names.
const TAGS: usize = 3;
const NAME: usize = 120;
/// A tag or key below this fraction of a slot does not fill it.
const LEAST: f64 = 0.01;

/// The load of all slots.
pub(crate) fn map(summary: &Summary) -> Option<Section<'_>> {
    let metric = summary.by;
    let loads = summary.slots.loads.get(metric)?;
    let section = Section::titled(format!("Slots by {}", metric.title()))
        .anchored("slots", "Slots")
        .with(Block::SlotMap(metric, loads));
    // A map without load is left to the page, whose script draws it.
    Some(if loads.iter().any(|load| *load > 0) {
        section
    } else {
        section.scoped(Scope::Page)
    })
}

/// All slots: `slots.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let owners = summary.nodes.owners();
    Table::of(owners.into_iter().enumerate())
        .column(Column::number("slot"), |(slot, _)| {
            Cell::number(*slot as u64)
        })
        .column(Column::words("node"), |(_, owner)| {
            Cell::of(*owner, |at| Cell::node(&summary.nodes.list[at]))
        })
        .loads(Metric::ALL, summary.by, |(slot, _)| {
            summary.slots.loads.map(|_, loads| loads[*slot])
        })
        .build()
}

/// The hottest slots.
pub(crate) fn hottest(summary: &Summary) -> Option<Section<'_>> {
    let (slots, metric) = (&summary.slots, summary.by);
    if slots.hottest.is_empty() {
        return None;
    }
    let filled_by = if metric.has_unit() {
        String::from("filled by")
    } else {
        format!("filled by ({})", metric.head())
    };
    let table = Table::of(&slots.hottest)
        .column(Column::number("slot"), |slot| Cell::number(slot.slot))
        .column(Column::words("node").rank(Rank::Detail), |slot| {
            Cell::owner(&summary.nodes.list, slot.node.as_ref())
        })
        .loads(Metric::ALL, metric, |slot| slot.load)
        .column(
            Column::number("× mean")
                .rank(Rank::Main)
                .hint("the load of the slot over that of the average slot"),
            |slot| Cell::ratio(slot.over_mean, 2),
        )
        .column(
            Column::words("filled by").titled(filled_by).flexible(),
            |slot| fills(summary, slot),
        )
        .build();
    let mean_load = slots.stats.get(metric).map_or(0.0, |stats| stats.mean);
    let mean = text::mean(metric, mean_load);
    let average = match metric {
        metric if metric == Metric::Keys || metric.has_unit() => mean,
        metric => format!("{mean} {}", metric.units()),
    };
    let label = match metric {
        metric if metric.is_of_use() => "Hottest slots",
        _ => "Fullest slots",
    };
    let title = format!("{label} (the average holds {average})");
    let section = Section::titled(title).anchored("hot-slots", label);
    Some(section.table(table))
}

/// The tags and keys that fill a slot, heaviest first. A tagged key is part of its tag.
fn fills<'a>(summary: &'a Summary, slot: &'a HotSlot) -> Cell<'a> {
    let metric = summary.by;
    let tags = slot.top_tags.iter().map(|tag| {
        let load = tag.load.get(metric).copied();
        (load, format!("{{{}}}", text::name(&tag.tag, NAME)))
    });
    let keys = summary.keys.iter();
    let listed = keys.flat_map(|keys| keys.heaviest.get(metric));
    let untagged = listed
        .flatten()
        .filter(|key| key.slot == slot.slot && !key.tagged);
    let heaviest = untagged.map(|key| (&key.key, key.weight(metric)));
    let captured = slot.top_keys.iter().map(|key| (&key.key, key.ops));
    let named = captured.chain(heaviest);
    let keys = named.map(|(key, load)| (Some(load), text::name(key, NAME)));
    let least = (slot.load.get(metric).copied().unwrap_or(0) as f64 * LEAST) as u64;
    let filling = tags.chain(keys).filter(|(load, _)| *load >= Some(least));
    let mut fills: Vec<(Option<u64>, String)> = filling.collect();
    fills.sort_by_key(|(load, _)| std::cmp::Reverse(*load));
    fills.dedup_by(|a, b| a.1 == b.1);
    let fills = fills.into_iter().take(TAGS).map(|(load, name)| {
        let amount = load.map(|load| amount_cell(metric, load));
        (name, amount.unwrap_or_default())
    });
    match fills.collect::<Vec<_>>() {
        fills if fills.is_empty() => Cell::none(),
        fills => Value::Named(fills).into(),
    }
}

/// How uneven the slots are, compared with chance.
pub(crate) fn spread(summary: &Summary) -> Option<Section<'_>> {
    let metric = summary.by;
    let stats = summary.slots.stats.get(metric)?;
    let (over, cv, gini) = (stats.max_over_mean?, stats.cv?, stats.gini?);
    let positive = summary
        .units
        .per
        .get(metric)
        .map_or(0.0, |units| units.positive);
    let plain = if positive > 0.0 {
        format!(
            " (expected without hash tags, with equal sizes: {:.3})",
            slot_cv(positive)
        )
    } else {
        String::new()
    };
    let [p50, p99, max] = [stats.p50, stats.p99, stats.max].map(|load| amount_cell(metric, load));
    let empty = grouped(stats.empty as u64);
    let section = Section::titled("Spread over the slots")
        .anchored("spread", "Spread")
        .explained(
            "statistics.md#statistics-of-slots-and-nodes",
            "what these numbers are",
        )
        .scoped(Scope::Page)
        .detail();
    Some(section.line(format!(
        "max/mean {over:.2}, CV {cv:.3}{plain}, Gini {gini:.3}, p50 {p50}, p99 {p99}, max {max}, empty {empty}"
    )))
}
