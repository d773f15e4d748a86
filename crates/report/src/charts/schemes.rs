//! schemes.png of `advise`: schemes of hash tags by what they bring and what they cost. The more multi-key commands reach
//! one slot, the further right; the fuller the fullest node, the higher.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, spread};

use crate::charts::Sheet;
use crate::charts::sheet::{BELOW_HEADING, size};
use crate::palette::{ALARM, EXPECTED, FRAME, HOT_TAG, INK, LOAD, MUTED, Rgb, WATCH};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// A scheme of hash tags.
pub struct SchemePoint {
    /// Its tags.
    pub name: String,
    /// The part of the multi-key commands that reach one slot.
    pub single_slot_share: f64,
    /// The fullest node in fair shares.
    pub max_over_mean: f64,
    /// The same on twice the nodes.
    pub max_over_mean_2n: f64,
}

/// Colours in the order of the schemes: they differ in lightness too.
const COLOURS: [Rgb; 6] = [LOAD, EXPECTED, WATCH, HOT_TAG, ALARM, FRAME];
/// Room for the numbers at the left, the names at the right and the axis below.
const LEFT: i32 = 110;
const RIGHT: i32 = 360;
const BELOW: i32 = 90;
/// Pixels of a name with its figures, and from the field to it.
const LINES: i32 = 54;
const GAP: i32 = 40;
/// The least height of the upright axis above the fair share: differences of a percent do not look large.
const LEAST: f64 = 0.2;

/// The chart of `schemes`, the recommended one first, for a cluster of this many `nodes`.
pub fn sheet(
    title: String,
    subtitle: String,
    nodes: usize,
    schemes: Vec<SchemePoint>,
) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| draw(canvas, nodes, &schemes))
}

fn draw(canvas: &Canvas<'_>, nodes: usize, schemes: &[SchemePoint]) {
    let (top, bottom) = (BELOW_HEADING + 50, canvas.height - BELOW);
    let right = canvas.width - RIGHT;
    let highest = schemes
        .iter()
        .flat_map(|scheme| [scheme.max_over_mean, scheme.max_over_mean_2n])
        .fold(1.0, f64::max);
    let x = Axis::new((0.0, 1.0), (LEFT, right)).in_numbers(Numbers::Percent);
    let y = Axis::new((1.0, highest.max(1.0 + LEAST) + LEAST / 4.0), (bottom, top));
    // The recommended scheme is in front.
    let marks = schemes.iter().enumerate().rev().flat_map(marks);
    let up = format!(
        "fullest of {nodes} nodes, in fair shares; the small dot is that of {}",
        2 * nodes
    );
    let along = "multi-key commands whose keys share a slot";
    Plot::new(x, y).with(marks).draw(canvas, along, &up);
    names(canvas, &y, schemes);
}

fn colour(index: usize) -> Rgb {
    COLOURS[index % COLOURS.len()]
}

fn marks((index, scheme): (usize, &SchemePoint)) -> [Mark; 3] {
    let at = |load: f64| (scheme.single_slot_share, load);
    let (once, twice) = (at(scheme.max_over_mean), at(scheme.max_over_mean_2n));
    let dot = |at, size| Mark::Dot(at, size, colour(index), String::new());
    [
        Mark::Line(vec![once, twice], 2.0, colour(index)),
        dot(twice, 8.0),
        dot(once, 16.0),
    ]
}

/// The names at the right with their figures, of as many schemes as fit, in the order of the dots from the top down.
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
        let figures = format!(
            "{:.0} %, {:.2} ({:.2})",
            100.0 * scheme.single_slot_share,
            scheme.max_over_mean,
            scheme.max_over_mean_2n
        );
        let style = Style::plain(size::NOTE, MUTED);
        canvas.text(&figures, (left + 16, place + 22), Anchor::Start, style);
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
        let schemes = shares.iter().map(point).collect();
        let mut png = Vec::new();
        let sheet = sheet("title".into(), "subtitle".into(), 6, schemes);
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
