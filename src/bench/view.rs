//! The figures as tables.

use slotscope_base::text::{bytes, counted, grouped, percent};
use slotscope_report::view::{Cell, Column, Section, Table, TableBuilder};

use crate::bench::figures::{BUSY, Figures, KernelRate, ScanFigures, StageRate};
use crate::bench::timing::Rate;

pub(crate) fn sections(figures: &Figures) -> Vec<Section<'_>> {
    let first = Section::untitled().paragraph(headline(figures));
    let first = doubts(figures).fold(first, Section::paragraph);
    let mut sections = vec![first];
    let kernels = figures.kernels.chunk_by(|a, b| a.threads == b.threads);
    sections.extend(kernels.map(|rows| on_threads(rows[0].threads).table(kernel_table(rows))));
    let stages = figures.scan.iter().flat_map(|scan| {
        let stages = scan.stages.chunk_by(|a, b| a.threads == b.threads);
        stages.map(|rows| on_threads(rows[0].threads).table(stage_table(rows)))
    });
    sections.extend(stages);
    sections
}

fn headline(figures: &Figures) -> String {
    let cpu = &figures.cpu;
    let how = match figures.rounds {
        1 => String::from("one round"),
        rounds => format!("medians of {rounds} rounds in turn"),
    };
    match &figures.scan {
        None => format!(
            "CRC16 slots on {cpu}; {how}, every answer checked; * is the kernel that analyze takes"
        ),
        Some(scan) => format!(
            "{}; {how} on {cpu}, hashed by {}; from read on, each stage includes those before it",
            dump(scan),
            figures.kernel
        ),
    }
}

fn dump(scan: &ScanFigures) -> String {
    let ScanFigures {
        file,
        bytes: len,
        line_ends,
        keys,
        ..
    } = scan;
    format!(
        "{file}: {} with {} and {}",
        bytes(*len),
        counted(*line_ends, "line end"),
        counted(*keys, "key")
    )
}

/// Why the figures may say little: the build, and the state of the machine as the spreads show it.
pub(crate) fn doubts(figures: &Figures) -> impl Iterator<Item = String> {
    let build = (!figures.is_optimised).then(|| {
        "this program was built without optimisation: a release (cargo build --release) has other figures"
            .to_owned()
    });
    let noise = match figures.busy_rows {
        None => {
            Some("one round has no spread: whether the machine is busy was not measured".into())
        }
        Some(0) => None,
        Some(busy) => Some(format!(
            "{} of {} spread by more than {}, as on a busy machine: differences between rows say little; close other \
             programs, or raise --rounds",
            grouped(busy),
            counted(figures.rates().count() as u64, "row"),
            percent(BUSY)
        )),
    };
    build.into_iter().chain(noise)
}

fn on_threads(threads: usize) -> Section<'static> {
    Section::titled(format!("On {}", counted(threads as u64, "thread")))
}

fn kernel_table(rows: &[KernelRate]) -> Table<'static> {
    Table::of(rows)
        .column(Column::number("key bytes"), |row| {
            Cell::number(row.key_bytes)
        })
        .column(Column::words("kernel"), |row| {
            let mark = if row.is_chosen { " *" } else { "" };
            Cell::text(format!("{}{mark}", row.kernel))
        })
        .column(Column::number("M keys/s"), |row| {
            Cell::ratio(row.rate.keys_per_sec / 1e6, 1)
        })
        .column(Column::number("GB/s"), |row| gigabytes(&row.rate))
        .column(Column::number("× table"), |row| {
            Cell::ratio(row.over_table, 2)
        })
        .column(Column::number("spread"), |row| spread(&row.rate))
        .build()
}

fn stage_table(rows: &[StageRate]) -> Table<'static> {
    Table::of(rows)
        .column(Column::words("stage"), |row| Cell::text(row.stage.name()))
        .column(Column::number("ms"), |row| Cell::ratio(row.secs * 1e3, 2))
        .column(Column::number("M keys/s"), |row| {
            Cell::ratio(row.rate.keys_per_sec / 1e6, 1)
        })
        .column(Column::number("GB/s"), |row| gigabytes(&row.rate))
        .column(Column::number("× line ends"), |row| {
            Cell::ratio(row.over_line_ends, 2)
        })
        .column(Column::number("spread"), |row| spread(&row.rate))
        .build()
}

fn gigabytes(rate: &Rate) -> Cell<'static> {
    Cell::ratio(rate.bytes_per_sec / 1e9, 2)
}

fn spread(rate: &Rate) -> Cell<'static> {
    rate.spread.map_or_else(|| Cell::text("-"), Cell::share)
}

/// A row for each kernel or stage, for a file; units are those of the JSON.
pub(crate) fn rows(figures: &Figures) -> Table<'_> {
    if let Some(scan) = &figures.scan {
        let table = Table::of(&scan.stages)
            .column(Column::words("stage"), |row| {
                Cell::text(row.stage.name().replace(' ', "_"))
            })
            .column(Column::number("threads"), |row| {
                Cell::count(row.threads as u64)
            });
        return with_rate(table, |row| &row.rate)
            .column(Column::number("secs"), |row| Cell::ratio(row.secs, 0))
            .column(Column::number("over_line_ends"), |row| {
                Cell::ratio(row.over_line_ends, 0)
            })
            .build();
    }
    let table = Table::of(&figures.kernels)
        .column(Column::words("kernel"), |row| Cell::text(row.kernel))
        .column(Column::words("is_chosen"), |row| {
            Cell::text(row.is_chosen.to_string())
        })
        .column(Column::number("key_bytes"), |row| {
            Cell::number(row.key_bytes)
        })
        .column(Column::number("threads"), |row| {
            Cell::count(row.threads as u64)
        });
    with_rate(table, |row| &row.rate)
        .column(Column::number("over_table"), |row| {
            Cell::ratio(row.over_table, 0)
        })
        .build()
}

/// Adds the columns of a rate.
fn with_rate<'f, R>(
    table: TableBuilder<'f, &'f R>,
    rate: fn(&R) -> &Rate,
) -> TableBuilder<'f, &'f R> {
    table
        .column(Column::number("keys_per_sec"), |row| {
            Cell::ratio(rate(row).keys_per_sec, 0)
        })
        .column(Column::number("bytes_per_sec"), |row| {
            Cell::ratio(rate(row).bytes_per_sec, 0)
        })
        .column(Column::number("spread"), |row| {
            Cell::of(rate(row).spread, Cell::share)
        })
}
