//! The output files of `slotscope bench --out`: the figures, and a chart of keys a second by key length, a line for each kernel.

use slotscope_report::charts::throughput;
use slotscope_report::charts::throughput::Line;
use slotscope_report::json;
use slotscope_report::output::OutputSet;

use crate::bench::figures::Figures;
use crate::bench::keys::KeyBytes;

/// The files.
pub(crate) fn outputs() -> OutputSet<Figures> {
    OutputSet::marked("\"schema\":\"slotscope.bench/")
        .file("bench.json", |figures, out| {
            json::write_object(figures, out)
        })
        .file("bench.png", |figures, out| {
            throughput::sheet(title(figures), figures.cpu.clone(), lines(figures)).write(out)
        })
}

/// The finding: the best kernel on real lengths.
fn title(figures: &Figures) -> String {
    let mixed = figures
        .kernels
        .iter()
        .find(|row| row.key_bytes == KeyBytes::Mixed && row.threads == 1);
    mixed.map_or(String::new(), |best| {
        format!(
            "{}: {:.0} M keys/s on one core, {:.1}× the table loop",
            best.kernel,
            best.rate.keys_per_sec / 1e6,
            best.over_table
        )
    })
}

/// One line a kernel, of the single-core rates.
fn lines(figures: &Figures) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for row in figures.kernels.iter().filter(|row| row.threads == 1) {
        let KeyBytes::Each(bytes) = row.key_bytes else {
            continue;
        };
        let point = (f64::from(bytes), row.rate.keys_per_sec);
        match lines.iter_mut().find(|line| line.name == row.kernel) {
            Some(line) => line.points.push(point),
            None => lines.push(Line {
                name: row.kernel.into(),
                points: vec![point],
            }),
        }
    }
    lines
}
