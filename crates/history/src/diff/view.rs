//! A diff as sections: a summary sentence, then tables of the largest changes.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::text::{amount_cell, grouped};
use slotscope_model::measure::Measure;
use slotscope_model::node_labels::SharedParts;
use slotscope_model::state::Role;
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Cell, Column, Section, Table, remarks};

use crate::diff::{Change, Diff, Hot, HotKind, Names, NodeChange, OldNew};

pub(crate) fn sections(diff: &Diff) -> Vec<Section<'_>> {
    let metric = diff.verdict.by;
    let mut sections = vec![Section::untitled().paragraph(diff.sentence.as_str())];
    sections.extend(listed("Nodes", nodes(&diff.nodes, metric)));
    let measure = Measure::from(metric);
    let grown = match measure.role() {
        Role::Load => "Got hot",
        Role::Memory => "Got larger",
    };
    let title = format!("{grown}: their part of the {}", measure.noun());
    sections.extend(listed(title, hot(diff)));
    let kinds = [
        ("tag", "Tags", &diff.tags),
        ("prefix", "Prefixes", &diff.prefixes),
        ("pattern", "Patterns", &diff.patterns),
    ];
    for (singular, plural, names) in kinds {
        sections.extend(
            names
                .iter()
                .flat_map(|names| name_sections(singular, plural, names, diff)),
        );
    }
    sections.push(remarks::section(remarks::remarks(
        &[] as &[String],
        &diff.notes,
    )));
    sections
}

/// All changes as rows: what, its fate, and each metric before and after.
pub(crate) fn rows(diff: &Diff) -> Table<'_> {
    struct Row<'a> {
        of: &'static str,
        name: Cell<'a>,
        fate: &'static str,
        load: &'a PerMetric<OldNew<u64>>,
    }
    let total = Row {
        of: "total",
        name: Cell::text(""),
        fate: "",
        load: &diff.totals,
    };
    let node =
        |node: &'_ NodeChange| Cell::text(node.name.as_ref().unwrap_or(&node.id).to_string());
    let nodes = diff.nodes.iter().map(|change| Row {
        of: "node",
        name: node(change),
        fate: "",
        load: &change.load,
    });
    let kinds = [
        ("tag", &diff.tags),
        ("prefix", &diff.prefixes),
        ("pattern", &diff.patterns),
    ];
    let names = kinds.into_iter().flat_map(|(of, names)| {
        names
            .iter()
            .flat_map(Names::by_fate)
            .flat_map(move |(fate, changes)| {
                changes.iter().map(move |change| Row {
                    of,
                    name: Cell::name(&change.name),
                    fate,
                    load: &change.load,
                })
            })
    });
    let rows = [total].into_iter().chain(nodes).chain(names);
    let rows = rows.flat_map(|row| {
        let Row {
            of,
            name,
            fate,
            load,
        } = row;
        let loads = load
            .iter()
            .map(move |(metric, load)| (of, name.clone(), fate, metric, *load));
        loads.collect::<Vec<_>>()
    });
    Table::of(rows)
        .column(Column::words("of"), |(of, ..)| Cell::text(*of))
        .column(Column::words("name"), |(_, name, ..)| name.clone())
        .column(Column::words("fate"), |(_, _, fate, ..)| Cell::text(*fate))
        .column(Column::words("metric"), |(_, _, _, metric, _)| {
            Cell::text(metric.name())
        })
        .column(Column::number("before"), |(_, _, _, metric, load)| {
            Cell::known_amount(*metric, load.old)
        })
        .column(Column::number("now"), |(_, _, _, metric, load)| {
            Cell::known_amount(*metric, load.new)
        })
        .build()
}

/// A section with a table, if that has rows.
fn listed<'a>(title: impl Into<String>, table: Table<'a>) -> Option<Section<'a>> {
    let section = (!table.rows.is_empty()).then(|| Section::titled(title));
    section.map(|section| section.table(table))
}

fn nodes(nodes: &[NodeChange], metric: Metric) -> Table<'static> {
    let name = |node: &NodeChange| node.name.clone().unwrap_or_else(|| node.id.clone());
    let names: Vec<Name> = nodes.iter().map(name).collect();
    let shared = SharedParts::new(names.iter());
    Table::of(nodes)
        .column(Column::words("node").flexible(), |node| {
            Cell::text(shared.label(&name(node)).to_string())
        })
        .column(Column::for_people("slots").rank(Rank::Detail), |node| {
            change(node.slots, grouped)
        })
        .column(Column::for_people(metric.name()), |node| {
            let load = node.load.get(metric).copied().unwrap_or_default();
            change(load, |load| amount_cell(metric, load))
        })
        .column(Column::for_people("× fair").rank(Rank::Main), |node| {
            change(node.over_fair, |over| format!("{over:.2}"))
        })
        .build()
}

fn hot(diff: &Diff) -> Table<'static> {
    let name = |hot: &Hot| match hot.kind {
        HotKind::Node => format!("node {}", hot.name),
        HotKind::Slot => format!("slot {}", hot.name),
        HotKind::Tag => format!("tag {{{}}}", hot.name),
    };
    Table::of(&diff.hot)
        .column(Column::words("").flexible(), |hot| Cell::text(name(hot)))
        .column(Column::for_people("before"), |hot| {
            Cell::of(hot.share.old, Cell::share)
        })
        .column(Column::for_people("now"), |hot| {
            Cell::of(hot.share.new, Cell::share)
        })
        .build()
}

fn name_sections<'a>(
    singular: &'static str,
    plural: &str,
    names: &'a Names,
    diff: &Diff,
) -> Vec<Section<'a>> {
    let metric = diff.verdict.by;
    let head = if diff.estimated {
        "changed by about"
    } else {
        "by at least"
    };
    // Shown if one report does not list the name.
    let missing = |fate: &str| match fate {
        "grew" | "shrank" => "not listed",
        _ => "none",
    };
    let table = |changes: &'a Vec<Change>, missing: &str| {
        let load = |change: &Change| change.load.get(metric).copied().unwrap_or_default();
        let amount = |load: Option<u64>| match load {
            Some(load) => Cell::amount(metric, load),
            None => Cell::text(missing),
        };
        Table::of(changes)
            .column(Column::words(singular).flexible(), |change| {
                Cell::name(&change.name)
            })
            .column(Column::for_people("before"), |change| {
                amount(load(change).old)
            })
            .column(Column::for_people("now"), |change| amount(load(change).new))
            .column(Column::for_people(head).rank(Rank::Main), |change| {
                Cell::amount(metric, change.at_least)
            })
            .build()
    };
    let lists = names.by_fate().into_iter();
    let mut sections: Vec<Section<'a>> = lists
        .filter_map(|(fate, changes)| {
            listed(
                format!("{plural} that {fate}"),
                table(changes, missing(fate)),
            )
        })
        .collect();
    let below = names.below_the_list.len() as u64;
    if below > 0 {
        let clause = "that one report lists and the other may have below its list";
        let text = format!("{plural} {clause}: {}", grouped(below));
        sections.push(Section::untitled().paragraph(text));
    }
    sections
}

/// The old and the new value in one cell, formatted by `spell`.
fn change<T>(OldNew { old, new, .. }: OldNew<T>, spell: impl Fn(T) -> String) -> Cell<'static> {
    Cell::change([old, new].map(|value| value.map_or_else(|| String::from("none"), &spell)))
}
