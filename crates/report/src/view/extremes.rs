//! Key listings: the slots and nodes of keys that servers or redis-cli report as hottest, slowest or largest.

use std::collections::BTreeMap;

use slotscope_base::name::Name;
use slotscope_base::text::{self, counted, grouped, short};
use slotscope_model::Summary;
use slotscope_model::extremes::{ExtremeKey, ExtremeKeys};
use slotscope_model::nodes::NodeLoad;

use crate::view::table::Rank;
use crate::view::{Block, Cell, Column, Section, Table};

/// Maximum names per line.
const NAMED: usize = 3;

/// The keys of all listings.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let lists = summary.extremes.iter();
    let blocks = lists.flat_map(|list| {
        let commands = commands(list).map(Block::Line);
        let about = Block::Paragraph(about(summary, list));
        let table = Block::Table(table(summary, list));
        [about].into_iter().chain(commands).chain([table])
    });
    let section =
        Section::titled("Keys that are listed as extremes").anchored("extremes", "Extremes");
    (!summary.extremes.is_empty()).then(|| section.with_all(blocks))
}

/// The number of keys, and which nodes and tags have several.
fn about(summary: &Summary, list: &ExtremeKeys) -> String {
    let keys = counted(list.keys.len() as u64, "key");
    let entries = if list.entries > list.keys.len() as u64 {
        format!(" in {} entries", grouped(list.entries))
    } else {
        String::new()
    };
    let times = list.from_ms.zip(list.to_ms).map(|(from, to)| {
        format!(
            ", from {} to {}",
            text::time(from / 1000),
            text::time(to / 1000)
        )
    });
    let nodes = most(list, |key| key.node.as_ref());
    let node = |id: &Name| {
        let node = summary.nodes.get(id);
        node.map_or_else(|| id.clone(), NodeLoad::name)
    };
    let nodes = nodes
        .iter()
        .map(|(id, keys)| format!("{} {keys}", short(&node(id))));
    let listed = most(list, |key| key.tag.as_ref());
    let shared = listed.iter().filter(|(_, keys)| *keys > 1);
    let tags = shared.map(|(tag, keys)| format!("{{{}}} {keys}", short(tag)));
    let part = |label: &str, names: Vec<String>| {
        if names.is_empty() {
            String::new()
        } else {
            format!("; {label} {}", names.join(", "))
        }
    };
    format!(
        "By {}: {keys}{entries}{}{}{}",
        list.by.title(),
        times.unwrap_or_default(),
        part("keys of nodes:", nodes.collect()),
        part("of tags:", tags.collect())
    )
}

/// The names shared by most keys.
fn most<'s>(
    list: &'s ExtremeKeys,
    name: impl Fn(&'s ExtremeKey) -> Option<&'s Name>,
) -> Vec<(&'s Name, usize)> {
    let mut keys: BTreeMap<&Name, usize> = BTreeMap::new();
    for name in list.keys.iter().filter_map(name) {
        *keys.entry(name).or_default() += 1;
    }
    let mut most: Vec<_> = keys.into_iter().collect();
    most.sort_by_key(|(_, keys)| std::cmp::Reverse(*keys));
    most.truncate(NAMED);
    most
}

/// The commands with the most entries.
fn commands(list: &ExtremeKeys) -> Option<String> {
    let rows = list.commands.iter();
    let commands = rows.map(|row| format!("{} {}", row.command.to_uppercase(), row.entries));
    (!list.commands.is_empty()).then(|| format!("commands: {}", text::list(commands, NAMED)))
}

fn table<'s>(summary: &'s Summary, list: &'s ExtremeKeys) -> Table<'s> {
    let has_several = list.entries > list.keys.len() as u64;
    Table::of(&list.keys)
        .column(Column::words("key").flexible(), |key| Cell::name(&key.key))
        .column(Column::number("slot"), |key| Cell::number(key.slot))
        .column(Column::words("tag").optional(), |key| {
            Cell::of(key.tag.as_ref(), Cell::tag)
        })
        .column(Column::words("node"), |key| {
            Cell::owner(&summary.nodes.list, key.node.as_ref())
        })
        .column(
            Column::number("entries").rank(Rank::Detail).optional(),
            |key| Cell::of(has_several.then_some(key.entries), Cell::count),
        )
        .column(Column::for_people(list.by.head()).rank(Rank::Main), |key| {
            if list.by.is_size() {
                Cell::bytes(key.amount)
            } else {
                Cell::count(key.amount)
            }
        })
        .build()
        .at_most(summary.rows)
}

/// The marks of the listings that name a key.
pub(crate) fn mark(summary: &Summary, key: &Name, slot: u16) -> Cell<'static> {
    let lists = summary.listed_by(key, slot);
    let titles: Vec<&str> = lists.map(|extreme| extreme.title()).collect();
    Cell::of((!titles.is_empty()).then_some(titles), |titles| {
        Cell::text(titles.join(", "))
    })
}
