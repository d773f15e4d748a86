//! value-sizes.png: how many keys are of which size, and where the bytes are: often in a few large ones.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::model::bins::Bins;
use slotscope_findings::summary::quantiles::Quantiles;

use crate::charts::axis;
use crate::charts::axis::{Axis, Plot};
use crate::charts::factors::Factors;
use crate::charts::legend;
use crate::charts::legend::Swatch;
use crate::charts::number::{Numbers, counted};
use crate::charts::sheet::{MARGIN, size};
use crate::charts::{Sheet, histogram, short_source_line};
use crate::palette::{FRAME, LIGHT_LOAD, LOAD, MUTED};

/// The part of the keys that the title is about.
const LARGEST: f64 = 0.01;
/// Up to so many labels under the axis.
const LABELS: usize = 12;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let subtitle = short_source_line(summary);
    match summary.sizes.as_ref().filter(|sizes| sizes.max > 0) {
        Some(sizes) => Sheet::new(title(sizes), subtitle, |canvas| draw(canvas, sizes)),
        None => Sheet::empty(
            "Sizes of keys and values",
            subtitle,
            "no sizes in this dump",
        ),
    }
}

fn bytes(size: u64) -> String {
    Numbers::Binary.short(size as f64)
}

fn title(sizes: &Quantiles) -> String {
    let share = percent(sizes.share_of_largest(LARGEST));
    format!(
        "The largest 1 % of the keys hold {share} of the bytes; median {}",
        bytes(sizes.p50)
    )
}

fn draw(canvas: &Canvas<'_>, sizes: &Quantiles) {
    let (top, base) = (190, canvas.height - 90);
    // The largest size is inside of the last bar, which ends before the next power of two.
    let ends = [sizes.min.max(1) as f64, sizes.max as f64 + 1.0];
    let x = Factors::around(ends.into_iter(), 2.0, 110, canvas.width - MARGIN);
    let bins = Bins::powers_of_two(sizes.min, sizes.max).count(sizes.counts.iter().copied());
    let total = bins.sums.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let keys: Vec<_> = bins
        .counts
        .iter()
        .map(|keys| *keys as f64 / sizes.count as f64)
        .collect();
    let held: Vec<_> = bins.sums.iter().map(|bytes| bytes / total).collect();
    let most = keys.iter().chain(&held).copied().fold(0.0, f64::max);
    let level = Axis {
        from: 0.0,
        to: 1.0,
        start: 110,
        end: canvas.width - MARGIN,
        step: 0.0,
        numbers: Numbers::Decimal,
    };
    let plot = Plot {
        x: level,
        y: Axis {
            to: (most * 1.08).min(1.0),
            start: base,
            end: top,
            step: 0.01,
            ..level
        },
    };
    plot.draw_y(canvas, "share", |share, _| {
        format!("{:.0} %", share * 100.0)
    });
    let edge = |power: f64| x.at(x.from * power.exp2()).round() as i32;
    let halves = [(0.04, 0.5, LIGHT_LOAD, &keys), (0.5, 0.96, LOAD, &held)];
    for (from, to, colour, shares) in halves {
        let filled = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        let bar = |(i, share): (usize, &f64)| {
            [
                edge(i as f64 + from),
                edge(i as f64 + to),
                plot.y.at(*share),
            ]
        };
        histogram::bars(canvas, base, filled.map(bar), colour);
    }
    size_axis(canvas, &x, (base, level.start, level.end), bins.below);
    let entries = [
        (Swatch::Area(LIGHT_LOAD), "share of the keys"),
        (Swatch::Area(LOAD), "share of the bytes"),
    ];
    legend::draw(canvas, &entries);
    let mark = |words: &str, size: u64| {
        (
            x.at(size as f64).round() as i32,
            format!("{words} {}", bytes(size)),
        )
    };
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
    let none = if empty > 0 {
        format!("; {} of no size left out", counted(empty, "key"))
    } else {
        String::new()
    };
    let name = format!("size as in the input (a bar: up to twice the size{none})");
    canvas.text(&name, ((start + end) / 2, base + 46), Anchor::Middle, style);
}
