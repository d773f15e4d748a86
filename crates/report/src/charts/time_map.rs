//! timeline.png: heat by time and slot, coloured by rate, with bursts.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, overlap, text_box};

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::day;

use crate::charts::Sheet;
use crate::charts::field::tick_label;
use crate::charts::legend;
use crate::charts::sheet::{MARGIN, note, size};
use crate::palette::{EMPTY, FRAME, INK, ramp};
use crate::plot::Plot;
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::view::{Heat, TimeMap};

const HEIGHT: u32 = 1000;
/// The plot area: leaves space for numbers on the left, node names on the right, times and legend below.
const LEFT: i32 = 110;
const RIGHT: i32 = 190;
const TOP: i32 = 130;
const BELOW: i32 = 190;
/// Maximum bursts named, and marked in total.
const NAMED: usize = 5;
const MARKED: usize = 40;
/// With more nodes than this, none is named.
const NODES: usize = 24;
/// The top of the colour scale: this permille of the non-empty cells do not exceed it.
const PERMILLE: usize = 999;
/// Minimum top of the scale, in operations or grains: differences of one are not a pattern.
const LEAST_TOP: u64 = 10;

/// The chart of `map`.
pub fn sheet(title: String, subtitle: String, map: TimeMap) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| draw(canvas, &map)).with_height(HEIGHT)
}

fn draw(canvas: &Canvas<'_>, map: &TimeMap) {
    let times = (map.from as f64, map.to() as f64);
    let x = Axis::new(times, (LEFT, canvas.width - RIGHT)).in_numbers(Numbers::Moments);
    let slots = Axis::new((0.0, SLOTS as f64), (TOP, canvas.height - BELOW));
    let field = Plot::new(x, slots);
    let top = top_of(map);
    cells(canvas, map, &field, top);
    axes(canvas, map, &field);
    nodes(canvas, map, &field);
    bursts(canvas, map, &field);
    colours(canvas, map, top);
}

/// The amount of the darkest colour, chosen so that a single burst does not make the rest pale.
fn top_of(map: &TimeMap) -> u64 {
    let mut ops: Vec<u64> = map
        .rows
        .iter()
        .flatten()
        .copied()
        .filter(|ops| *ops > 0)
        .collect();
    ops.sort_unstable();
    let median = ops.get(ops.len() / 2).copied().unwrap_or(1);
    let high = ops.get(ops.len() * PERMILLE / 1000).copied().unwrap_or(1);
    high.clamp(2 * median, 16 * median)
        .max(LEAST_TOP * map.heat.grain())
}

fn cells(canvas: &Canvas<'_>, map: &TimeMap, Plot { x, y, .. }: &Plot, top: u64) {
    let [left, right] = [0, 1].map(|end| {
        let edge =
            move |column: usize| x.at((map.from + (column + end) as u64 * map.bucket_secs) as f64);
        (0..map.len()).map(edge).collect::<Vec<_>>()
    });
    for (row, ops) in map.rows.iter().enumerate() {
        let (first, last) = map.slots(row);
        let (above, below) = (y.at(first as f64), y.at(last as f64 + 1.0));
        for (column, ops) in ops.iter().enumerate().filter(|(_, ops)| **ops > 0) {
            let colour = ramp(*ops as f64 / top as f64);
            canvas.fill([left[column], above, right[column], below], colour);
        }
    }
    canvas.outline([x.start - 1, y.start - 1, x.end + 1, y.end + 1], FRAME);
}

fn axes(canvas: &Canvas<'_>, map: &TimeMap, Plot { x, y, .. }: &Plot) {
    for slot in (0..=SLOTS).step_by(2048) {
        let place = y.at(slot as f64);
        canvas.fill([x.start - 7, place, x.start - 1, place + 1], FRAME);
        note(
            canvas,
            &slot.to_string(),
            (x.start - 12, place),
            Anchor::End,
        );
    }
    note(canvas, "slot", (x.start - 12, y.start - 22), Anchor::End);
    for (at, name) in x.ticks(120) {
        let place = x.at(at);
        canvas.fill([place, y.end + 1, place + 1, y.end + 7], FRAME);
        tick_label(canvas, &name, (place, y.end + 20));
    }
    let name = format!("time (UTC), from {}", day(map.from));
    let middle = (x.start + x.end) / 2;
    note(canvas, &name, (middle, y.end + 48), Anchor::Middle);
}

/// Lines between nodes, with names if they fit.
fn nodes(canvas: &Canvas<'_>, map: &TimeMap, Plot { x, y, .. }: &Plot) {
    if map.owners.len() > NODES {
        return;
    }
    let style = Style::plain(size::NOTE, INK);
    let room = (RIGHT - MARGIN - 14) as f32;
    for (first, last, name) in &map.owners {
        let (above, below) = (y.at(f64::from(*first)), y.at(f64::from(*last) + 1.0));
        if *first > 0 {
            canvas.tint([x.start, above, x.end, above + 1], INK, 0.6);
        }
        canvas.fill([x.end + 6, above + 2, x.end + 8, below - 2], FRAME);
        if below - above >= 22 {
            let name = fit(name, room, style);
            canvas.text(
                &name,
                (x.end + 14, (above + below) / 2),
                Anchor::Start,
                style,
            );
        }
    }
}

/// A frame around every burst, and the names of the largest.
fn bursts(canvas: &Canvas<'_>, map: &TimeMap, Plot { x, y, .. }: &Plot) {
    let frame = |slot: u16, (from, to): (u64, u64)| {
        let row = usize::from(slot) / map.slots_per_row;
        let (first, last) = map.slots(row);
        [
            x.at(from as f64) - 3,
            y.at(first as f64) - 3,
            x.at(to as f64) + 3,
            y.at(last as f64 + 1.0) + 3,
        ]
    };
    let marked = || map.bursts.iter().take(MARKED);
    for burst in marked() {
        let place = frame(burst.slot, burst.times);
        canvas.outline(place, INK);
    }
    let style = Style::bold(size::NOTE, INK);
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for burst in map.bursts.iter().take(NAMED) {
        let [x0, y0, _, y1] = frame(burst.slot, burst.times);
        let name = fit(&burst.name, 360.0, style);
        let below = y0 < y.start + 40;
        let at = |anchor, x: i32| {
            let place = (x, if below { y1 + 16 } else { y0 - 16 });
            (place, anchor, text_box(&name, place, anchor, style))
        };
        let start = at(Anchor::Start, x0);
        let (place, anchor, area) = if start.2[2] > x.end {
            at(Anchor::End, x.end - 4)
        } else {
            start
        };
        if taken.iter().any(|label| overlap(*label, area)) {
            continue;
        }
        canvas.label(&name, place, anchor, style);
        taken.push(area);
    }
}

/// How rates are printed: scale factor, number format, unit.
fn scale(heat: Heat) -> (f64, Numbers, &'static str) {
    match heat {
        Heat::Ops => (1.0, Numbers::Decimal, "operations a second"),
        Heat::Cpu => (1e-4, Numbers::Decimal, "% of a core"),
        Heat::Network => (1.0, Numbers::Binary, "bytes of network traffic a second"),
    }
}

/// The colour scale, as rates for the slots of a row.
fn colours(canvas: &Canvas<'_>, map: &TimeMap, top: u64) {
    let (above, below) = (canvas.height - 92, canvas.height - 72);
    let middle = (above + below) / 2;
    let (part, numbers, unit) = scale(map.heat);
    let rate = top as f64 / map.bucket_secs as f64 * part;
    canvas.outline([LEFT, above, LEFT + 24, below], FRAME);
    canvas.fill([LEFT + 1, above + 1, LEFT + 23, below - 1], EMPTY);
    let none = format!("no {}", map.heat.one());
    note(canvas, &none, (LEFT + 32, middle), Anchor::Start);
    let x = Axis::new((0.0, rate), (LEFT + 190, LEFT + 190 + 420)).in_numbers(numbers);
    legend::draw_ramp(canvas, &x, (above, below), 100);
    let words = format!("and more than {}", numbers.short(rate));
    note(canvas, &words, (x.end + 14, middle), Anchor::Start);
    let unit = format!("{unit} on {} slots; frames: bursts", map.slots_per_row);
    note(canvas, &unit, (x.start, below + 44), Anchor::Start);
}
