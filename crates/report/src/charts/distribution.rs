//! slot-distribution.png: how many slots hold how much, compared with a perfect hash.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas};

use slotscope_findings::summary::Summary;
use slotscope_findings::summary::model::bins::Bins;
use slotscope_findings::summary::model::compound::CompoundPoisson;

use crate::charts::legend::{self, Swatch};
use crate::charts::loads::Loads;
use crate::charts::number::{counted, short};
use crate::charts::sheet::{MARGIN, size};
use crate::charts::{Sheet, source_line};
use crate::palette::{ALARM, EMPTY, EXPECTED, INK, LOAD, MUTED};
use crate::plot::axis::Axis;
use crate::plot::{Mark, Plot};

/// Approximate number of bars.
const BARS: u64 = 64;
/// Up to this many bars, each stands for a single load and is labelled with its number of slots.
const SINGLE: u64 = 16;
/// The tail is drawn up to this multiple of p99; a longer one is collected in one bar.
const TAIL: f64 = 1.5;

/// The slots by load. Bins extend to the largest load, or if that is far out, to a multiple of p99.
fn bins(loads: &Loads<'_>, perfect: Option<&CompoundPoisson>) -> Bins {
    let stats = loads.stats;
    let long = stats.max as f64 > TAIL * stats.p99 as f64 && stats.max - stats.p99 > BARS / 4;
    let last = match stats.p99 {
        _ if !long => stats.max,
        p99 if p99 < SINGLE => SINGLE - 1,
        p99 => (TAIL * p99 as f64) as u64,
    };
    // The perfect hash must be visible too.
    let (low, high) = perfect.map_or((u64::MAX, 0), |perfect| {
        let (low, high) = perfect.middle_98_percent();
        (low as u64, high.ceil() as u64)
    });
    let last = last.max(high);
    let least = stats.min.min(low);
    // If all slots are far from empty, bars start at the emptiest; otherwise at 0.
    let first = if least as f64 > last as f64 * 0.5 {
        least
    } else {
        0
    };
    Bins::uniform(first, last, BARS).count(loads.slots.iter().map(|load| (*load, 1)))
}

/// Whether each bar is a single load and there is space for labels.
fn are_single(bins: &Bins) -> bool {
    bins.width() == 1 && bins.len() as u64 <= SINGLE
}

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let (noun, stats, subtitle) = (loads.title(), loads.stats, source_line(summary));
    if loads.total() == 0.0 {
        let title = format!("{noun} per slot: all slots are empty");
        return Sheet::empty(title, subtitle, loads.nothing());
    }
    let [median, most, max] =
        [stats.p50, stats.p99, stats.max].map(|load| loads.short(load as f64));
    let title = format!("{noun} per slot: median {median}, 99% hold at most {most}, max {max}");
    Sheet::new(title, subtitle, move |canvas| {
        let perfect = loads.expected();
        draw(
            canvas,
            &loads,
            &bins(&loads, perfect.as_ref()),
            perfect.as_ref(),
        );
    })
}

fn draw(canvas: &Canvas<'_>, loads: &Loads<'_>, bins: &Bins, perfect: Option<&CompoundPoisson>) {
    let edge = |i: usize| bins.edge(i) as f64;
    let slots_in = |p: &CompoundPoisson, i| p.slots_between(bins.edge(i), bins.edge(i + 1));
    let chances = perfect.into_iter();
    let expected: Vec<f64> = chances
        .flat_map(|p| (0..bins.len()).map(move |i| slots_in(p, i)))
        .collect();
    let counts = bins.counts.iter().map(|slots| *slots as f64);
    let most = counts.chain(expected.iter().copied()).fold(1.0, f64::max);
    let rest = if bins.beyond > 0 { 120 } else { 0 };
    let across = (110, canvas.width - MARGIN - rest);
    let axis = Axis::new((edge(0), bins.end() as f64), across);
    let x = axis.whole().in_numbers(loads.numbers());
    let y = Axis::new((0.0, most * 1.08), (canvas.height - 90, 190)).whole();
    let filled = bins.counts.iter().enumerate();
    let bars = filled
        .filter(|(_, slots)| **slots > 0)
        .map(|(i, slots)| Mark::Bar([edge(i), edge(i + 1), *slots as f64], LOAD, String::new()));
    let plot = Plot::new(x, y).with(bars);
    // One load per bar: the axis label goes below its middle.
    let half = if bins.width() == 1 { 0.5 } else { 0.0 };
    let name = match bins.width() {
        1 => format!("{} per slot", loads.noun()),
        width => format!(
            "{} per slot (a bar: {})",
            loads.noun(),
            loads.counted(width)
        ),
    };
    plot.draw_y(canvas, "slots");
    plot.draw_marks(canvas);
    let under_bars = Axis {
        from: x.from - half,
        to: x.to - half,
        ..x
    };
    Plot::new(under_bars, y).draw_x(canvas, &name);
    if bins.beyond > 0 {
        beyond(canvas, loads, bins, &plot);
    }
    let mean = format!("mean {}", loads.short(loads.mean()));
    plot.draw_uprights(canvas, &[(loads.mean() + half, mean)]);
    // Drawn last, so that no line crosses a number.
    let point = |(i, slots): (usize, &f64)| (0.5 * (edge(i) + edge(i + 1)), *slots);
    let points: Vec<_> = expected.iter().enumerate().map(point).collect();
    if are_single(bins) {
        label_counts(canvas, &points, bins, &plot);
    } else {
        let line = Mark::Line(points, 2.5, EXPECTED);
        Plot::new(x, y).with([line]).draw_marks(canvas);
    }
    let mut entries = vec![(Swatch::Area(LOAD), "slots in this dump")];
    if !expected.is_empty() {
        let swatch = if are_single(bins) {
            Swatch::Dot(EXPECTED)
        } else {
            Swatch::Line(EXPECTED, 2.5)
        };
        entries.push((swatch, "a perfect hash of the same keys and tags"));
    }
    legend::draw(canvas, &entries);
}

/// With few bars, there are no loads in between: draws dots for the perfect hash, and labels each bar.
fn label_counts(canvas: &Canvas<'_>, expected: &[(f64, f64)], bins: &Bins, plot: &Plot) {
    let dots: Vec<_> = expected.iter().map(|point| plot.place(*point)).collect();
    // A dot on the base line would add nothing.
    let base = f64::from(plot.y.start);
    for dot in dots.iter().filter(|(_, y)| *y < base - 0.3) {
        canvas.curve(&[*dot], 13.0, EMPTY);
        canvas.curve(&[*dot], 9.0, EXPECTED);
    }
    let style = Style::plain(size::NOTE, INK);
    for (i, slots) in bins.counts.iter().enumerate() {
        let middle = 0.5 * (bins.edge(i) + bins.edge(i + 1)) as f64;
        let (x, bar) = plot.place((middle, *slots as f64));
        let above = dots.get(i).map_or(bar, |(_, dot)| bar.min(dot - 6.0));
        if *slots > 0 {
            let place = (x as i32, above as i32 - 12);
            canvas.label(&short(*slots as f64), place, Anchor::Middle, style);
        }
    }
}

/// The bar for everything further right. Its height would be misleading on the common axis, so it is set apart in
/// another colour.
fn beyond(canvas: &Canvas<'_>, loads: &Loads<'_>, bins: &Bins, plot: &Plot) {
    let [left, right] = [plot.x.end + 46, plot.x.end + 90];
    let base = plot.y.start;
    let top = plot.y.at(bins.beyond as f64).min(base - 2);
    canvas.fill([left - 16, base, right + 16, base + 1], MUTED);
    canvas.fill([left, top, right, base], ALARM);
    let middle = (left + right) / 2;
    let style = Style::plain(size::NOTE, INK);
    canvas.label(
        &counted(bins.beyond, "slot"),
        (middle, top - 14),
        Anchor::Middle,
        style,
    );
    canvas.text(
        &format!("≥ {}", loads.short(bins.end() as f64)),
        (middle, base + 19),
        Anchor::Middle,
        style,
    );
}
