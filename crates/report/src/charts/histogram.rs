//! Vertical bars over a horizontal axis, and dashed lines at the mean or the quantiles.

use slotscope_canvas::font;
use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::sheet::size;
use crate::palette::{INK, Rgb};

/// Pixels between the labels of two quantiles, one below the other.
const LINE: i32 = 24;

/// Draws bars of one colour from `base` up: left, right and top in pixels.
pub(super) fn bars(
    canvas: &Canvas<'_>,
    base: i32,
    bars: impl Iterator<Item = [i32; 3]>,
    colour: Rgb,
) {
    for [left, right, top] in bars {
        let gap = i32::from(right - left > 4);
        // What is not nothing can be seen.
        canvas.fill(
            [left, top.min(base - 1), (right - gap).max(left + 1), base],
            colour,
        );
    }
}

/// A dashed line with its label at each place, from `top` to `base`; the labels are below each other.
pub(super) fn marks(
    canvas: &Canvas<'_>,
    (top, base): (i32, i32),
    end: i32,
    marks: &[(i32, String)],
) {
    let style = Style::bold(size::BODY, INK);
    for (i, (x, _)) in marks.iter().enumerate() {
        canvas.dashes([*x, top + LINE * i as i32 - 8, x + 2, base], 6, INK);
    }
    for (i, (x, words)) in marks.iter().enumerate() {
        let left = (x + 8).min(end - font::width(words, style).ceil() as i32);
        canvas.label(words, (left, top + LINE * i as i32), Anchor::Start, style);
    }
}
