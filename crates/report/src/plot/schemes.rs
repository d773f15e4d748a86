//! Schemes of hash tags as a plot of benefit against cost: the more multi-key commands reach a single slot, the further
//! right; the fuller the fullest node, the higher.

use crate::palette::{ALARM, EXPECTED, FRAME, LIGHT_LOAD, LOAD, Rgb, WATCH};
use crate::plot::axis::Axis;
use crate::plot::{Mark, Plot};
use crate::view::advice::schemes::{SchemeChart, SchemePoint};

/// Colours in the order of schemes; they differ in lightness as well.
const COLOURS: [Rgb; 6] = [LOAD, EXPECTED, WATCH, LIGHT_LOAD, ALARM, FRAME];
/// Minimum height of the vertical axis above the fair share, so that differences of a percent do not look large.
const LEAST: f64 = 0.2;

/// The title of the horizontal axis.
pub(crate) const ALONG: &str = "multi-key commands whose keys share a slot";

/// The title of the vertical axis.
pub(crate) fn up_words(chart: &SchemeChart) -> String {
    let nodes = chart.nodes;
    format!(
        "fullest of {nodes} nodes, in fair shares; the small dot is that of {}",
        2 * nodes
    )
}

/// The plot of `chart`, at coordinates left to right and bottom to top.
pub(crate) fn plot(chart: &SchemeChart, across: (i32, i32), up: (i32, i32)) -> Plot {
    let highest = chart
        .points
        .iter()
        .flat_map(|scheme| [scheme.max_over_mean, scheme.max_over_mean_2n])
        .fold(1.0, f64::max);
    let x = Axis::new((0.0, 1.0), across);
    let y = Axis::new((1.0, highest.max(1.0 + LEAST) + LEAST / 4.0), up);
    // The recommended scheme is in front.
    let marks = chart.points.iter().enumerate().rev().flat_map(marks);
    Plot::new(x, y).with(marks)
}

/// The colour of a scheme.
pub(crate) fn colour(index: usize) -> Rgb {
    COLOURS[index % COLOURS.len()]
}

fn marks((index, scheme): (usize, &SchemePoint)) -> [Mark; 3] {
    let at = |load: f64| (scheme.single_slot_share, load);
    let (once, twice) = (at(scheme.max_over_mean), at(scheme.max_over_mean_2n));
    let words = format!("{}: {}", scheme.name, scheme.figures());
    [
        Mark::Line(vec![once, twice], 2.0, colour(index)),
        Mark::Dot(twice, 8.0, colour(index), String::new()),
        Mark::Dot(once, 16.0, colour(index), words),
    ]
}
