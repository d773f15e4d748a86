//! How many slots hold how much, compared with a perfect hash.

use crate::plot::perfect_slot::CompoundPoisson;
use crate::view::bins::Bins;
use slotscope_model::Summary;

use crate::palette::{ALARM, EXPECTED, LOAD};
use crate::plot::axis::Axis;
use crate::plot::loads::{Loads, counted};
use crate::plot::{Figure, Mark, Plot, Shape};
use crate::view::{Block, Scope, Section};

/// Approximate number of bars.
const BARS: u64 = 64;
/// The tail is drawn up to this multiple of the 99% quantile; slots with more share a bar at the end.
const TAIL: f64 = 1.5;

/// The picture; `None` if all slots are empty.
pub(crate) fn figure(summary: &Summary) -> Option<Figure> {
    let loads = Loads::of(summary);
    let stats = loads.stats;
    let perfect = loads.expected();
    let bins = bins(&loads, perfect.as_ref());
    let shown = |load: u64| loads.short(load as f64);
    let edge = |at: usize| bins.edge(at) as f64;
    let slots_in = |at| {
        let chance = perfect.as_ref();
        chance.map(|chance| chance.slots_between(bins.edge(at), bins.edge(at + 1)))
    };
    let filled = bins.counts.iter().enumerate();
    let bars = filled.filter(|(_, slots)| **slots > 0).map(|(at, slots)| {
        let by_chance = slots_in(at).map_or(String::new(), |slots| {
            format!(", {slots:.1} by a perfect hash")
        });
        let last = shown(bins.edge(at + 1) - 1);
        let words = format!(
            "{} to {last}: {}{by_chance}",
            shown(bins.edge(at)),
            counted(*slots, "slot")
        );
        let bar = Shape::Bar([edge(at), edge(at + 1), *slots as f64]);
        bar.of(LOAD).saying(words)
    });
    let expected = (0..bins.len()).filter_map(|at| {
        let middle = 0.5 * (edge(at) + edge(at + 1));
        Some((middle, slots_in(at)?))
    });
    let expected: Vec<(f64, f64)> = expected.collect();
    let mut key = vec![(
        Shape::unit_bar().of(LOAD),
        String::from("slots in this dump"),
    )];
    if !expected.is_empty() {
        let words = String::from("a perfect hash of the same keys and tags");
        key.push((Shape::unit_line().of(EXPECTED), words));
    }
    let counts = bins.counts.iter().map(|slots| *slots as f64);
    let highest = counts.chain(expected.iter().map(|(_, slots)| *slots));
    let y = Axis::new((0.0, highest.fold(1.0, f64::max) * 1.08)).whole();
    let (beyond, to) = beyond(&loads, &bins);
    let x = Axis::new((edge(0), to)).whole().in_numbers(loads.numbers());
    let plot = Plot::new(x, y)
        .with(bars)
        .with([Shape::Line(expected).of(EXPECTED)]);
    key.extend(
        beyond
            .iter()
            .map(|bar| (Shape::unit_bar().of(ALARM), bar.words.clone())),
    );
    let [median, most, max] = [stats.p50, stats.p99, stats.max].map(shown);
    let figure = Figure {
        title: format!(
            "{} per slot: median {median}, 99% hold at most {most}, max {max}",
            loads.title()
        ),
        along: format!(
            "{} per slot (the mean is {}; a bar: {})",
            loads.noun(),
            loads.short(loads.mean()),
            loads.counted(bins.width())
        ),
        up: String::from("slots"),
        key,
        plot: plot.with(beyond),
    };
    (stats.max > 0).then_some(figure)
}

/// A bar for all slots with more than the last bin, set apart, and the end of the axis. The height of a bar in scale would be
/// lost to the right.
fn beyond(loads: &Loads<'_>, bins: &Bins) -> (Option<Mark>, f64) {
    let end = bins.end() as f64;
    let room = (end - bins.edge(0) as f64) / 32.0;
    if bins.beyond == 0 {
        return (None, end);
    }
    let bar = Shape::Bar([end + room, end + 2.0 * room, bins.beyond as f64]);
    let words = format!(
        "{} with {} or more",
        counted(bins.beyond, "slot"),
        loads.short(end)
    );
    (Some(bar.of(ALARM).saying(words)), end + 2.0 * room)
}

/// The slots by load. Bins extend to the largest load, or if that is far out, to a multiple of the 99% quantile; the
/// perfect hash must be visible too.
fn bins(loads: &Loads<'_>, perfect: Option<&CompoundPoisson>) -> Bins {
    let stats = loads.stats;
    let (low, high) = perfect.map_or((u64::MAX, 0), |perfect| {
        let (low, high) = perfect.middle_98_percent();
        (low as u64, high.ceil() as u64)
    });
    let usual = ((TAIL * stats.p99 as f64) as u64).max(BARS / 4);
    let last = stats.max.min(usual).max(high);
    // If all slots are far from empty, bars start at the emptiest; otherwise at 0.
    let least = stats.min.min(low);
    let first = if least > last / 2 { least } else { 0 };
    Bins::uniform(first, last, BARS).count(loads.slots.iter().map(|load| (*load, 1)))
}

/// The picture on the page.
pub(crate) fn slots(summary: &Summary) -> Option<Section<'_>> {
    let figure = figure(summary)?;
    let section = Section::titled(figure.title.clone()).anchored("slot-sizes", "Slots by load");
    let scoped = section.scoped(Scope::Page).narrow();
    Some(scoped.with(Block::Figure(figure)))
}
