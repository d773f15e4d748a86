//! A distribution as bars on the page, with a line for what chance would give.

use askama::{Result, Template};

use slotscope_engine::text::{amount_cell, grouped};

use crate::palette::{EXPECTED, LOAD};
use crate::plot::axis::Axis;
use crate::plot::{Mark, Plot};
use crate::render::html::plot::{ACROSS, Marks, UP};
use crate::view::Distribution;

/// The picture.
#[derive(Template)]
#[template(path = "distribution.html", config = "src/render/html/askama.toml")]
struct Picture<'a> {
    distribution: &'a Distribution,
    most: String,
    marks: String,
    from: String,
    to: String,
    beyond: String,
}

/// The picture of `distribution` as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(distribution: &Distribution) -> Result<String> {
    let (bins, noun) = (&distribution.bins, distribution.what);
    let shown = |amount| amount_cell(distribution.metric, amount);
    let chance = |at: usize| match distribution.expected.get(at) {
        Some(expected) => format!(", by chance {expected:.1}"),
        None => String::new(),
    };
    let filled = bins
        .counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    let bars = filled.map(|(at, count)| {
        let [from, to] = [bins.edge(at), bins.edge(at + 1)];
        let held = match to - from {
            1 => shown(from),
            _ => format!("{} to {}", shown(from), shown(to - 1)),
        };
        let words = format!("{held}: {} {noun}{}", grouped(*count), chance(at));
        Mark::Bar([from as f64, to as f64, *count as f64], LOAD, words)
    });
    let middle = |at: usize| 0.5 * (bins.edge(at) as f64 + bins.edge(at + 1) as f64);
    let expected = distribution.expected.iter().enumerate();
    let line: Vec<(f64, f64)> = expected.map(|(at, slots)| (middle(at), *slots)).collect();
    let counts = bins.counts.iter().map(|count| *count as f64);
    let most = counts
        .chain(distribution.expected.iter().copied())
        .fold(1.0, f64::max);
    let x = Axis::new((bins.edge(0) as f64, bins.end() as f64), ACROSS);
    let histogram = Plot::new(x, Axis::new((0.0, most), UP)).with(bars);
    let plot = histogram.with([Mark::Line(line, 3.0, EXPECTED)]);
    let words = format!("How many {noun} hold how much");
    Picture {
        distribution,
        most: format!("{} {noun}", grouped(most.ceil() as u64)),
        marks: Marks::new(&plot, &words).render()?,
        from: shown(bins.edge(0)),
        to: shown(bins.end().saturating_sub(1)),
        beyond: distribution.beyond(),
    }
    .render()
}
