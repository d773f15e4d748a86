//! value-sizes.png: how many keys are of which size, and where the bytes are: often in a few large ones.

use std::io::{self, Write};

use super::axis::{self, Axis, Plot};
use super::canvas::{Anchor, BELOW_HEADING, Canvas, MARGIN, size};
use super::factors::Factors;
use super::number::{Numbers, counted};
use super::palette::{FRAME, LIGHT_LOAD, LOAD, MUTED};
use super::text::Style;
use super::{SHEET, canvas, histogram, short_source_line};
use crate::report::units::percent;
use crate::summary::Summary;
use crate::summary::quantiles::Quantiles;

/// The part of the keys that the title is about.
const LARGEST: f64 = 0.01;
/// Up to so many labels under the axis.
const LABELS: usize = 12;

/// Writes the chart.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    canvas::png(SHEET.0, SHEET.1, out, |canvas| match summary.sizes.as_ref().filter(|sizes| sizes.max > 0) {
        Some(sizes) => {
            canvas.heading(&title(sizes), &short_source_line(summary));
            draw(canvas, sizes);
        }
        None => {
            canvas.heading("Sizes of keys and values", &short_source_line(summary));
            canvas.nothing("no sizes in this dump");
        }
    })
}

fn bytes(size: u64) -> String {
    Numbers::Binary.short(size as f64)
}

fn title(sizes: &Quantiles) -> String {
    let mut left = (LARGEST * sizes.count as f64).ceil();
    let mut held = 0.0;
    for (size, count) in sizes.counts.iter().rev() {
        let taken = left.min(*count as f64);
        held += taken * *size as f64;
        left -= taken;
    }
    let share = percent((held / all_bytes(sizes)).min(1.0));
    format!("The largest 1 % of the keys hold {share} of the bytes; median {}", bytes(sizes.p50))
}

fn all_bytes(sizes: &Quantiles) -> f64 {
    sizes.counts.iter().map(|(size, count)| *size as f64 * *count as f64).sum::<f64>().max(f64::MIN_POSITIVE)
}

fn draw(canvas: &Canvas<'_>, sizes: &Quantiles) {
    let (top, base) = (190, canvas.height - 90);
    // The largest size is inside of the last bar, which ends before the next power of two.
    let ends = [sizes.min.max(1) as f64, sizes.max as f64 + 1.0];
    let x = Factors::around(ends.into_iter(), 2.0, 110, canvas.width - MARGIN);
    let first = x.from.log2().round() as u32;
    let bins = x.ticks(2.0).count().max(2) - 1;
    let (mut keys, mut held, mut empty) = (vec![0.0; bins], vec![0.0; bins], 0);
    for (size, count) in &sizes.counts {
        match size.checked_ilog2() {
            None => empty += count,
            Some(power) => {
                let bin = (power.saturating_sub(first) as usize).min(bins - 1);
                keys[bin] += *count as f64 / sizes.count as f64;
                held[bin] += *size as f64 * *count as f64 / all_bytes(sizes);
            }
        }
    }
    let most = keys.iter().chain(&held).copied().fold(0.0, f64::max);
    let level =
        Axis { from: 0.0, to: 1.0, start: 110, end: canvas.width - MARGIN, step: 0.0, numbers: Numbers::Decimal };
    let plot = Plot { x: level, y: Axis { to: (most * 1.08).min(1.0), start: base, end: top, step: 0.01, ..level } };
    plot.draw_y(canvas, "share", |share, _| format!("{:.0} %", share * 100.0));
    let edge = |power: f64| x.at(x.from * power.exp2()).round() as i32;
    let halves = [(0.04, 0.5, LIGHT_LOAD, &keys), (0.5, 0.96, LOAD, &held)];
    for (from, to, colour, shares) in halves {
        let filled = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let bar = |(i, share): (usize, &f64)| [edge(i as f64 + from), edge(i as f64 + to), plot.y.at(*share)];
        histogram::bars(canvas, base, filled.map(bar), colour);
    }
    size_axis(canvas, &x, (base, level.start, level.end), empty);
    legend(canvas);
    let mark = |words: &str, size: u64| (x.at(size as f64).round() as i32, format!("{words} {}", bytes(size)));
    let marks = [mark("median", sizes.p50), mark("99 % ≤", sizes.p99)];
    histogram::marks(canvas, (top - 2, base), level.end, &marks);
}

fn size_axis(canvas: &Canvas<'_>, x: &Factors, (base, start, end): (i32, i32, i32), empty: u64) {
    let style = Style::plain(size::NOTE, MUTED);
    canvas.fill([start, base, end, base + 1], FRAME);
    let step = x.ticks(2.0).count().div_ceil(LABELS);
    for power in x.ticks(2.0).step_by(step) {
        let at = x.at(power).round() as i32;
        canvas.fill([at, base, at + 1, base + 6], FRAME);
        axis::tick_label(canvas, &bytes(power as u64), (at, base + 19), style);
    }
    let none = if empty > 0 { format!("; {} of no size left out", counted(empty, "key")) } else { String::new() };
    let name = format!("size as the input tells it (a bar: up to twice the size{none})");
    canvas.text(&name, ((start + end) / 2, base + 46), Anchor::Middle, style);
}

fn legend(canvas: &Canvas<'_>) {
    let style = Style::plain(size::BODY, MUTED);
    let y = BELOW_HEADING + 12;
    for (left, colour, words) in [(MARGIN, LIGHT_LOAD, "share of the keys"), (MARGIN + 240, LOAD, "share of the bytes")]
    {
        canvas.fill([left, y - 8, left + 24, y + 8], colour);
        canvas.text(words, (left + 34, y), Anchor::Start, style);
    }
}
