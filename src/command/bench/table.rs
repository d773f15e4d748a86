//! The figures as a table on the terminal.

use std::io::{self, Write};

use super::Figures;
use super::keys::KeyBytes;

/// Writes all figures.
pub fn write(figures: &Figures, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "CRC16 slots on {}; median round, every answer checked\n", figures.cpu)?;
    writeln!(
        out,
        "{:>9}  {:>7}  {:<9} {:>9} {:>8} {:>9} {:>8}",
        "key bytes", "threads", "kernel", "M keys/s", "GB/s", "x table", "spread"
    )?;
    let mut last = None;
    for row in &figures.kernels {
        if last.is_some_and(|last| last != (row.key_bytes, row.threads)) {
            writeln!(out)?;
        }
        last = Some((row.key_bytes, row.threads));
        let key_bytes = match row.key_bytes {
            KeyBytes::Mixed => String::from("mixed"),
            KeyBytes::Each(bytes) => bytes.to_string(),
        };
        writeln!(
            out,
            "{key_bytes:>9}  {:>7}  {:<9} {:>9.1} {:>8.2} {:>9.2} {:>6.0} %",
            row.threads,
            row.kernel,
            row.rate.keys_per_sec / 1e6,
            row.rate.bytes_per_sec / 1e9,
            row.over_table,
            row.rate.spread * 100.0
        )?;
    }
    writeln!(out, "\nThe whole scan of a generated dump in memory\n")?;
    writeln!(out, "{:<14} {:>7} {:>9} {:>8} {:>8}", "analyze", "threads", "M keys/s", "GB/s", "spread")?;
    for row in &figures.scan {
        writeln!(
            out,
            "{:<14} {:>7} {:>9.1} {:>8.2} {:>6.0} %",
            row.part,
            row.threads,
            row.rate.keys_per_sec / 1e6,
            row.rate.bytes_per_sec / 1e9,
            row.rate.spread * 100.0
        )?;
    }
    Ok(())
}
