//! Expiry over time as a plot: one bar per span, with storms highlighted.

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::text::{amount, percent};

use crate::palette::{ALARM, LOAD};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};
use crate::view::Expiring;
use crate::view::expiring::ENDS;

/// The expiry of a metric as a plot, at coordinates left to right and bottom to top.
pub(crate) fn plot(
    expiring: &Expiring,
    metric: Metric,
    across: (i32, i32),
    up: (i32, i32),
) -> Plot {
    let of = |load: &PerMetric<u64>| load.get(metric).copied().unwrap_or(0);
    let all: u64 = expiring.spans.iter().map(of).sum();
    let most = expiring.spans.iter().map(of).max().unwrap_or(0).max(1);
    let first = expiring.first as f64;
    let x = Axis::new((first, first + expiring.spans.len() as f64), across);
    let y = Axis::new((0.0, most as f64), up).whole();
    let spans = expiring.spans.iter().zip(&expiring.storms).enumerate();
    let bars = spans.flat_map(|(at, (span, storm))| {
        let place = expiring.first + at;
        let within = format!("{} to {}", ENDS[place].1, ENDS[place + 1].1);
        let words = |held: u64, what: &str| {
            let share = percent(held as f64 / all.max(1) as f64);
            format!(
                "{within}: {}{what} ({share} of what expires)",
                amount(metric, held)
            )
        };
        let bars = [
            (of(span), LOAD, words(of(span), "")),
            (of(storm), ALARM, words(of(storm), " in one minute")),
        ];
        let bars = bars.into_iter().filter(|(held, ..)| *held > 0);
        bars.map(move |(held, colour, words)| {
            let [left, right] = [place, place + 1].map(|edge| edge as f64);
            Mark::Bar([left, right, held as f64], colour, words)
        })
    });
    let x = x.in_numbers(Numbers::Spans);
    Plot::new(x, y.in_numbers(Numbers::of(metric))).with(bars)
}
