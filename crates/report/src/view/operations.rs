//! Operations on keys: number, rate, and commands.

use slotscope_engine::text::{self, counted, grouped, percent, short, three_digits};
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::operations::{AbsentKeys, Operations};

use crate::view::{Cell, Column, Section, Table};

/// Maximum keys per line.
const NAMED: usize = 3;

/// Operations and commands.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let found = summary.operations.as_ref()?;
    let table = Table::of(&found.commands)
        .column(Column::words("command"), |of| {
            Cell::text(of.command.to_uppercase())
        })
        .column(Column::words("may"), |of| {
            Cell::text(if of.writes { "write" } else { "read" })
        })
        .column(Column::number("ops"), |of| Cell::count(of.ops))
        .column(Column::number("share"), |of| Cell::share(of.share))
        .build();
    let share = |ops: u64| percent(ops as f64 / found.ops.max(1) as f64);
    let mut section = Section::titled("Operations")
        .anchored("operations", "Operations")
        .line(format!(
            "{} on {}: {} may write ({}), {} read ({})",
            counted(found.ops, "operation"),
            counted(found.keys, "key"),
            grouped(found.writes),
            share(found.writes),
            grouped(found.reads),
            share(found.reads)
        ));
    if let Some(line) = times(found) {
        section = section.line(line);
    }
    if let Some(line) = found.absent.as_ref().and_then(|of| absent(of, found.ops)) {
        section = section.line(line);
    }
    Some(section.table(table.at_most(summary.rows)))
}

/// Operations on keys missing from all dumps.
fn absent(of: &AbsentKeys, all: u64) -> Option<String> {
    let on = match of.keys {
        0 => return None,
        1 => String::from("a key that no dump has"),
        keys => format!("{} keys that no dump has", grouped(keys)),
    };
    let of_those = if of.looked_up < all {
        format!(
            " of the {} whose keys are known by name",
            grouped(of.looked_up)
        )
    } else {
        String::new()
    };
    let top = of.top.iter().take(NAMED);
    let top: Vec<_> = top
        .map(|key| format!("{} ({})", short(&key.key), grouped(key.ops)))
        .collect();
    Some(format!(
        "{} ({}{of_those}) {} on {on}, which expired, are newer than the dump, or never existed: most on {}",
        counted(of.ops, "operation"),
        percent(of.share),
        if of.ops == 1 { "is" } else { "are" },
        top.join(", ")
    ))
}

/// The period, the mean rate, and the peak.
fn times(found: &Operations) -> Option<String> {
    let (from, to) = (found.from_ms?, found.to_ms?);
    let mut line = format!(
        "from {} to {}",
        text::time(from / 1000),
        text::time(to / 1000)
    );
    if let Some(rate) = found.per_second {
        line += &format!(": {} operations a second", three_digits(rate));
    }
    if let Some(peak) = &found.peak {
        let within = match peak.seconds {
            1 => String::from("in the second from"),
            seconds => format!("in the {} seconds from", grouped(seconds)),
        };
        line += &format!(
            "; most of them {within} {}: {}",
            text::time(peak.at),
            grouped(peak.ops)
        );
    }
    Some(line)
}
