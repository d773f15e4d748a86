//! Schemes of hash tags as a picture for the page: a plot with labels, and a legend below.

use askama::{Result, Template};

use slotscope_engine::text::truncated;

use crate::palette::variable;
use crate::plot::schemes::{ALONG, colour, plot, up_words};
use crate::render::html::plot::{ACROSS, Marks, UP};
use crate::render::html::spell::{SHOWN, unbroken};
use crate::view::advice::schemes::SchemeChart;

/// SVG units between two labels.
const APART: i32 = 250;

/// The picture.
#[derive(Template)]
#[template(path = "schemes.html", config = "src/render/html/askama.toml")]
struct Picture {
    up: String,
    along: &'static str,
    /// Ticks of the vertical axis: positions from the top in percent, with labels.
    ticks: Vec<(f64, String)>,
    marks: String,
    ends: Vec<String>,
    names: Vec<Named>,
}

/// A scheme in the legend.
struct Named {
    colour: &'static str,
    name: String,
    figures: String,
}

/// The picture of `chart` as HTML.
///
/// # Errors
/// None: the template cannot fail.
pub(super) fn render(chart: &SchemeChart) -> Result<String> {
    let plot = plot(chart, ACROSS, UP);
    let ticks = plot.y.ticks(APART);
    let grid = ticks.iter().map(|(value, _)| *value);
    let words = "Schemes of hash tags; the numbers are in the table";
    let named = chart.points.iter().enumerate().map(|(at, point)| Named {
        colour: variable(colour(at)),
        name: unbroken(&truncated(&point.name, SHOWN)),
        figures: point.figures(),
    });
    let picture = Picture {
        up: up_words(chart),
        along: ALONG,
        marks: Marks::new(&plot, words).on_grid(&plot, grid).render()?,
        ticks: ticks
            .into_iter()
            .map(|(value, label)| (plot.y.exact(value) / 10.0, label))
            .collect(),
        ends: (0..=4).map(|part| format!("{}%", 25 * part)).collect(),
        names: named.collect(),
    };
    picture.render()
}
