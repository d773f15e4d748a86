//! The hash slots as a small map of shades: where the load is, at a glance.

use std::io::{self, Write};

use super::layout::wrapped;
use crate::metric::Metric;
use crate::slot::SLOTS;

/// From nothing to the fullest cell.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const ROWS: usize = 8;
/// What stands left of a row: the number of its first slot.
const LABEL: usize = 9;

/// Writes the map, as wide as fits; `shown` spells a load.
pub fn write(
    loads: &[u64],
    metric: Metric,
    width: usize,
    shown: impl Fn(u64) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = if width >= LABEL + 64 { 64 } else { 16 };
    let slots = SLOTS / (ROWS * columns);
    let cells: Vec<u64> =
        loads.chunks(slots).map(|loads| loads.iter().fold(0, |sum: u64, load| sum.saturating_add(*load))).collect();
    let most = cells.iter().copied().max().unwrap_or(0);
    for (row, cells) in cells.chunks(columns).enumerate() {
        let shades: String = cells.iter().map(|load| SHADES[shade(*load, most)]).collect();
        writeln!(out, "{:>7}  {shades}", row * columns * slots)?;
    }
    let text = format!(
        "Each cell is {slots} slots; · is none, █ the fullest, {} ({} would be even).",
        amount(metric, &shown(most)),
        shown(cells.iter().fold(0, |sum: u64, load| sum.saturating_add(*load)) / cells.len().max(1) as u64)
    );
    wrapped(&text, width - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))
}

fn amount(metric: Metric, shown: &str) -> String {
    if metric == Metric::Bytes { shown.to_string() } else { format!("{shown} {}", metric.name()) }
}

/// The shade of a load: only nothing has none.
fn shade(load: u64, most: u64) -> usize {
    let last = SHADES.len() - 1;
    match load {
        0 => 0,
        load => ((load as f64 / most as f64 * last as f64).ceil() as usize).clamp(1, last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(loads: &[u64], width: usize) -> String {
        let mut out = Vec::new();
        write(loads, Metric::Keys, width, |load| load.to_string(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_hot_slot_is_one_dark_cell_in_its_row() {
        let mut loads = vec![1; SLOTS];
        loads[719] = 1000;
        let map = map(&loads, 100);
        assert_eq!(map.matches('█').count(), 2, "the cell and the legend: {map}");
        assert_eq!(map.lines().next().unwrap().chars().position(|c| c == '█'), Some(LABEL + 719 / 32));
        assert_eq!(map.lines().take(ROWS).map(|line| line.chars().count()).max(), Some(LABEL + 64));
    }

    #[test]
    fn it_keeps_within_any_width_and_no_load_is_no_shade() {
        for width in [40, 72, 73, 200] {
            let map = map(&vec![0; SLOTS], width);
            assert!(map.lines().all(|line| line.chars().count() <= width), "{map}");
            assert!(!map.lines().take(ROWS).any(|line| line.contains('░')), "{map}");
        }
    }
}
