//! The figures as tables.

use crate::bench::figures::Figures;
use crate::bench::keys::KeyBytes;
use crate::bench::timing::Rate;
use crate::report::view::{Cell, Column, Section, Table};

/// The sections of all figures.
pub fn sections(figures: &Figures) -> Vec<Section<'static>> {
    let cpu = &figures.cpu;
    vec![
        Section::untitled()
            .paragraph(format!(
                "CRC16 slots on {cpu}; median round, every answer checked"
            ))
            .table(kernels(figures)),
        Section::titled("The whole scan of a generated dump in memory").table(scans(figures)),
    ]
}

fn kernels(figures: &Figures) -> Table<'static> {
    let columns = vec![
        Column::number("key bytes"),
        Column::number("threads"),
        Column::words("kernel"),
        Column::number("M keys/s"),
        Column::number("GB/s"),
        Column::number("× table"),
        Column::number("spread"),
    ];
    let rows = figures.kernels.iter().map(|row| {
        let key_bytes = match row.key_bytes {
            KeyBytes::Mixed => Cell::text("mixed"),
            KeyBytes::Each(bytes) => Cell::number(bytes),
        };
        let [keys, bytes, spread] = rate(&row.rate);
        let (threads, kernel) = (Cell::count(row.threads as u64), Cell::text(row.kernel));
        vec![
            key_bytes,
            threads,
            kernel,
            keys,
            bytes,
            Cell::ratio(row.over_table, 2),
            spread,
        ]
    });
    Table::new(columns, rows)
}

fn scans(figures: &Figures) -> Table<'static> {
    let columns = vec![
        Column::words("analyze"),
        Column::number("threads"),
        Column::number("M keys/s"),
        Column::number("GB/s"),
        Column::number("spread"),
    ];
    let rows = figures.scan.iter().map(|row| {
        let [keys, bytes, spread] = rate(&row.rate);
        vec![
            Cell::text(row.part),
            Cell::count(row.threads as u64),
            keys,
            bytes,
            spread,
        ]
    });
    Table::new(columns, rows)
}

/// Keys and bytes a second, and the spread.
fn rate(rate: &Rate) -> [Cell<'static>; 3] {
    [
        Cell::ratio(rate.keys_per_sec / 1e6, 1),
        Cell::ratio(rate.bytes_per_sec / 1e9, 2),
        Cell::share(rate.spread),
    ]
}
