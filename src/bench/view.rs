//! The figures as tables.

use slotscope_report::view::{Cell, Column, Section, Table};

use crate::bench::figures::Figures;
use crate::bench::timing::Rate;

pub(crate) fn sections(figures: &Figures) -> Vec<Section<'static>> {
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
    Table::of(&figures.kernels)
        .column(Column::number("key bytes"), |row| {
            Cell::number(row.key_bytes)
        })
        .column(Column::number("threads"), |row| {
            Cell::count(row.threads as u64)
        })
        .column(Column::words("kernel"), |row| Cell::text(row.kernel))
        .column(Column::number("M keys/s"), |row| keys(&row.rate))
        .column(Column::number("GB/s"), |row| bytes(&row.rate))
        .column(Column::number("× table"), |row| {
            Cell::ratio(row.over_table, 2)
        })
        .column(Column::number("spread"), |row| Cell::share(row.rate.spread))
        .build()
}

fn scans(figures: &Figures) -> Table<'static> {
    Table::of(&figures.scan)
        .column(Column::words("analyze"), |row| Cell::text(row.part))
        .column(Column::number("threads"), |row| {
            Cell::count(row.threads as u64)
        })
        .column(Column::number("M keys/s"), |row| keys(&row.rate))
        .column(Column::number("GB/s"), |row| bytes(&row.rate))
        .column(Column::number("spread"), |row| Cell::share(row.rate.spread))
        .build()
}

fn keys(rate: &Rate) -> Cell<'static> {
    Cell::ratio(rate.keys_per_sec / 1e6, 1)
}

fn bytes(rate: &Rate) -> Cell<'static> {
    Cell::ratio(rate.bytes_per_sec / 1e9, 2)
}
