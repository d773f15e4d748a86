//! Draws plots in pixels: grid, labels and marks; and a figure with its key.

use slotscope_canvas::font::{Style, width};
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::sheet::{BELOW_HEADING, MARGIN, Sheet, note, size};
use crate::palette::{FRAME, GRID, MUTED, ramp};
use crate::plot::axis::Axis;
use crate::plot::{Figure, Mark, Plot, Shape};

/// Space around a plot: for numbers on the left, for numbers and the title of the axis below.
const LEFT: i32 = 120;
const RIGHT: i32 = 50;
const BELOW: i32 = 90;
const ABOVE: i32 = BELOW_HEADING + 100;
/// Margin next to the label of the last tick.
const EDGE: i32 = 12;
/// Diameter of a dot, and thickness of a line.
const DOT: f64 = 9.0;
const LINE: f64 = 3.0;
/// Height of a row of the key, width of a mark in it, and half its height.
const ROW: i32 = 28;
const WIDTH: i32 = 24;
const HALF: i32 = 8;
/// Distance from the start of a mark in the key to its meaning, and from there to the next mark.
const WORDS: i32 = 34;
const GAP: i32 = 32;

impl Sheet<'_> {
    /// A sheet with a figure.
    pub fn figure(figure: Figure, subtitle: String) -> Self {
        Sheet::new(figure.title.clone(), subtitle, move |canvas| {
            key(canvas, &figure.key);
            let across = (LEFT, canvas.width - RIGHT);
            let plot = figure.plot.placed(across, (canvas.height - BELOW, ABOVE));
            plot.draw_y(canvas, &figure.up);
            plot.draw_x(canvas, &figure.along);
            plot.draw_marks(canvas);
        })
    }
}

/// The key below the heading: a mark and its meaning, left to right, in as many rows as it takes.
pub(super) fn key(canvas: &Canvas<'_>, entries: &[(Mark, String)]) {
    let style = Style::plain(size::BODY, MUTED);
    let (mut x, mut y) = (MARGIN, BELOW_HEADING + 12);
    for (mark, words) in entries {
        let after = WORDS + width(words, style) as i32;
        if x + after > canvas.width - MARGIN {
            (x, y) = (MARGIN, y + ROW);
        }
        let plot = Plot::unit().with([mark.clone()]);
        let plot = plot.placed((x, x + WIDTH), (y + HALF, y - HALF));
        plot.draw_marks(canvas);
        canvas.text(words, (x + WORDS, y), Anchor::Start, style);
        x += after + GAP;
    }
}

impl Plot {
    /// Horizontal grid lines with values, and the axis title above.
    fn draw_y(&self, canvas: &Canvas<'_>, name: &str) {
        for (value, label) in self.y.ticks(76) {
            let y = self.y.at(value);
            canvas.fill([self.x.start, y, self.x.end, y + 1], GRID);
            note(canvas, &label, (self.x.start - 10, y), Anchor::End);
        }
        note(canvas, name, (MARGIN, self.y.end - 28), Anchor::Start);
    }

    /// The base line with values, and the axis title below.
    fn draw_x(&self, canvas: &Canvas<'_>, name: &str) {
        let base = self.y.start;
        canvas.fill([self.x.start, base, self.x.end, base + 1], FRAME);
        for (value, label) in self.x.ticks(120) {
            let x = self.x.at(value);
            canvas.fill([x, base, x + 1, base + 6], FRAME);
            tick_label(canvas, &label, (x, base + 19));
        }
        let middle = (self.x.start + self.x.end) / 2;
        note(canvas, name, (middle, base + 46), Anchor::Middle);
    }

    /// The marks in front of the grid.
    fn draw_marks(&self, canvas: &Canvas<'_>) {
        for mark in &self.marks {
            self.draw_mark(canvas, mark);
        }
    }

    fn draw_mark(&self, canvas: &Canvas<'_>, Mark { shape, colour, .. }: &Mark) {
        let places = |points: &[(f64, f64)]| -> Vec<_> {
            points.iter().map(|point| self.place(*point)).collect()
        };
        match shape {
            Shape::Bar([left, right, top]) => {
                let ([left, right], base) = ([left, right].map(|at| self.x.at(*at)), self.y.start);
                let gap = i32::from(right - left > 4);
                // Any amount above 0 must be visible.
                let top = self.y.at(*top).min(base - 1);
                canvas.fill([left, top, (right - gap).max(left + 1), base], *colour);
            }
            Shape::Line(points) => canvas.curve(&places(points), LINE, *colour),
            Shape::Dashes(points, length) => {
                for dash in dashes(&places(points), *length) {
                    canvas.curve(&dash, LINE, *colour);
                }
            }
            Shape::Dot(point) => canvas.curve(&[self.place(*point)], DOT, *colour),
        }
    }
}

/// A label below its tick; the last one is shifted inwards at the edge.
pub(super) fn tick_label(canvas: &Canvas<'_>, text: &str, (x, y): (i32, i32)) {
    let style = Style::plain(size::NOTE, MUTED);
    let half = width(text, style).ceil() as i32 / 2;
    let x = x.min(canvas.width - half - EDGE);
    note(canvas, text, (x, y), Anchor::Middle);
}

/// Draws the colour scale between two heights, with ticks below.
pub(super) fn scale(canvas: &Canvas<'_>, x: &Axis, (top, bottom): (i32, i32)) {
    for column in x.start..x.end {
        let part = f64::from(column - x.start) / f64::from(x.end - x.start);
        canvas.fill([column, top, column + 1, bottom], ramp(part));
    }
    for (value, label) in x.ticks(90) {
        let place = x.at(value);
        canvas.fill([place, bottom, place + 1, bottom + 6], FRAME);
        note(canvas, &label, (place, bottom + 18), Anchor::Middle);
    }
}

/// The dashes of a line, as segments, with gaps of the same length.
fn dashes(points: &[(f64, f64)], long: f64) -> Vec<[(f64, f64); 2]> {
    let (mut dashes, mut along) = (Vec::new(), 0.0);
    for pair in points.windows(2) {
        let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
        let length = (bx - ax).hypot(by - ay);
        let point = |done: f64| {
            let part = done / length;
            (ax + (bx - ax) * part, ay + (by - ay) * part)
        };
        let mut done = 0.0;
        while done < length {
            let step = (long - along % long).min(length - done).max(0.01);
            if (along / long) as i64 % 2 == 0 {
                dashes.push([point(done), point(done + step)]);
            }
            done += step;
            along += step;
        }
    }
    dashes
}
