//! The slots with the most CPU time while load was measured, and their keys.

use slotscope_base::text::{self, bytes, counted};
use slotscope_model::Summary;
use slotscope_model::hot_slots::{KeyAtWork, SlotAtWork};

use crate::view::table::Rank;
use crate::view::{Cell, Column, Section, Table, Value};

/// Keys named per slot, and characters of their names.
const KEYS: usize = 4;
const NAME: usize = 120;

/// The slots, hottest first.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let first = summary.hot_slots.first()?;
    let table = Table::of(&summary.hot_slots)
        .column(Column::number("slot"), |slot| Cell::number(slot.slot))
        .column(Column::words("node").rank(Rank::Detail), |slot| {
            Cell::owner(&summary.nodes.list, slot.node.as_ref())
        })
        .column(
            Column::number("% of CPU time")
                .rank(Rank::Main)
                .hint("of the CPU time that all slots took while load was measured"),
            |slot| Cell::share(slot.cpu_share),
        )
        .column(Column::number("keys"), |slot| Cell::count(slot.keys))
        .column(Column::words("its keys").flexible(), |slot| keys(slot))
        .build();
    let section =
        Section::titled("Slots that took most CPU time").anchored("cpu-slots", "CPU time");
    Some(section.line(sentence(first)).table(table))
}

/// The keys with the most CPU time, hottest first.
pub(crate) fn keys_section(summary: &Summary) -> Option<Section<'_>> {
    summary.hot_keys.first()?;
    let table = Table::of(&summary.hot_keys)
        .column(Column::words("key").flexible(), |hot| Cell::name(&hot.key))
        .column(Column::number("slot").rank(Rank::Detail), |hot| {
            Cell::number(hot.slot)
        })
        .column(Column::words("node"), |hot| {
            Cell::owner(&summary.nodes.list, hot.node.as_ref())
        })
        .column(
            Column::number("% of CPU time")
                .rank(Rank::Main)
                .hint("of the CPU time of all commands while load was measured, by HOTKEYS"),
            |hot| Cell::share(hot.cpu_share),
        )
        .build();
    let section = Section::titled("Keys that took most CPU time").anchored("cpu-keys", "CPU keys");
    Some(section.table(table))
}

/// The hottest slot in a sentence.
fn sentence(slot: &SlotAtWork) -> String {
    let names: Vec<String> = slot
        .listed
        .iter()
        .map(|key| text::name(&key.key, NAME))
        .collect();
    let keys = match names.as_slice() {
        [] => String::new(),
        [only] if slot.keys == 1 => format!("; its key: {only}"),
        names => format!("; its keys: {}", text::list(names.iter(), KEYS)),
    };
    format!(
        "slot {}: {} of the CPU time, {}{keys}",
        slot.slot,
        text::percent(slot.cpu_share),
        counted(slot.keys, "key")
    )
}

/// The keys that are named, with their known attributes.
fn keys<'a>(slot: &'a SlotAtWork) -> Cell<'a> {
    let known = |key: &KeyAtWork| match (key.cpu_share, key.ops, key.bytes) {
        (Some(share), ..) => text::percent(share),
        (_, Some(ops), _) => counted(ops, "operation"),
        (.., Some(size)) => bytes(size),
        _ => String::new(),
    };
    let first = slot.listed.iter().take(KEYS);
    let named = first.map(|key| (text::name(&key.key, NAME), known(key)));
    match named.collect::<Vec<_>>() {
        named if named.is_empty() => Cell::none(),
        named => Value::Named(named).into(),
    }
}
