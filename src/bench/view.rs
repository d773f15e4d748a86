//! The figures as tables.

use slotscope_report::view::{Cell, Column, Section, Table};

use crate::bench::figures::Figures;

pub(crate) fn sections(figures: &Figures) -> Vec<Section<'static>> {
    let cpu = &figures.cpu;
    let headline = format!("CRC16 slots on {cpu}; median round, every answer checked");
    let section = Section::untitled().paragraph(headline);
    vec![section.table(kernels(figures))]
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
        .column(Column::number("M keys/s"), |row| {
            Cell::ratio(row.rate.keys_per_sec / 1e6, 1)
        })
        .column(Column::number("GB/s"), |row| {
            Cell::ratio(row.rate.bytes_per_sec / 1e9, 2)
        })
        .column(Column::number("× table"), |row| {
            Cell::ratio(row.over_table, 2)
        })
        .column(Column::number("spread"), |row| Cell::share(row.rate.spread))
        .build()
}
