//! Amounts over time as a plot: dots, the trend line extended into the future with its band, and the limit.

use slotscope_engine::text::{amount, amount_cell, day};

use crate::palette::{ALARM, FRAME, INK, LIGHT_LOAD, LOAD};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};
use crate::view::Curve;
use crate::view::curve::Expected;

/// The plot of `curve`, at coordinates left to right and bottom to top.
pub(crate) fn plot(curve: &Curve, across: (i32, i32), up: (i32, i32)) -> Plot {
    let (from, to) = curve.times();
    let numbers = Numbers::of(curve.metric);
    let x = Axis::new((from as f64, to as f64), across).in_numbers(Numbers::Moments);
    let y = Axis::new((curve.bottom(), curve.top()), up)
        .whole()
        .in_numbers(numbers);
    let (fitted, ahead) = curve.fitted_and_ahead();
    let shown = |line: Vec<Expected>| -> Vec<(f64, f64)> {
        let kept = line.into_iter().filter(|point| point.amount <= y.to);
        kept.map(|point| (point.at as f64, point.amount)).collect()
    };
    let band = |point: &Expected| point.band.map(|(low, high)| [point.at as f64, low, high]);
    let limit = curve.shown_limit().map(|limit| {
        let name = format!("limit {}", amount_cell(curve.metric, limit));
        Mark::Rule(limit as f64, ALARM, name)
    });
    let dots = curve.points.iter().map(|point| {
        let colour = if point.is_left_out { FRAME } else { INK };
        let held = amount(curve.metric, point.amount as u64);
        let words = format!("{}: {held}", day(point.at));
        Mark::Dot((point.at as f64, point.amount), 9.0, colour, words)
    });
    let lines = [
        Mark::Band(curve.line.iter().filter_map(band).collect(), LIGHT_LOAD),
        Mark::Line(shown(fitted), 3.0, LOAD),
        Mark::Dashes(shown(ahead), 3.0, LOAD),
    ];
    Plot::new(x, y).with(lines).with(limit).with(dots)
}
