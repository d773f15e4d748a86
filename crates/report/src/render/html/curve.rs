//! Amounts over time as a picture for the page: a plot with labels.

use askama::{Result, Template};

use slotscope_engine::text::{amount_cell, day};

use crate::plot::over_time::plot;
use crate::render::html::plot::{ACROSS, Marks, UP};
use crate::view::Curve;

/// SVG units between two labels.
const APART: i32 = 250;

/// The picture.
#[derive(Template)]
#[template(path = "curve.html", config = "src/render/html/askama.toml")]
struct Picture {
    key: String,
    unit: &'static str,
    /// Ticks of the vertical axis: positions from the top in percent, with labels.
    ticks: Vec<(f64, String)>,
    marks: String,
    ends: Vec<String>,
}

/// The picture of `curve` as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(curve: &Curve) -> Result<String> {
    let plot = plot(curve, ACROSS, UP);
    let (from, to) = curve.times();
    let red = curve.shown_limit().map(|limit| {
        let limit = amount_cell(curve.metric, limit);
        format!("red: the limit of {limit}")
    });
    let key = curve.key().into_iter().map(String::from).chain(red);
    let ticks = plot.y.ticks(APART);
    let grid = ticks.iter().map(|(value, _)| *value);
    let ends = (0..=4).map(|quarter| day(from + (to - from) / 4 * quarter));
    let words = format!(
        "From {} to {}; the numbers are in the tables",
        day(from),
        day(to)
    );
    let picture = Picture {
        key: key.collect::<Vec<_>>().join("; "),
        unit: curve.metric.title(),
        marks: Marks::new(&plot, &words).on_grid(&plot, grid).render()?,
        ticks: ticks
            .into_iter()
            .map(|(value, label)| (plot.y.exact(value) / 10.0, label))
            .collect(),
        ends: ends.collect(),
    };
    picture.render()
}
