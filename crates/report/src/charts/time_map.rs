//! timeline.png: heat by time and slot, a colour for each rate, and the bursts.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, overlap, text_box};

use slotscope_engine::slot::SLOTS;
use slotscope_engine::text::day;

use crate::charts::Sheet;
use crate::charts::axis::{Axis, tick_label};
use crate::charts::dates::moments;
use crate::charts::number::Numbers;
use crate::charts::sheet::{MARGIN, size};
use crate::palette::{EMPTY, FRAME, INK, MUTED, ramp};
use crate::view::{Heat, TimeMap};

const HEIGHT: u32 = 1000;
/// The field: room for the numbers at the left, for names of nodes at the right, for times and the legend below.
const LEFT: i32 = 110;
const RIGHT: i32 = 190;
const TOP: i32 = 130;
const BELOW: i32 = 190;
/// Moments that are named.
const MOMENTS: usize = 8;
/// Bursts that are named, and all that are marked.
const NAMED: usize = 5;
const MARKED: usize = 40;
/// More nodes than this are not named.
const NODES: usize = 24;
/// What the colours end above: so many of a thousand cells with operations.
const PERMILLE: usize = 999;
/// It has at least so many operations, or grains of other heat: one more or less is no pattern.
const LEAST_TOP: u64 = 10;

/// The chart of `map`.
pub fn sheet(title: String, subtitle: String, map: TimeMap) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| draw(canvas, &map)).with_height(HEIGHT)
}

/// The field of the map: the pixels of times and slots.
#[derive(Clone, Copy)]
struct Field {
    x: Axis,
    y: Axis,
}

fn draw(canvas: &Canvas<'_>, map: &TimeMap) {
    let field = Field {
        x: Axis {
            from: map.from as f64,
            to: map.to() as f64,
            start: LEFT,
            end: canvas.width - RIGHT,
            step: 1.0,
            numbers: Numbers::Decimal,
        },
        y: Axis {
            from: 0.0,
            to: SLOTS as f64,
            start: TOP,
            end: canvas.height - BELOW,
            step: 1.0,
            numbers: Numbers::Decimal,
        },
    };
    let top = top_of(map);
    cells(canvas, map, field, top);
    axes(canvas, map, field);
    nodes(canvas, map, field);
    bursts(canvas, map, field);
    legend(canvas, map, top);
}

/// The amount of the darkest colour: one burst does not turn all else pale.
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

fn cells(canvas: &Canvas<'_>, map: &TimeMap, Field { x, y }: Field, top: u64) {
    let [left, right] = [0, 1].map(|more| {
        let edge =
            move |column: usize| x.at((map.from + (column + more) as u64 * map.bucket_secs) as f64);
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

fn axes(canvas: &Canvas<'_>, map: &TimeMap, Field { x, y }: Field) {
    let style = Style::plain(size::NOTE, MUTED);
    for slot in (0..=SLOTS).step_by(2048) {
        let place = y.at(slot as f64);
        canvas.fill([x.start - 7, place, x.start - 1, place + 1], FRAME);
        canvas.text(&slot.to_string(), (x.start - 12, place), Anchor::End, style);
    }
    canvas.text("slot", (x.start - 12, y.start - 22), Anchor::End, style);
    for (at, name) in moments(map.from, map.to(), MOMENTS) {
        let place = x.at(at as f64);
        canvas.fill([place, y.end + 1, place + 1, y.end + 7], FRAME);
        tick_label(canvas, &name, (place, y.end + 20), style);
    }
    let name = format!("time (UTC), from {}", day(map.from));
    canvas.text(
        &name,
        ((x.start + x.end) / 2, y.end + 48),
        Anchor::Middle,
        style,
    );
}

/// Lines between the slots of nodes, and their names where there is room.
fn nodes(canvas: &Canvas<'_>, map: &TimeMap, Field { x, y }: Field) {
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
fn bursts(canvas: &Canvas<'_>, map: &TimeMap, Field { x, y }: Field) {
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
        if taken.iter().any(|other| overlap(*other, area)) {
            continue;
        }
        canvas.label(&name, place, anchor, style);
        taken.push(area);
    }
}

/// How rates are written: their part of a unit, their numbers, the unit.
pub fn scale(heat: Heat) -> (f64, Numbers, &'static str) {
    match heat {
        Heat::Ops => (1.0, Numbers::Decimal, "operations a second"),
        Heat::Cpu => (1e-4, Numbers::Decimal, "% of a core"),
        Heat::Network => (1.0, Numbers::Binary, "bytes of network traffic a second"),
    }
}

/// The colours, as rates on the slots of a row.
fn legend(canvas: &Canvas<'_>, map: &TimeMap, top: u64) {
    let (above, below) = (canvas.height - 92, canvas.height - 72);
    let note = Style::plain(size::NOTE, MUTED);
    let (part, numbers, unit) = scale(map.heat);
    let rate = top as f64 / map.bucket_secs as f64 * part;
    canvas.outline([LEFT, above, LEFT + 24, below], FRAME);
    canvas.fill([LEFT + 1, above + 1, LEFT + 23, below - 1], EMPTY);
    let none = format!("no {}", map.heat.one());
    canvas.text(&none, (LEFT + 32, (above + below) / 2), Anchor::Start, note);
    let x = Axis {
        from: 0.0,
        to: rate,
        start: LEFT + 190,
        end: LEFT + 190 + 420,
        step: 0.0,
        numbers,
    };
    for column in x.start..x.end {
        let part = f64::from(column - x.start) / f64::from(x.end - x.start);
        canvas.fill([column, above, column + 1, below], ramp(part));
    }
    for (value, label) in x.ticks(100) {
        let place = x.at(value);
        canvas.fill([place, below, place + 1, below + 6], FRAME);
        canvas.text(&label, (place, below + 18), Anchor::Middle, note);
    }
    let more = format!("and more than {}", numbers.short(rate));
    canvas.text(
        &more,
        (x.end + 14, (above + below) / 2),
        Anchor::Start,
        note,
    );
    let unit = format!("{unit} on {} slots; frames: bursts", map.slots_per_row);
    canvas.text(&unit, (x.start, below + 44), Anchor::Start, note);
}
