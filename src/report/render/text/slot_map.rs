//! The hash slots as a small map of shades: where the load is, at a glance.

use crate::metric::Metric;
use crate::slot::SLOTS;
use crate::text::{amount, amount_cell};

/// From nothing to the fullest cell.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const ROWS: usize = 8;
/// Characters left of a row: the number of its first slot.
const LABEL: usize = 9;

/// The rows of a map as wide as fits into `width` characters, and its legend.
pub fn lines(metric: Metric, loads: &[u64], width: usize) -> (Vec<String>, String) {
    let columns = if width >= LABEL + 64 { 64 } else { 16 };
    let slots = SLOTS / (ROWS * columns);
    let sum = |loads: &[u64]| {
        loads
            .iter()
            .fold(0, |sum: u64, load| sum.saturating_add(*load))
    };
    let cells: Vec<u64> = loads.chunks(slots).map(sum).collect();
    let most = cells.iter().copied().max().unwrap_or(0);
    let row = |(row, cells): (usize, &[u64])| {
        let shades: String = cells
            .iter()
            .map(|load| SHADES[shade(*load, most)])
            .collect();
        format!("{:>7}  {shades}", row * columns * slots)
    };
    let rows = cells.chunks(columns).enumerate().map(row).collect();
    let legend = format!(
        "Each cell is {slots} slots; · is none, █ the fullest, {} ({} would be even).",
        amount(metric, most),
        amount_cell(metric, sum(&cells) / cells.len().max(1) as u64)
    );
    (rows, legend)
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

    #[test]
    fn one_hot_slot_is_one_dark_cell_in_its_row() {
        let mut loads = vec![1; SLOTS];
        loads[719] = 1000;
        let (rows, legend) = lines(Metric::Keys, &loads, 100);
        assert_eq!(rows.concat().matches('█').count(), 1, "{rows:?}");
        let dark = rows[0].chars().position(|c| c == '█');
        assert_eq!(dark, Some(LABEL + 719 / 32));
        assert!(rows.iter().all(|row| row.chars().count() == LABEL + 64));
        assert!(
            legend.contains("█ the fullest, 1,031 keys (33 would be even)"),
            "{legend}"
        );
    }

    #[test]
    fn it_keeps_within_any_width_and_no_load_is_no_shade() {
        for width in [40, 72, 73, 200] {
            let (rows, _) = lines(Metric::Keys, &[0; SLOTS], width);
            assert!(
                rows.iter().all(|row| row.chars().count() <= width),
                "{rows:?}"
            );
            assert!(!rows.concat().contains('░') && rows.len() == ROWS);
        }
    }
}
