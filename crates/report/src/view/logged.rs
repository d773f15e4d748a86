//! Slow and large commands logged by servers while load was measured.

use slotscope_base::metric::Metric;
use slotscope_base::text::{counted, grouped};
use slotscope_model::Summary;
use slotscope_model::logged::{CommandAtWork, LoggedAtWork};
use slotscope_read::source::collection::load::CommandLogKind;

use crate::view::table::{Rank, TableBuilder};
use crate::view::{Cell, Column, Section, Table};

/// The commands with the most time.
pub(crate) fn slow(summary: &Summary) -> Option<Section<'_>> {
    let logged = summary.logged.as_ref()?;
    let slow = kept(logged, |log| log == CommandLogKind::Slow);
    slow.first()?;
    let table = table(summary, slow)
        .column(Column::number("entries"), |row| Cell::count(row.entries))
        .column(
            Column::number("time")
                .rank(Rank::Main)
                .hint("of all entries; a server does nothing else meanwhile"),
            |row| Cell::amount(Metric::Cpu, row.amount),
        )
        .column(Column::number("longest").rank(Rank::Detail), |row| {
            Cell::amount(Metric::Cpu, row.most)
        })
        .build()
        .at_most(summary.rows);
    let section =
        Section::titled("Slow commands during the load").anchored("slow-commands", "Slow commands");
    Some(section.line(about(logged)).table(table))
}

/// The commands with the most bytes.
pub(crate) fn large(summary: &Summary) -> Option<Section<'_>> {
    let large = kept(summary.logged.as_ref()?, |log| log != CommandLogKind::Slow);
    large.first()?;
    let table = table(summary, large)
        .column(Column::words("what"), |row| {
            Cell::text(match row.log {
                CommandLogKind::LargeRequest => "request",
                _ => "reply",
            })
        })
        .column(Column::number("entries"), |row| Cell::count(row.entries))
        .column(Column::number("bytes").rank(Rank::Main), |row| {
            Cell::bytes(row.amount)
        })
        .column(Column::number("largest").rank(Rank::Detail), |row| {
            Cell::bytes(row.most)
        })
        .build()
        .at_most(summary.rows);
    let section = Section::titled("Large requests and replies during the load")
        .anchored("large-commands", "Large commands");
    Some(section.table(table))
}

/// The commands of selected logs.
fn kept(logged: &LoggedAtWork, is_in: impl Fn(CommandLogKind) -> bool) -> Vec<&CommandAtWork> {
    let commands = logged.commands.iter();
    commands.filter(|command| is_in(command.log)).collect()
}

/// The columns of both tables.
fn table<'s>(
    summary: &'s Summary,
    commands: Vec<&'s CommandAtWork>,
) -> TableBuilder<'s, &'s CommandAtWork> {
    Table::of(commands)
        .column(Column::words("node"), |row| {
            Cell::owner(&summary.nodes.list, row.node.as_ref())
        })
        .column(Column::words("command"), |row| Cell::text(&*row.command))
        .column(Column::words("first key").flexible(), |row| {
            Cell::of(row.key.as_ref(), Cell::name)
        })
        .column(Column::number("slot").rank(Rank::Detail), |row| {
            Cell::of(row.slot, Cell::number)
        })
}

/// The number of entries read.
fn about(logged: &LoggedAtWork) -> String {
    let cut = match logged.logs_cut {
        0 => String::new(),
        cut => format!(
            "; {} with more entries than are kept or read: counts are low",
            counted(cut, "log")
        ),
    };
    let entries = match logged.entries {
        1 => "1 new entry".to_owned(),
        entries => format!("{} new entries", grouped(entries)),
    };
    format!(
        "{entries} in the logs of {}{cut}",
        counted(logged.nodes, "node")
    )
}
