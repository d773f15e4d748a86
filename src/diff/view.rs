//! A diff as sections: the sentence, then tables of what changed most.

use crate::diff::{Change, Diff, Hot, HotKind, Names, NodeChange, OldNew};
use crate::metric::Metric;
use crate::name::Name;
use crate::node_labels::SharedParts;
use crate::report::view::table::Rank;
use crate::report::view::{Cell, Column, Section, Table, remarks};
use crate::text::{amount_cell, grouped};

/// The sections of a diff.
pub fn sections(diff: &Diff) -> Vec<Section<'_>> {
    let by = diff.verdict.by;
    let mut sections = vec![Section::untitled().paragraph(diff.sentence.to_string())];
    sections.extend(listed("Nodes", nodes(&diff.nodes, by)));
    sections.extend(listed("Got hot: their part of the load", hot(diff)));
    let kinds = [
        ("tag", "Tags", &diff.tags),
        ("prefix", "Prefixes", &diff.prefixes),
        ("pattern", "Patterns", &diff.patterns),
    ];
    for (one, many, names) in kinds {
        sections.extend(
            names
                .iter()
                .flat_map(|names| name_sections(one, many, names, by)),
        );
    }
    sections.push(remarks::section(remarks::remarks(
        &[] as &[String],
        &diff.notes,
    )));
    sections
}

/// A section of a table that has rows.
fn listed<'a>(title: impl Into<String>, table: Table<'a>) -> Option<Section<'a>> {
    let section = (!table.rows.is_empty()).then(|| Section::titled(title));
    section.map(|section| section.table(table))
}

fn nodes(nodes: &[NodeChange], by: Metric) -> Table<'static> {
    let columns = vec![
        Column::words("node").flexible(),
        Column::for_people("slots").rank(Rank::Detail),
        Column::for_people(by.name()),
        Column::for_people("× fair").rank(Rank::Main),
    ];
    let name = |node: &NodeChange| node.name.clone().unwrap_or_else(|| node.id.clone());
    let names: Vec<Name> = nodes.iter().map(name).collect();
    let shared = SharedParts::new(names.iter());
    let row = |node: &NodeChange| {
        let load = node.load.get(by).copied().unwrap_or_default();
        vec![
            Cell::text(shared.label(&name(node)).to_string()),
            change(node.slots, grouped),
            change(load, |load| amount_cell(by, load)),
            change(node.over_fair, |over| format!("{over:.3}")),
        ]
    };
    Table::new(columns, nodes.iter().map(row))
}

fn hot(diff: &Diff) -> Table<'static> {
    let columns = vec![
        Column::words("").flexible(),
        Column::for_people("before"),
        Column::for_people("now"),
    ];
    let row = |hot: &Hot| {
        let name = match hot.kind {
            HotKind::Node => format!("node {}", hot.name),
            HotKind::Slot => format!("slot {}", hot.name),
            HotKind::Tag => format!("tag {{{}}}", hot.name),
        };
        let share = |share: Option<f64>| Cell::of(share, Cell::share);
        vec![Cell::text(name), share(hot.share.old), share(hot.share.new)]
    };
    Table::new(columns, diff.hot.iter().map(row))
}

fn name_sections<'a>(
    one: &'static str,
    many: &str,
    names: &'a Names,
    by: Metric,
) -> Vec<Section<'a>> {
    // What is said where one report does not list the name.
    let (unlisted, absent) = ("not listed", "none");
    let lists = [
        ("grew", &names.grew, unlisted),
        ("appeared", &names.appeared, absent),
        ("vanished", &names.vanished, absent),
        ("shrank", &names.shrank, unlisted),
    ];
    let table = |changes: &'a Vec<Change>, missing: &str| {
        let columns = vec![
            Column::words(one).flexible(),
            Column::for_people("before"),
            Column::for_people("now"),
            Column::for_people("by at least").rank(Rank::Main),
        ];
        let row = |change: &'a Change| {
            let load = change.load.get(by).copied().unwrap_or_default();
            let amount = |load: Option<u64>| match load {
                Some(load) => Cell::amount(by, load),
                None => Cell::text(missing),
            };
            let at_least = Cell::amount(by, change.at_least);
            vec![
                Cell::name(&change.name),
                amount(load.old),
                amount(load.new),
                at_least,
            ]
        };
        Table::new(columns, changes.iter().map(row))
    };
    let mut sections: Vec<Section<'a>> = lists
        .into_iter()
        .filter_map(|(what, changes, missing)| {
            listed(format!("{many} that {what}"), table(changes, missing))
        })
        .collect();
    let below = names.below_the_list.len() as u64;
    if below > 0 {
        let what = "that one report lists and the other may have below its list";
        let text = format!("{many} {what}: {}", grouped(below));
        sections.push(Section::untitled().paragraph(text));
    }
    sections
}

/// The old value and the new one in one cell, each spelled by `spell`.
fn change<T>(OldNew { old, new, .. }: OldNew<T>, spell: impl Fn(T) -> String) -> Cell<'static> {
    Cell::change([old, new].map(|value| value.map_or_else(|| String::from("none"), &spell)))
}
