//! timeline.png: heat by time and slot, coloured by rate, with bursts.

use slotscope_engine::text::day;

use crate::charts::Sheet;
use crate::charts::grid::{self, Grid};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::view::time_map::Marked;
use crate::view::{Heat, TimeMap};

/// Maximum bursts named, and marked in total.
const NAMED: usize = 5;
const MARKED: usize = 40;
/// The top of the colour scale: this permille of the non-empty cells do not exceed it.
const PERMILLE: usize = 999;
/// Minimum top of the scale, in operations or grains: differences of one are not a pattern.
const LEAST_TOP: u64 = 10;
/// Pixels between two times.
const APART: i32 = 120;

/// The chart of `map`.
pub fn sheet(title: String, subtitle: String, map: TimeMap) -> Sheet<'static> {
    let sheet = Sheet::new(title, subtitle, move |canvas| {
        grid::draw(canvas, &grid(map))
    });
    sheet.with_height(grid::HEIGHT)
}

fn grid(map: TimeMap) -> Grid {
    let top = top_of(&map);
    let (part, numbers, unit) = match map.heat {
        Heat::Ops => (1.0, Numbers::Decimal, "operations a second"),
        Heat::Cpu => (1e-4, Numbers::Decimal, "% of a core"),
        Heat::Network => (1.0, Numbers::Binary, "bytes of network traffic a second"),
    };
    let rate = top as f64 / map.bucket_secs as f64 * part;
    let column = |at: f64| (at - map.from as f64) / map.bucket_secs as f64;
    let times = Axis::new((map.from as f64, map.to() as f64)).in_numbers(Numbers::Moments);
    let ticks = times.placed((0, 896)).ticks(APART).into_iter();
    let mark = |(at, burst): (usize, &Marked)| {
        let (from, to) = burst.times;
        let label = if at < NAMED {
            burst.name.clone()
        } else {
            String::new()
        };
        (burst.slot, [from, to].map(|at| column(at as f64)), label)
    };
    Grid {
        is_along_slots: false,
        columns: (
            ticks.map(|(at, label)| (column(at), label)).collect(),
            format!("time (UTC), from {}", day(map.from)),
        ),
        marks: map
            .bursts
            .iter()
            .take(MARKED)
            .enumerate()
            .map(mark)
            .collect(),
        top,
        scale: Axis::new((0.0, rate)).in_numbers(numbers),
        words: [
            format!("no {}", map.heat.one()),
            format!("more than {}", numbers.short(rate)),
            format!("{unit} on {} slots; frames: bursts", map.slots_per_row),
        ],
        owners: map.owners,
        rows: map.rows,
    }
}

/// The amount of the darkest colour, chosen so that a single burst does not make the rest pale.
fn top_of(map: &TimeMap) -> u64 {
    let amounts = map.rows.iter().flatten().copied();
    let mut ops: Vec<u64> = amounts.filter(|ops| *ops > 0).collect();
    ops.sort_unstable();
    let median = ops.get(ops.len() / 2).copied().unwrap_or(1);
    let high = ops.get(ops.len() * PERMILLE / 1000).copied().unwrap_or(1);
    high.clamp(2 * median, 16 * median)
        .max(LEAST_TOP * map.heat.grain())
}
