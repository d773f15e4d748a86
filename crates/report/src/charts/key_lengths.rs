//! key-lengths.png: how long key names are. Each byte is paid for once a key, in memory and in every request.

use slotscope_canvas::Canvas;

use slotscope_findings::summary::Summary;
use slotscope_findings::summary::model::bins::Bins;
use slotscope_findings::summary::quantiles::Quantiles;

use crate::charts::number::counted;
use crate::charts::sheet::MARGIN;
use crate::charts::{Sheet, short_source_line};
use crate::palette::LOAD;
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// About this many bars.
const BARS: u64 = 64;
/// Names up to this multiple of p99.9 are drawn; longer ones are counted in the name of the axis.
const TAIL: f64 = 1.5;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let subtitle = short_source_line(summary);
    match summary.lengths.as_ref().filter(|lengths| lengths.count > 0) {
        Some(lengths) => Sheet::new(title(lengths), subtitle, |canvas| draw(canvas, lengths)),
        None => Sheet::empty("Lengths of key names", subtitle, "no keys in this dump"),
    }
}

fn title(lengths: &Quantiles) -> String {
    let [half, most, longest] = [lengths.p50, lengths.p99, lengths.max].map(bytes);
    format!("Key names: half have at most {half}, 99% {most}, the longest {longest}")
}

fn bytes(length: u64) -> String {
    Numbers::Binary.short(length as f64)
}

fn draw(canvas: &Canvas<'_>, lengths: &Quantiles) {
    let last = lengths.max.min((TAIL * lengths.p999 as f64) as u64 + 1);
    let bins = Bins::uniform(0, last, BARS).count(lengths.counts.iter().copied());
    let most = bins.counts.iter().max().map_or(1.0, |most| *most as f64);
    let x = Axis::new((0.0, bins.end() as f64), (110, canvas.width - MARGIN));
    let x = x.whole().in_numbers(Numbers::Binary);
    let y = Axis::new((0.0, most * 1.08), (canvas.height - 90, 190)).whole();
    let filled = bins
        .counts
        .iter()
        .enumerate()
        .filter(|(_, keys)| **keys > 0);
    let edge = |i: usize| bins.edge(i) as f64;
    let bars = filled
        .map(|(i, keys)| Mark::Bar([edge(i), edge(i + 1), *keys as f64], LOAD, String::new()));
    let beyond = match bins.beyond {
        0 => String::new(),
        longer => format!("; longer: {}", counted(longer, "key")),
    };
    let name = format!(
        "length of the key name (a bar: {}{beyond})",
        bytes(bins.width())
    );
    let plot = Plot::new(x, y).with(bars);
    plot.draw(canvas, &name, "keys");
    let mark = |words: &str, at: u64| (at as f64 + 0.5, format!("{words} {}", bytes(at)));
    plot.draw_uprights(
        canvas,
        &[mark("median", lengths.p50), mark("99% ≤", lengths.p99)],
    );
}
