//! schemes.png of `advise`: schemes of hash tags by benefit and cost.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, spread};

use crate::charts::Sheet;
use crate::charts::sheet::{BELOW_HEADING, size};
use crate::palette::{INK, MUTED};
use crate::plot::Plot;
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::schemes::{ALONG, colour, plot, up_words};
use crate::view::advice::schemes::{SchemeChart, SchemePoint};

/// Space for numbers on the left, names on the right and the axis below.
const LEFT: i32 = 110;
const RIGHT: i32 = 360;
const BELOW: i32 = 90;
/// Height of a name with its figures, and the distance to the plot.
const LINES: i32 = 54;
const GAP: i32 = 40;

/// The sheet of `chart`.
pub fn sheet(title: String, subtitle: String, chart: SchemeChart) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| draw(canvas, &chart))
}

fn draw(canvas: &Canvas<'_>, chart: &SchemeChart) {
    let up = (canvas.height - BELOW, BELOW_HEADING + 50);
    let across = (LEFT, canvas.width - RIGHT);
    let plot = plot(chart, across, up);
    let x = plot.x.in_numbers(Numbers::Percent);
    let (y, plot) = (plot.y, Plot { x, ..plot });
    plot.draw(canvas, ALONG, &up_words(chart));
    names(canvas, &y, &chart.points);
}

/// Names with figures on the right, as many as fit, in vertical order of the dots.
fn names(canvas: &Canvas<'_>, y: &Axis, schemes: &[SchemePoint]) {
    let between = (y.end, y.start - LINES / 2);
    let room = ((between.1 - between.0) / LINES).max(1) as usize;
    let mut order: Vec<(usize, &SchemePoint)> = schemes.iter().enumerate().take(room).collect();
    order.sort_by(|a, b| b.1.max_over_mean.total_cmp(&a.1.max_over_mean));
    let wanted: Vec<i32> = order
        .iter()
        .map(|(_, scheme)| y.at(scheme.max_over_mean))
        .collect();
    let places = spread(&wanted, LINES, between);
    let left = canvas.width - RIGHT + GAP;
    for ((index, scheme), place) in order.into_iter().zip(places) {
        let dot = (f64::from(left), f64::from(place));
        canvas.curve(&[dot], 12.0, colour(index));
        let style = if index == 0 {
            Style::bold(size::BODY, INK)
        } else {
            Style::plain(size::BODY, INK)
        };
        let room = (RIGHT - GAP - 30) as f32;
        let name = fit(&scheme.name, room, style);
        canvas.text(&name, (left + 16, place), Anchor::Start, style);
        let style = Style::plain(size::NOTE, MUTED);
        canvas.text(
            &scheme.figures(),
            (left + 16, place + 22),
            Anchor::Start,
            style,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shares: &[(f64, f64)]) -> Vec<u8> {
        let point = |(single_slot_share, max_over_mean): &(f64, f64)| SchemePoint {
            name: "{user:<n>}".repeat(9),
            single_slot_share: *single_slot_share,
            max_over_mean: *max_over_mean,
            max_over_mean_2n: 1.1 * max_over_mean,
        };
        let points = shares.iter().map(point).collect();
        let mut png = Vec::new();
        let chart = SchemeChart { nodes: 6, points };
        let sheet = sheet("title".into(), "subtitle".into(), chart);
        sheet.write(&mut png).unwrap();
        png
    }

    #[test]
    fn any_figures_are_drawn_and_each_shows() {
        assert_ne!(drawn(&[(0.0, 1.0)]), drawn(&[(1.0, 1.0)]));
        assert_ne!(drawn(&[(0.5, 1.0)]), drawn(&[(0.5, 1.5)]));
        for few in [&[][..], &[(0.3, 16384.0); 20], &[(f64::NAN, f64::NAN)]] {
            assert!(!drawn(few).is_empty());
        }
    }
}
