//! The hash slots as a small shaded map: shows at a glance where the load is.

use slotscope_base::metric::Metric;
use slotscope_base::slot::SLOTS;
use slotscope_base::text::{amount, amount_cell};

/// No load, less than half of the median, up to `DARK` times the median, up to `DARKEST` times, and more.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// A cell is dark at or above this multiple of the median.
pub(crate) const DARK: u64 = 2;
/// A cell is darkest at or above this multiple of the median.
pub(crate) const DARKEST: u64 = 8;
const ROWS: usize = 8;
/// Characters at the start of a row for its first slot number.
const LABEL: usize = 9;

/// The rows of a map that fits into `width` characters, and its legend.
pub(crate) fn lines(metric: Metric, loads: &[u64], width: usize) -> (Vec<String>, String) {
    let columns = if width >= LABEL + 64 { 64 } else { 16 };
    let slots = SLOTS / (ROWS * columns);
    let sum = |loads: &[u64]| {
        loads
            .iter()
            .fold(0, |sum: u64, load| sum.saturating_add(*load))
    };
    let cells: Vec<u64> = loads.chunks(slots).map(sum).collect();
    let most = cells.iter().copied().max().unwrap_or(0);
    let median = median(&cells);
    let row = |(row, cells): (usize, &[u64])| {
        let shades: String = cells.iter().map(|load| shade(*load, median)).collect();
        format!("{:>7}  {shades}", row * columns * slots)
    };
    let rows = cells.chunks(columns).enumerate().map(row).collect();
    let legend = format!(
        "Each cell is {slots} slots: · empty, ░ under half the median of {}, ▓ over {DARK} times, █ over {DARKEST} times; \
         the fullest has {}.",
        amount(metric, median),
        amount_cell(metric, most)
    );
    (rows, legend)
}

/// The median of non-empty cells, which a single hot slot does not affect, unlike the mean.
pub fn median(cells: &[u64]) -> u64 {
    let mut loads: Vec<u64> = cells.iter().copied().filter(|load| *load > 0).collect();
    loads.sort_unstable();
    loads.get(loads.len() / 2).copied().unwrap_or(0)
}

/// The shade of a load.
pub(crate) fn shade(load: u64, median: u64) -> char {
    SHADES[level(load, median)]
}

/// The shade of a load, from 0 for no load to 4.
pub fn level(load: u64, median: u64) -> usize {
    let times = load as f64 / median.max(1) as f64;
    match load {
        0 => 0,
        _ if times < 0.5 => 1,
        _ if times <= DARK as f64 => 2,
        _ if times <= DARKEST as f64 => 3,
        _ => 4,
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
        assert_eq!(rows.concat().matches('▒').count(), ROWS * 64 - 1);
        assert!(
            legend.contains("the median of 32 keys") && legend.ends_with("has 1,031."),
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
