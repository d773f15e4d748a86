//! A change as sections: the sentence, nodes before and after, both sides next to each other, and the heaviest tags afterwards.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::text::{bytes, counted, grouped};
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Block, Cell, Column, Section, Table, remarks};

use crate::whatif::findings::{Side, SideNode, WhatIfFindings};

/// Maximum rows of nodes, the fullest afterwards first.
const NODES: usize = 24;
/// The compared numbers that say what is compared; the others are statistics.
const FACTS: usize = 5;

/// The sections of a change; with `full` all statistics.
pub(crate) fn sections(findings: &WhatIfFindings, full: bool) -> Vec<Section<'_>> {
    vec![
        Section::untitled()
            .paragraph(findings.sentence.as_str())
            .with_all(remarks::incomplete(&findings.input.incomplete)),
        nodes(findings),
        sides(findings, full),
        changes(findings),
        tags(findings),
        remarks::section(last_remarks(findings)),
    ]
}

/// A node on both sides; `None` where it is on one alone.
struct Both<'a> {
    node: &'a Name,
    sides: [Option<&'a SideNode>; 2],
}

impl Both<'_> {
    fn load(&self, side: usize, metric: Metric) -> Option<u64> {
        self.sides[side]?.load.get(metric).copied()
    }
}

/// The nodes of both sides, the fullest afterwards first.
fn both(findings: &WhatIfFindings) -> Vec<Both<'_>> {
    let [before, after] = [&findings.before.list, &findings.after.list];
    let was: BTreeMap<&Name, &SideNode> = before.iter().map(|node| (&node.id, node)).collect();
    let is: BTreeMap<&Name, &SideNode> = after.iter().map(|node| (&node.id, node)).collect();
    let gone = before.iter().filter(|node| !is.contains_key(&node.id));
    let both = after.iter().chain(gone).map(|node| Both {
        node: &node.node,
        sides: [was.get(&node.id).copied(), is.get(&node.id).copied()],
    });
    let mut both: Vec<Both<'_>> = both.collect();
    both.sort_by_key(|node| Reverse(node.load(1, findings.by)));
    both
}

/// The load of each node before and after.
fn nodes(findings: &WhatIfFindings) -> Section<'_> {
    let metrics: Vec<Metric> = findings.moved.iter().map(|(metric, _)| metric).collect();
    // The number of keys is a detail where sizes are known, and unknown for captures.
    let is_shown = |metric: &Metric| *metric != Metric::Keys || metrics.len() == 1;
    let mut table = Table::of(both(findings)).column(Column::words("node").flexible(), |both| {
        Cell::name(both.node)
    });
    for metric in metrics.iter().copied().filter(is_shown) {
        let rank = match metric {
            metric if metric == findings.by => Rank::Kept,
            _ => Rank::Usual,
        };
        let head = if metric.is_size() {
            "memory"
        } else {
            metric.head()
        };
        let load = move |side: usize| {
            move |both: &Both<'_>| Cell::known_amount(metric, both.load(side, metric))
        };
        table = table
            .column(
                Column::for_people(format!("{head} before")).rank(rank),
                load(0),
            )
            .column(Column::for_people("after").rank(rank), load(1));
        if let Some(limit) = findings.maxmemory.filter(|_| metric.is_size()) {
            table = table.column(
                Column::for_people("of limit").rank(Rank::Main),
                move |both| {
                    Cell::of(both.load(1, metric), |load| {
                        Cell::share(load as f64 / limit as f64)
                    })
                },
            );
        }
    }
    let section = Section::titled("Nodes").table(table.build().at_most(NODES));
    match findings.maxmemory {
        Some(limit) if metrics.contains(&Metric::Bytes) => {
            section.line(format!("limit: {} a node", bytes(limit)))
        }
        Some(_) => {
            section.line("--maxmemory: the input has no sizes, so it is not known what fits")
        }
        None => section,
    }
}

/// The loads of all nodes as rows.
pub(crate) fn rows(findings: &WhatIfFindings) -> Table<'_> {
    let metrics: Vec<Metric> = findings.moved.iter().map(|(metric, _)| metric).collect();
    let rows = both(findings).into_iter().flat_map(|both| {
        let row = |metric: &Metric| {
            (
                both.node,
                *metric,
                [0, 1].map(|side| both.load(side, *metric)),
            )
        };
        metrics.iter().map(row).collect::<Vec<_>>()
    });
    Table::of(rows)
        .column(Column::words("node"), |(node, ..)| Cell::name(node))
        .column(Column::words("metric"), |(_, metric, _)| {
            Cell::text(metric.name())
        })
        .column(Column::number("before"), |(_, metric, loads)| {
            Cell::known_amount(*metric, loads[0])
        })
        .column(Column::number("after"), |(_, metric, loads)| {
            Cell::known_amount(*metric, loads[1])
        })
        .build()
}

fn sides(findings: &WhatIfFindings, full: bool) -> Section<'_> {
    let [before, after] = [&findings.before, &findings.after];
    let metric = findings.by;
    let rows = side_cells(before, metric)
        .into_iter()
        .zip(side_cells(after, metric))
        .take(if full { usize::MAX } else { FACTS });
    let table = Table::of(rows)
        .column(Column::words("").flexible(), |((title, _), _)| {
            Cell::text(*title)
        })
        .column(Column::number("before"), |((_, before), _)| before.clone())
        .column(Column::number("after"), |(_, (_, after))| after.clone())
        .build();
    Section::untitled()
        .table(table)
        .paragraph(format!("Before: {}", sentence(before, metric)))
        .paragraph(format!("After: {}", sentence(after, metric)))
}

/// The verdict by the compared metric.
fn sentence(side: &Side, metric: Metric) -> String {
    let verdict = side.verdict.by(metric);
    verdict.map_or_else(String::new, |verdict| verdict.sentence.to_string())
}

/// The compared numbers, with their values on one side.
fn side_cells(side: &Side, metric: Metric) -> Vec<(&'static str, Cell<'_>)> {
    let ratio = |ratio: Option<f64>| Cell::of(ratio, |ratio| Cell::ratio(ratio, 3));
    let (nodes, slots) = (&side.nodes, &side.slots);
    let verdict = side.verdict.by(metric);
    let number = |figure: fn(&RoleVerdict) -> Option<f64>| verdict.and_then(figure);
    vec![
        (
            "verdict",
            Cell::of(verdict, |verdict| Cell::text(verdict.state.name())),
        ),
        ("nodes", Cell::name(&side.source)),
        ("hash policy", Cell::name(&side.policy)),
        (
            "keys",
            Cell::of((side.keys > 0).then_some(side.keys), Cell::count),
        ),
        (
            "on the fullest node",
            Cell::of(side.fullest_share, Cell::share),
        ),
        ("nodes: max/mean", ratio(nodes.max_over_mean)),
        ("nodes: CV", ratio(nodes.cv)),
        ("nodes: Gini", ratio(nodes.gini)),
        (
            "usable capacity",
            Cell::of(number(|verdict| verdict.usable_capacity), Cell::share),
        ),
        ("floor of max/mean", ratio(number(|verdict| verdict.floor))),
        ("slots: max/mean", ratio(slots.max_over_mean)),
        ("slots: CV", ratio(slots.cv)),
        ("slots: Gini", ratio(slots.gini)),
        ("slots: empty", Cell::count(slots.empty as u64)),
        (
            "independent units",
            Cell::of(number(|verdict| verdict.n_eff), |units| {
                Cell::count(units as u64)
            }),
        ),
    ]
}

fn changes(findings: &WhatIfFindings) -> Section<'_> {
    let amount = |load: PerMetric<u64>| {
        let size = load
            .bytes()
            .map_or(String::new(), |size| format!(" ({})", bytes(*size)));
        match load.get(Metric::Ops) {
            // For captures, the number of keys is unknown.
            Some(ops) if findings.input.keys == 0 => counted(*ops, "operation"),
            _ => format!("{}{size}", counted(load.keys, "key")),
        }
    };
    let renamed = if findings.input.keys == 0 {
        "operation"
    } else {
        "key"
    };
    let basis = if findings.tag_sample.exact {
        format!("of {}", counted(findings.tag_sample.tags, "tag"))
    } else {
        format!(
            "estimated: {} of a sample of {}",
            grouped(findings.tag_sample.split),
            grouped(findings.tag_sample.tags)
        )
    };
    // Without a renaming rule, tags are not examined.
    let splits = (findings.tag_sample.tags > 0).then(|| {
        format!(
            "tags whose keys end up in different slots: {} ({basis})",
            grouped(findings.parted_tags)
        )
    });
    Section::titled("What changes")
        .line(format!("another slot: {}", amount(findings.moved)))
        .line(format!("another node: {}", amount(findings.changed_node)))
        .line(format!(
            "another name: {}",
            counted(findings.renamed, renamed)
        ))
        .with_all(splits.map(Block::Line))
}

fn tags(findings: &WhatIfFindings) -> Section<'_> {
    if findings.top_tags.is_empty() {
        return Section::untitled().paragraph("Afterwards no key has a hash tag.");
    }
    let metric = findings.by;
    let table = Table::of(&findings.top_tags)
        .column(Column::words("tag").flexible(), |tag| Cell::tag(&tag.tag))
        .column(Column::number("slot"), |tag| Cell::number(tag.slot))
        .column(Column::words("node"), |tag| {
            Cell::owner(&findings.nodes_after, tag.node.as_ref())
        })
        .column(Column::load(metric, metric), |tag| {
            Cell::amount(metric, tag.load.get(metric).copied().unwrap_or(0))
        })
        .column(Column::number("share").rank(Rank::Main), |tag| {
            Cell::share(tag.share)
        })
        .build();
    Section::titled("The heaviest hash tags afterwards").table(table)
}

fn last_remarks(findings: &WhatIfFindings) -> Vec<Block<'static>> {
    let (input, unplaced) = (&findings.input, findings.unplaced.keys);
    let mut blocks = Vec::new();
    if unplaced > 0 {
        let keys = counted(unplaced, "key");
        let fate = "without a slot by the new policy, left out of what is after";
        blocks.push(Block::Paragraph(format!("warning: {keys} {fate}")));
    }
    blocks.extend(remarks::rejected("a key", &input.rejected));
    blocks.extend(remarks::remarks(&input.warnings, &input.notes));
    blocks
}
