//! value-sizes.png: keys by size, and where the bytes are: often in a few large ones.

use slotscope_canvas::Canvas;

use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::model::bins::Bins;
use slotscope_findings::summary::quantiles::Quantiles;

use crate::charts::legend::{self, Swatch};
use crate::charts::number::counted;
use crate::charts::sheet::MARGIN;
use crate::charts::{Sheet, short_source_line};
use crate::palette::{LIGHT_LOAD, LOAD};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// The fraction of largest keys described in the title.
const LARGEST: f64 = 0.01;

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
        "The largest 1% of the keys hold {share} of the bytes; median {}",
        bytes(sizes.p50)
    )
}

fn draw(canvas: &Canvas<'_>, sizes: &Quantiles) {
    let across = (110, canvas.width - MARGIN);
    // The largest size is inside the last bar, which ends before the next power of two.
    let ends = [sizes.min.max(1) as f64, sizes.max as f64 + 1.0];
    let x = Axis::around(ends.into_iter(), 2.0, across).in_numbers(Numbers::Binary);
    let bins = Bins::powers_of_two(sizes.min, sizes.max).count(sizes.counts.iter().copied());
    let total = bins.sums.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let keys = bins
        .counts
        .iter()
        .map(|keys| *keys as f64 / sizes.count as f64);
    let (keys, held): (Vec<_>, Vec<_>) = keys.zip(bins.sums.iter().map(|of| of / total)).unzip();
    let most = keys.iter().chain(&held).copied().fold(0.0, f64::max);
    let y = Axis::new((0.0, (most * 1.08).min(1.0)), (canvas.height - 90, 190));
    let y = Axis { step: 0.01, ..y }.in_numbers(Numbers::Percent);
    let edge = |power: f64| x.from * power.exp2();
    let halves = [(0.04, 0.5, LIGHT_LOAD, keys), (0.5, 0.96, LOAD, held)];
    let bars = halves.iter().flat_map(|(from, to, colour, shares)| {
        let filled = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        filled.map(move |(i, share)| {
            let [left, right] = [from, to].map(|part| edge(i as f64 + part));
            Mark::Bar([left, right, *share], *colour, String::new())
        })
    });
    let none = match bins.below {
        0 => String::new(),
        empty => format!("; {} of no size left out", counted(empty, "key")),
    };
    let name = format!("size as in the input (a bar: up to twice the size{none})");
    let plot = Plot::new(x, y).with(bars);
    plot.draw(canvas, &name, "share");
    let entries = [
        (Swatch::Area(LIGHT_LOAD), "share of the keys"),
        (Swatch::Area(LOAD), "share of the bytes"),
    ];
    legend::draw(canvas, &entries);
    let mark = |words: &str, size: u64| (size as f64, format!("{words} {}", bytes(size)));
    plot.draw_uprights(
        canvas,
        &[mark("median", sizes.p50), mark("99% ≤", sizes.p99)],
    );
}
