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
    of: &'a Distribution,
    most: String,
    marks: String,
    from: String,
    to: String,
    beyond: String,
}

/// The picture of `of` as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(of: &Distribution) -> Result<String> {
    let bins = &of.bins;
    let shown = |amount| amount_cell(of.metric, amount);
    let chance = |at: usize| match of.expected.get(at) {
        Some(expected) => format!(", by chance {expected:.1}"),
        None => String::new(),
    };
    let bars = bins
        .counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0);
    let bars = bars.map(|(at, count)| {
        let [from, to] = [bins.edge(at), bins.edge(at + 1)];
        let held = match to - from {
            1 => shown(from),
            _ => format!("{} to {}", shown(from), shown(to - 1)),
        };
        let words = format!("{held}: {} {}{}", grouped(*count), of.what, chance(at));
        Mark::Bar([from as f64, to as f64, *count as f64], LOAD, words)
    });
    let middle = |at: usize| 0.5 * (bins.edge(at) as f64 + bins.edge(at + 1) as f64);
    let line = of.expected.iter().enumerate();
    let line: Vec<(f64, f64)> = line.map(|(at, expected)| (middle(at), *expected)).collect();
    let counts = bins.counts.iter().map(|count| *count as f64);
    let most = counts
        .chain(of.expected.iter().copied())
        .fold(1.0, f64::max);
    let x = Axis::new((bins.edge(0) as f64, bins.end() as f64), ACROSS);
    let plot = Plot::new(x, Axis::new((0.0, most), UP)).with(bars);
    let plot = plot.with([Mark::Line(line, 3.0, EXPECTED)]);
    let words = format!("How many {} hold how much", of.what);
    Picture {
        of,
        most: format!("{} {}", grouped(most.ceil() as u64), of.what),
        marks: Marks::new(&plot, &words).render()?,
        from: shown(bins.edge(0)),
        to: shown(bins.end().saturating_sub(1)),
        beyond: of.beyond(),
    }
    .render()
}
