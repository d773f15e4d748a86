//! The legend below the heading: a swatch and a label for each kind of mark, left to right.

use slotscope_canvas::font::{Style, width};
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::sheet::{BELOW_HEADING, MARGIN, note, size};
use crate::palette::{FRAME, MUTED, Rgb, ramp};
use crate::plot::axis::Axis;

/// Vertical centre of the legend.
const MIDDLE: i32 = BELOW_HEADING + 12;
/// Width of a swatch, and half its height.
const WIDTH: i32 = 24;
const HALF: i32 = 8;
/// Distance from a swatch's start to its label, and from the label's end to the next swatch.
const WORDS: i32 = 34;
const GAP: i32 = 32;

/// How a mark looks.
pub(super) enum Swatch<'a> {
    /// A filled area.
    Area(Rgb),
    /// A line of this width in pixels.
    Line(Rgb, f64),
    /// A dot.
    Dot(Rgb),
    /// A drawing in this rectangle.
    Drawn(&'a dyn Fn([i32; 4])),
}

/// Draws the legend.
pub(super) fn draw(canvas: &Canvas<'_>, entries: &[(Swatch<'_>, &str)]) {
    let style = Style::plain(size::BODY, MUTED);
    let middle = f64::from(MIDDLE);
    let mut x = MARGIN;
    for (swatch, words) in entries {
        let left = f64::from(x);
        let place = [x, MIDDLE - HALF, x + WIDTH, MIDDLE + HALF];
        match swatch {
            Swatch::Area(colour) => canvas.fill(place, *colour),
            Swatch::Line(colour, thickness) => {
                let ends = [(left, middle), (left + f64::from(WIDTH), middle)];
                canvas.curve(&ends, *thickness, *colour);
            }
            Swatch::Dot(colour) => {
                canvas.curve(&[(left + f64::from(WIDTH) / 2.0, middle)], 9.0, *colour)
            }
            Swatch::Drawn(draw) => draw(place),
        }
        canvas.text(words, (x + WORDS, MIDDLE), Anchor::Start, style);
        x += WORDS + width(words, style) as i32 + GAP;
    }
}

/// Draws the colour scale between two heights, with ticks below.
pub(super) fn draw_ramp(
    canvas: &Canvas<'_>,
    x: &Axis,
    (top, bottom): (i32, i32),
    pixels_each: i32,
) {
    for column in x.start..x.end {
        let part = f64::from(column - x.start) / f64::from(x.end - x.start);
        canvas.fill([column, top, column + 1, bottom], ramp(part));
    }
    for (value, label) in x.ticks(pixels_each) {
        let place = x.at(value);
        canvas.fill([place, bottom, place + 1, bottom + 6], FRAME);
        note(canvas, &label, (place, bottom + 18), Anchor::Middle);
    }
}
