//! Operations on keys: number, rate, and commands.

use slotscope_base::text::{self, counted, grouped, percent, short, three_digits};
use slotscope_model::Summary;
use slotscope_model::operations::{AbsentKeys, Operations};

use crate::view::{Cell, Column, Section, Table};

/// Maximum keys per line.
const NAMED: usize = 3;

/// Operations and commands.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let operations = summary.operations.as_ref()?;
    let table = Table::of(&operations.commands)
        .column(Column::words("command"), |row| {
            Cell::text(row.command.to_uppercase())
        })
        .column(Column::words("may"), |row| {
            Cell::text(if row.writes { "write" } else { "read" })
        })
        .column(Column::number("ops"), |row| Cell::count(row.ops))
        .column(Column::number("share"), |row| Cell::share(row.share))
        .build();
    let share = |ops: u64| percent(ops as f64 / operations.ops.max(1) as f64);
    let section = Section::titled("Operations")
        .anchored("operations", "Operations")
        .line(format!(
            "{} on {}: {} may write ({}), {} read ({})",
            counted(operations.ops, "operation"),
            counted(operations.keys, "key"),
            grouped(operations.writes),
            share(operations.writes),
            grouped(operations.reads),
            share(operations.reads)
        ));
    let missing = operations.absent.as_ref();
    let missing_line = missing.and_then(|keys| absent(keys, operations.ops));
    let lines = times(operations).into_iter().chain(missing_line);
    let section = lines.fold(section, Section::line);
    Some(section.table(table.at_most(summary.rows)))
}

/// Operations on keys missing from all dumps.
fn absent(absent: &AbsentKeys, total: u64) -> Option<String> {
    let on = match absent.keys {
        0 => return None,
        1 => String::from("a key that no dump has"),
        keys => format!("{} keys that no dump has", grouped(keys)),
    };
    let of_those = if absent.looked_up < total {
        format!(
            " of the {} whose keys are known by name",
            grouped(absent.looked_up)
        )
    } else {
        String::new()
    };
    let listed = absent.top.iter().take(NAMED);
    let top: Vec<_> = listed
        .map(|key| format!("{} ({})", short(&key.key), grouped(key.ops)))
        .collect();
    Some(format!(
        "{} ({}{of_those}) {} on {on}, which expired, are newer than the dump, or never existed: most on {}",
        counted(absent.ops, "operation"),
        percent(absent.share),
        if absent.ops == 1 { "is" } else { "are" },
        top.join(", ")
    ))
}

/// The period, the mean rate, and the peak.
fn times(operations: &Operations) -> Option<String> {
    let (from, to) = (operations.from_ms?, operations.to_ms?);
    let mut line = format!(
        "from {} to {}",
        text::time(from / 1000),
        text::time(to / 1000)
    );
    if let Some(rate) = operations.per_second {
        line += &format!(": {} operations a second", three_digits(rate));
    }
    if let Some(peak) = &operations.peak {
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
