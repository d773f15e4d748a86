//! Heat by time and slot as a shaded map: one line per 512 slots, time from left to right.

use slotscope_base::text::{counted, time};

use crate::render::text::slot_map::{DARK, DARKEST, median, shade};
use crate::view::TimeMap;

/// Number of lines.
const LINES: usize = 32;
/// Characters at the start of a line for its first slot number.
const LABEL: usize = 9;
/// Minimum width of the time labels below the map.
const TIMES: usize = 19;

/// The lines of a map that fits into `width` characters, and its legend.
pub(crate) fn lines(map: &TimeMap, width: usize) -> (Vec<String>, String) {
    let room = width.saturating_sub(LABEL).max(1);
    let (rows, columns) = (
        map.rows.len().div_ceil(LINES).max(1),
        map.len().div_ceil(room).max(1),
    );
    let cells = coarser(map, rows, columns);
    let ops: Vec<u64> = cells.iter().flatten().copied().collect();
    let (median, most) = (median(&ops), ops.iter().copied().max().unwrap_or(0));
    let line = |(number, cells): (usize, &Vec<u64>)| {
        let shades: String = cells.iter().map(|ops| shade(*ops, median)).collect();
        format!("{:>7}  {shades}", number * rows * map.slots_per_row)
    };
    let mut lines: Vec<_> = cells.iter().enumerate().map(line).collect();
    lines.extend(times(map, cells.first().map_or(0, Vec::len)));
    let secs = columns as u64 * map.bucket_secs;
    let rate = |amount: u64| map.heat.rate(amount as f64 / secs as f64);
    let legend = format!(
        "Each cell is {} in {}: · no {}, ░ under half the median of {}, ▓ over {DARK} times, █ over {DARKEST} times; \
         the busiest has {}. From {} to {}.",
        counted((rows * map.slots_per_row) as u64, "slot"),
        counted(secs, "second"),
        map.heat.one(),
        rate(median),
        rate(most),
        time(map.from),
        time(map.to()),
    );
    (lines, legend)
}

/// The amounts aggregated into fewer, larger cells.
fn coarser(map: &TimeMap, rows: usize, columns: usize) -> Vec<Vec<u64>> {
    let merged = |rows: &[Vec<u64>]| {
        let sum = |at: usize| rows.iter().map(|row| row[at]).sum::<u64>();
        let sums: Vec<u64> = (0..map.len()).map(sum).collect();
        sums.chunks(columns)
            .map(|cells| cells.iter().sum())
            .collect()
    };
    map.rows.chunks(rows).map(merged).collect()
}

/// The times of the first and the last column, if they fit.
fn times(map: &TimeMap, columns: usize) -> Option<String> {
    let clock = |at: u64| time(at)[11..19].to_string();
    let gap = columns.checked_sub(TIMES)? + TIMES - 16;
    Some(format!(
        "{:LABEL$}{}{:gap$}{}",
        "",
        clock(map.from),
        "",
        clock(map.to())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Heat;

    fn map(columns: usize) -> TimeMap {
        let mut rows = vec![vec![2; columns]; 256];
        rows[20][columns / 2] = 100_000;
        TimeMap {
            heat: Heat::Ops,
            from: 1_795_242_395,
            bucket_secs: 1,
            slots_per_row: 64,
            rows,
            bursts: Vec::new(),
            names: Vec::new(),
            owners: Vec::new(),
        }
    }

    #[test]
    fn a_busy_cell_is_dark_in_its_line_at_any_width() {
        for (columns, width) in [(300, 40), (300, 100), (400, 200), (5, 80), (1, 40)] {
            let (lines, legend) = lines(&map(columns), width);
            assert!(
                lines.iter().all(|line| line.chars().count() <= width),
                "{lines:?}"
            );
            assert_eq!(lines.concat().matches('█').count(), 1, "{lines:?}");
            let dark = lines.iter().position(|line| line.contains('█'));
            assert_eq!(dark, Some(20 / 8), "{lines:?}");
            assert!(legend.contains("512 slots in "), "{legend}");
        }
    }

    #[test]
    fn the_times_of_its_ends_are_below_it() {
        let (lines, _) = lines(&map(60), 100);
        let last = lines.last().unwrap();
        assert!(
            last.starts_with("         06:26:35 ") && last.ends_with(" 06:27:35"),
            "{last}"
        );
        assert_eq!(last.chars().count(), 69);
    }
}
