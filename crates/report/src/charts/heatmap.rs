//! slot-heatmap.png: one cell per slot, 128 per row, coloured by load, with node borders.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, spread, text_box};

use slotscope_engine::slot::SLOTS;
use slotscope_findings::summary::Summary;

use crate::charts::legend;
use crate::charts::loads::Loads;
use crate::charts::number::{counted, short, times, times_with};
use crate::charts::sheet::{MARGIN, note, size};
use crate::charts::{Sheet, node_name, ratio_digits, source_line};
use crate::palette::{EMPTY, EXPECTED, FRAME, INK, Rgb, ramp};
use crate::plot::axis::Axis;

/// Cells per row, and number of rows.
const SIDE: i32 = 128;
/// Pixels of a cell.
const CELL: i32 = 7;
const LEFT: i32 = MARGIN + 62;
const TOP: i32 = 124;
const RIGHT: i32 = LEFT + SIDE * CELL;
const BOTTOM: i32 = TOP + SIDE * CELL;
const HEIGHT: u32 = 1200;
/// With more nodes than this, none is named.
const NAMED: usize = 12;
/// Above these numbers of ranges, borders get thinner, then vanish: lines would cover everything.
const THICK: usize = 24;
const THIN: usize = 64;

/// The colour scale of loads.
struct Scale {
    /// The load of the darkest colour.
    top: u64,
    /// Why the scale ends there, if not obvious.
    reason: &'static str,
}

impl Scale {
    /// From 0 to the 99.9% quantile of slots, but at least to twice the mean: a single hot slot must not make all
    /// others pale, and small differences must not look large.
    fn of(loads: &Loads<'_>) -> Self {
        let stats = loads.stats;
        let twice = (2.0 * stats.mean).ceil() as u64;
        let (top, reason) = match stats.p999 > twice {
            true => (stats.p999, ": 99.9% of the slots hold no more"),
            false if twice > 1 => (twice, ": twice the mean"),
            false => (1, ""),
        };
        Scale { top, reason }
    }

    fn colour(&self, load: u64) -> Rgb {
        match load {
            0 => EMPTY,
            _ => ramp(load as f64 / self.top as f64),
        }
    }
}

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let (noun, stats, subtitle) = (loads.title(), loads.stats, source_line(summary));
    if loads.total() == 0.0 {
        let title = format!("{noun} per hash slot: all 16,384 are empty");
        return Sheet::empty(title, subtitle, loads.nothing()).with_height(HEIGHT);
    }
    let (max, mean) = (loads.short(stats.max as f64), loads.short(stats.mean));
    let title = format!("{noun} per hash slot: max {max}, mean {mean}");
    let draw = move |canvas: &Canvas<'_>| {
        let scale = Scale::of(&loads);
        cells(canvas, loads.slots, &scale);
        borders(canvas, summary);
        axes(canvas);
        names(canvas, summary, &loads);
        bar(canvas, &loads, &scale);
        hottest(canvas, summary, &loads);
    };
    Sheet::new(title, subtitle, draw).with_height(HEIGHT)
}

fn corner(slot: usize) -> (i32, i32) {
    (
        LEFT + slot as i32 % SIDE * CELL,
        TOP + slot as i32 / SIDE * CELL,
    )
}

fn cells(canvas: &Canvas<'_>, slots: &[u64], scale: &Scale) {
    for (slot, load) in slots.iter().enumerate().take(SLOTS) {
        let (x, y) = corner(slot);
        canvas.fill([x, y, x + CELL, y + CELL], scale.colour(*load));
    }
    canvas.outline([LEFT - 1, TOP - 1, RIGHT + 1, BOTTOM + 1], FRAME);
}

/// Lines between cells of different owners: dark with white edges, visible on any colour.
fn borders(canvas: &Canvas<'_>, summary: &Summary) {
    let ranges: usize = summary
        .nodes
        .list
        .iter()
        .map(|node| node.ranges.len())
        .sum();
    if ranges > THIN {
        return;
    }
    let owners = summary.nodes.owners();
    let mut lines = Vec::new();
    for slot in 0..SLOTS {
        let (x, y) = corner(slot);
        if slot as i32 % SIDE != SIDE - 1 && owners[slot] != owners[slot + 1] {
            lines.push([x + CELL, y, x + CELL, y + CELL]);
        }
        if slot + (SIDE as usize) < SLOTS && owners[slot] != owners[slot + SIDE as usize] {
            lines.push([x, y + CELL, x + CELL, y + CELL]);
        }
    }
    let wide =
        |[x0, y0, x1, y1]: [i32; 4], pad: i32| [x0 - pad, y0 - pad, x1 + pad + 1, y1 + pad + 1];
    if ranges <= THICK {
        lines
            .iter()
            .for_each(|line| canvas.fill(wide(*line, 1), EMPTY));
    }
    let opacity = if ranges <= THICK { 1.0 } else { 0.55 };
    lines
        .iter()
        .for_each(|line| canvas.tint(wide(*line, 0), INK, opacity));
}

fn axes(canvas: &Canvas<'_>) {
    for row in (0..SIDE).step_by(16) {
        let y = TOP + row * CELL + CELL / 2;
        canvas.fill([LEFT - 7, y, LEFT - 1, y + 1], FRAME);
        note(
            canvas,
            &(row * SIDE).to_string(),
            (LEFT - 12, y),
            Anchor::End,
        );
    }
    for column in (0..SIDE).step_by(16) {
        let x = LEFT + column * CELL + CELL / 2;
        canvas.fill([x, BOTTOM + 1, x + 1, BOTTOM + 7], FRAME);
        note(
            canvas,
            &format!("+{column}"),
            (x, BOTTOM + 18),
            Anchor::Middle,
        );
    }
    note(canvas, "slot", (LEFT - 12, TOP - 14), Anchor::End);
}

/// Names next to the rows that contain most of each node's slots.
fn names(canvas: &Canvas<'_>, summary: &Summary, loads: &Loads<'_>) {
    let nodes: Vec<_> = summary.nodes.owning().collect();
    let style = Style::plain(size::BODY, INK);
    let (left, room) = (RIGHT + 22, (canvas.width - RIGHT - 34) as f32);
    if nodes.len() > NAMED {
        let ranges: usize = nodes.iter().map(|node| node.ranges.len()).sum();
        let borders = if ranges > THIN {
            "borders left out"
        } else {
            "borders only"
        };
        let count = format!("{} nodes:", short(nodes.len() as f64));
        note(canvas, &count, (left, TOP + 12), Anchor::Start);
        note(canvas, borders, (left, TOP + 34), Anchor::Start);
        return;
    }
    let longest = |ranges: &[(u16, u16)]| {
        ranges
            .iter()
            .copied()
            .max_by_key(|(first, last)| (last - first, SLOTS as u16 - first))
    };
    let mut named: Vec<_> = nodes
        .iter()
        .filter_map(|node| longest(&node.ranges).map(|range| (range, *node)))
        .collect();
    named.sort_by_key(|(range, _)| *range);
    // If a node's slots are scattered, a bracket around one range would mislead.
    let scattered = named
        .iter()
        .any(|((first, last), node)| u32::from(last - first + 1) * 2 < node.slots);
    let digits = ratio_digits(&nodes, loads);
    let middle = |(first, last): (u16, u16)| {
        TOP + (i32::from(first) + i32::from(last)) * CELL / (2 * SIDE) + CELL / 2
    };
    let wanted: Vec<_> = named.iter().map(|(range, _)| middle(*range) - 10).collect();
    for (y, ((first, last), node)) in spread(&wanted, 46, (TOP + 8, BOTTOM - 30))
        .iter()
        .zip(&named)
    {
        let row = |slot: i32| TOP + slot * CELL / SIDE;
        let (top, bottom) = (row(i32::from(*first)) + 3, row(i32::from(*last) + 1) - 2);
        if !scattered {
            canvas.fill([RIGHT + 9, top, RIGHT + 11, bottom.max(top + 1)], FRAME);
        }
        canvas.text(
            &fit(&node_name(node), room, style),
            (left, *y),
            Anchor::Start,
            style,
        );
        let load = loads.held(&node.load) as f64;
        let ratio = load / loads.nodes.mean.max(f64::MIN_POSITIVE);
        let words = format!("{} · {}", loads.short(load), times_with(digits, ratio));
        note(canvas, &words, (left, y + 21), Anchor::Start);
    }
}

/// The colour bar: empty, the scale with mean and expected range, and the part beyond it.
fn bar(canvas: &Canvas<'_>, loads: &Loads<'_>, scale: &Scale) {
    let stats = loads.stats;
    let (top, bottom) = (BOTTOM + 78, BOTTOM + 100);
    let style = Style::plain(size::NOTE, INK);
    let swatch = |x: i32, colour: Rgb, words: &str| {
        canvas.fill([x, top, x + 24, bottom], colour);
        canvas.outline([x, top, x + 24, bottom], FRAME);
        canvas.text(words, (x + 32, (top + bottom) / 2), Anchor::Start, style);
    };
    swatch(
        LEFT,
        EMPTY,
        &format!("empty: {}", counted(stats.empty as u64, "slot")),
    );
    let axis = Axis::new((0.0, scale.top as f64), (LEFT + 210, LEFT + 210 + 440));
    let x = axis.whole().in_numbers(loads.numbers());
    legend::draw_ramp(canvas, &x, (top, bottom), 88);
    let mean = x.at(stats.mean);
    canvas.fill([mean - 1, top - 7, mean + 1, bottom], INK);
    let mut words = format!("mean {}", loads.short(stats.mean));
    if let Some(perfect) = loads.expected() {
        let (least, most) = perfect.middle_998_permille();
        let (from, to) = (x.at(least), x.at(most));
        // A bracket over the colours expected under a perfect hash.
        canvas.fill([from, top - 5, to, top - 3], EXPECTED);
        [from, to - 2]
            .into_iter()
            .for_each(|end| canvas.fill([end, top - 5, end + 2, top], EXPECTED));
        let (least, most) = (loads.short(least.floor()), loads.short(most.ceil()));
        words = format!("{words}; a perfect hash: {least} to {most} in 99.8% of the slots");
    }
    let left = (mean - 34).max(x.start);
    canvas.text(&words, (left, top - 18), Anchor::Start, style);
    let hot = loads
        .slots
        .iter()
        .filter(|load| **load >= scale.top)
        .count();
    if hot > 0 {
        let words = format!(
            "≥ {}: {}",
            loads.counted(scale.top),
            counted(hot as u64, "slot")
        );
        swatch(x.end + 34, ramp(1.0), &words);
    }
    let words = format!(
        "{} per slot; the scale ends at {}{}",
        loads.noun(),
        loads.short(x.to),
        scale.reason
    );
    note(canvas, &words, (x.start, bottom + 44), Anchor::Start);
}

/// A ring around the fullest cell, with its numbers.
fn hottest(canvas: &Canvas<'_>, summary: &Summary, loads: &Loads<'_>) {
    let Some(slot) = summary.slots.hottest.first() else {
        return;
    };
    let (x, y) = corner(usize::from(slot.slot));
    let (x, y) = (x + CELL / 2, y + CELL / 2);
    let words = format!(
        "slot {}: {}, {} the mean",
        slot.slot,
        loads.counted(loads.held(&slot.load)),
        times(slot.over_mean)
    );
    let style = Style::bold(size::BODY, INK);
    let (anchor, dx) = if x < (LEFT + RIGHT) / 2 {
        (Anchor::Start, 34)
    } else {
        (Anchor::End, -34)
    };
    let dy = if y < (TOP + BOTTOM) / 2 { 30 } else { -30 };
    let at = (x + dx, y + dy);
    let [x0, y0, x1, y1] = text_box(&words, at, anchor, style);
    let place = [x0 - 8, y0 - 3, x1 + 8, y1 + 3];
    let angles = (0..=48).map(|i| f64::from(i) * std::f64::consts::TAU / 48.0);
    let ring: Vec<_> = angles
        .map(|a| (f64::from(x) + 9.0 * a.cos(), f64::from(y) + 9.0 * a.sin()))
        .collect();
    let line = [
        (
            f64::from(x + dx.signum() * 7),
            f64::from(y + dy.signum() * 7),
        ),
        (f64::from(at.0), f64::from(at.1)),
    ];
    for (thickness, colour) in [(5.0, EMPTY), (2.0, INK)] {
        canvas.curve(&line, thickness, colour);
        canvas.curve(&ring, thickness, colour);
    }
    canvas.fill(place, EMPTY);
    canvas.outline(place, INK);
    canvas.text(&words, at, anchor, style);
}
