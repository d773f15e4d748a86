//! slot-distribution.png: how many slots hold how much, and how many would under a perfect hash.

use std::io::{self, Write};

use super::axis::{Axis, Plot};
use super::canvas::{Anchor, BELOW_HEADING, Canvas, MARGIN, size};
use super::expectation::PerfectHash;
use super::loads::Loads;
use super::number::{Numbers, counted, short};
use plotters::style::WHITE;

use super::palette::{ALARM, EXPECTED, INK, LOAD, MUTED};
use super::text::{self, Style};
use super::{SHEET, canvas, source_line};
use crate::slot::SLOTS;
use crate::summary::Summary;

/// About so many bars.
const BARS: u64 = 64;
/// Up to so many bars, each stands for one load and has its number of slots written above it.
const SINGLE: u64 = 16;
/// A longest tail up to this multiple of p99 is drawn, a longer one is put into one bar.
const TAIL: f64 = 1.5;

/// Bars of equal width in the metric of the loads, and one for the rest.
struct Bins {
    from: u64,
    width: u64,
    slots: Vec<u64>,
    /// Slots that hold as much as the end of the last bar, or more.
    beyond: u64,
}

impl Bins {
    fn of(loads: &Loads<'_>, perfect: Option<&PerfectHash>) -> Self {
        let stats = loads.stats;
        let long = stats.max as f64 > TAIL * stats.p99 as f64 && stats.max - stats.p99 > BARS / 4;
        let last = match stats.p99 {
            _ if !long => stats.max,
            p99 if p99 < SINGLE => SINGLE - 1,
            p99 => (TAIL * p99 as f64) as u64,
        };
        // The perfect hash is in the picture too.
        let (low, high) = perfect.map_or((u64::MAX, 0), |p| (p.core().0 as u64, p.core().1.ceil() as u64));
        let last = last.max(high);
        let least = stats.min.min(low);
        // Where all slots are far from empty, the bars start at the emptiest; else at 0.
        let first = if least as f64 > last as f64 * 0.5 { least } else { 0 };
        let width = ((last - first) / BARS + 1).max(1);
        let from = first / width * width;
        let mut slots = vec![0; ((last - from) / width + 1) as usize];
        let mut beyond = 0;
        for load in loads.slots {
            match slots.get_mut((load.saturating_sub(from) / width) as usize) {
                Some(bin) => *bin += 1,
                None => beyond += 1,
            }
        }
        Bins { from, width, slots, beyond }
    }

    /// Whether each bar stands for one load and there is room to write on it.
    fn few(&self) -> bool {
        self.width == 1 && self.slots.len() as u64 <= SINGLE
    }

    fn end(&self) -> u64 {
        self.from + self.width * self.slots.len() as u64
    }

    /// Slots that a perfect hash would put into bar `i`.
    fn expected(&self, i: usize, perfect: &PerfectHash) -> f64 {
        let start = (self.from + self.width * i as u64) as f64;
        (perfect.at_most(start + self.width as f64 - 1.0) - perfect.at_most(start - 1.0)) * SLOTS as f64
    }
}

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    canvas::png(SHEET.0, SHEET.1, out, |canvas| {
        let loads = Loads::of(summary);
        let (what, stats) = (loads.title(), loads.stats);
        if loads.total() == 0.0 {
            canvas.heading(&format!("{what} per slot: all slots are empty"), &source_line(summary));
            return canvas.nothing(&loads.nothing());
        }
        let [median, most, max] = [stats.p50, stats.p99, stats.max].map(|load| loads.short(load as f64));
        let title = format!("{what} per slot: median {median}, 99 % hold at most {most}, max {max}");
        canvas.heading(&title, &source_line(summary));
        let perfect = PerfectHash::of(summary, &loads);
        draw(canvas, &loads, &Bins::of(&loads, perfect.as_ref()), perfect.as_ref());
    })
}

fn draw(canvas: &Canvas<'_>, loads: &Loads<'_>, bins: &Bins, perfect: Option<&PerfectHash>) {
    let expected: Vec<f64> =
        perfect.into_iter().flat_map(|p| (0..bins.slots.len()).map(|i| bins.expected(i, p))).collect();
    let most = bins.slots.iter().map(|slots| *slots as f64).chain(expected.iter().copied()).fold(1.0, f64::max);
    let rest = if bins.beyond > 0 { 120 } else { 0 };
    let x = Axis {
        from: bins.from as f64,
        to: bins.end() as f64,
        start: 110,
        end: canvas.width - MARGIN - rest,
        step: 1.0,
        numbers: loads.numbers(),
    };
    let upright = Axis { from: 0.0, to: most * 1.08, start: canvas.height - 90, end: 190, ..x };
    let plot = Plot { x, y: Axis { numbers: Numbers::Decimal, ..upright } };
    plot.draw_y(canvas, "slots", |_, label| label);
    let base = plot.y.start;
    let edge = |i: usize| plot.x.at((bins.from + bins.width * i as u64) as f64);
    let gap = i32::from(edge(1) - edge(0) > 4);
    for (i, slots) in bins.slots.iter().enumerate().filter(|(_, slots)| **slots > 0) {
        let top = plot.y.at(*slots as f64).min(base - 1);
        canvas.fill([edge(i), top, edge(i + 1) - gap, base], LOAD);
    }
    let point = |i: usize, slots: f64| (f64::from(edge(i) + edge(i + 1)) / 2.0, plot.y.exact(slots));
    let points: Vec<_> = expected.iter().enumerate().map(|(i, slots)| point(i, *slots)).collect();
    // One load a bar: the number stands under the middle of its bar.
    let half = if bins.width == 1 { 0.5 } else { 0.0 };
    let name = match bins.width {
        1 => format!("{} per slot", loads.noun()),
        width => format!("{} per slot (a bar: {})", loads.noun(), loads.counted(width)),
    };
    let under_bars = Axis { from: x.from - half, to: x.to - half, ..x };
    Plot { x: under_bars, ..plot }.draw_x(canvas, &name, |_, label| label);
    if bins.beyond > 0 {
        beyond(canvas, loads, bins, &plot);
    }
    let mean = loads.mean();
    let at = plot.x.at(mean + half);
    canvas.dashes([at, plot.y.end - 8, at + 2, base], 6, INK);
    let words = format!("mean {}", loads.short(mean));
    let style = Style::bold(size::BODY, INK);
    let left = (at + 8).min(plot.x.end - text::width(&words, style) as i32);
    canvas.label(&words, (left, plot.y.end - 2), Anchor::Start, style);
    // Last, so that no line crosses a number.
    if bins.few() {
        counts(canvas, &points, bins, &|i, slots| point(i, slots as f64));
    } else {
        canvas.curve(&points, 2.5, EXPECTED);
    }
    legend(canvas, !expected.is_empty(), bins.few());
}

/// Few bars are loads with nothing in between: dots for the perfect hash, and each bar's count.
fn counts(canvas: &Canvas<'_>, expected: &[(f64, f64)], bins: &Bins, top: &dyn Fn(usize, u64) -> (f64, f64)) {
    // A dot on the line would say no more than the line.
    let base = top(0, 0).1;
    for dot in expected.iter().filter(|(_, y)| *y < base - 0.3) {
        canvas.curve(&[*dot], 13.0, WHITE);
        canvas.curve(&[*dot], 9.0, EXPECTED);
    }
    for (i, slots) in bins.slots.iter().enumerate().filter(|(_, slots)| **slots > 0) {
        let (x, bar) = top(i, *slots);
        let above = expected.get(i).map_or(bar, |(_, dot)| bar.min(dot - 6.0));
        let style = Style::plain(size::NOTE, INK);
        canvas.label(&short(*slots as f64), (x as i32, above as i32 - 12), Anchor::Middle, style);
    }
}

/// The bar for all that is further right; its height would be a lie on the axis of the others, so it is
/// another colour and set apart.
fn beyond(canvas: &Canvas<'_>, loads: &Loads<'_>, bins: &Bins, plot: &Plot) {
    let [left, right] = [plot.x.end + 46, plot.x.end + 90];
    let base = plot.y.start;
    let top = plot.y.at(bins.beyond as f64).min(base - 2);
    canvas.fill([left - 16, base, right + 16, base + 1], MUTED);
    canvas.fill([left, top, right, base], ALARM);
    let middle = (left + right) / 2;
    let style = Style::plain(size::NOTE, INK);
    canvas.label(&counted(bins.beyond, "slot"), (middle, top - 14), Anchor::Middle, style);
    canvas.text(&format!("≥ {}", loads.short(bins.end() as f64)), (middle, base + 19), Anchor::Middle, style);
}

fn legend(canvas: &Canvas<'_>, with_curve: bool, dots: bool) {
    let style = Style::plain(size::BODY, MUTED);
    let y = BELOW_HEADING + 12;
    canvas.fill([MARGIN, y - 8, MARGIN + 24, y + 8], LOAD);
    canvas.text("slots in this dump", (MARGIN + 34, y), Anchor::Start, style);
    if with_curve {
        let left = f64::from(MARGIN + 240);
        match dots {
            true => canvas.curve(&[(left + 14.0, f64::from(y))], 9.0, EXPECTED),
            false => canvas.curve(&[(left, f64::from(y)), (left + 28.0, f64::from(y))], 2.5, EXPECTED),
        }
        canvas.text("a perfect hash of the same keys and tags", (MARGIN + 280, y), Anchor::Start, style);
    }
}
