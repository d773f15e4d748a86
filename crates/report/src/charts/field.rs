//! Draws plots in pixels: grid, labels and marks.

use slotscope_canvas::font::{self, Style, width};
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::sheet::{MARGIN, note, size};
use crate::palette::{FRAME, GRID, INK, MUTED};
use crate::plot::{Mark, Plot};

/// Margin next to the label of the last tick.
const EDGE: i32 = 12;
/// Vertical distance between the labels of two quantiles.
const LINE: i32 = 24;
/// Opacity of a band.
const BAND: f64 = 0.45;
/// Length of a dash, and of the gap after it.
const DASH: f64 = 9.0;

impl Plot {
    /// Draws bands, the grid with axis titles, and all other marks.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, along: &str, up: &str) {
        self.draw_bands(canvas);
        self.draw_y(canvas, up);
        self.draw_x(canvas, along);
        self.draw_marks(canvas);
    }

    fn draw_bands(&self, canvas: &Canvas<'_>) {
        for mark in &self.marks {
            if let Mark::Band(points, colour) = mark {
                for pair in points.windows(2) {
                    let [start, end] = [0, 1].map(|at| self.x.at(pair[at][0]));
                    for column in start..end {
                        let part = f64::from(column - start) / f64::from(end - start);
                        let [top, bottom] = [2, 1].map(|end: usize| {
                            let (a, b) = (pair[0][end], pair[1][end]);
                            self.y.at(a + (b - a) * part)
                        });
                        canvas.tint([column, top, column + 1, bottom], *colour, BAND);
                    }
                }
            }
        }
    }

    /// Horizontal grid lines with values, and the axis title above.
    pub(super) fn draw_y(&self, canvas: &Canvas<'_>, name: &str) {
        for (value, label) in self.y.ticks(76) {
            let y = self.y.at(value);
            canvas.fill([self.x.start, y, self.x.end, y + 1], GRID);
            note(canvas, &label, (self.x.start - 10, y), Anchor::End);
        }
        note(canvas, name, (MARGIN, self.y.end - 28), Anchor::Start);
    }

    /// The base line with values, and the axis title below.
    pub(super) fn draw_x(&self, canvas: &Canvas<'_>, name: &str) {
        let base = self.y.start;
        self.draw_base(canvas);
        for (value, label) in self.x.ticks(120) {
            let x = self.x.at(value);
            canvas.fill([x, base, x + 1, base + 6], FRAME);
            tick_label(canvas, &label, (x, base + 19));
        }
        let middle = (self.x.start + self.x.end) / 2;
        note(canvas, name, (middle, base + 46), Anchor::Middle);
    }

    /// The base line alone.
    pub(super) fn draw_base(&self, canvas: &Canvas<'_>) {
        let base = self.y.start;
        canvas.fill([self.x.start, base, self.x.end, base + 1], FRAME);
    }

    /// The marks in front of the grid.
    pub(super) fn draw_marks(&self, canvas: &Canvas<'_>) {
        let places = |points: &[(f64, f64)]| -> Vec<_> {
            points.iter().map(|point| self.place(*point)).collect()
        };
        for mark in &self.marks {
            match mark {
                Mark::Band(..) => {}
                Mark::Bar([left, right, top], colour, _) => {
                    let ([left, right], base) =
                        ([left, right].map(|at| self.x.at(*at)), self.y.start);
                    let gap = i32::from(right - left > 4);
                    // Any amount above 0 must be visible.
                    let top = self.y.at(*top).min(base - 1);
                    canvas.fill([left, top, (right - gap).max(left + 1), base], *colour);
                }
                Mark::Line(points, thickness, colour) => {
                    canvas.curve(&places(points), *thickness, *colour);
                }
                Mark::Dashes(points, thickness, colour) => {
                    for dash in dashes(&places(points)) {
                        canvas.curve(&dash, *thickness, *colour);
                    }
                }
                Mark::Dot(point, size, colour, _) => {
                    canvas.curve(&[self.place(*point)], *size, *colour);
                }
                Mark::Rule(at, colour, name) => {
                    let y = self.y.at(*at);
                    canvas.fill([self.x.start, y - 1, self.x.end, y + 1], *colour);
                    let style = Style::plain(size::BODY, *colour);
                    canvas.text(name, (self.x.start + 8, y - 14), Anchor::Start, style);
                }
            }
        }
    }

    /// A dashed vertical line at each value, labelled at its side, with labels staggered vertically.
    pub(super) fn draw_uprights(&self, canvas: &Canvas<'_>, marks: &[(f64, String)]) {
        let style = Style::bold(size::BODY, INK);
        let (top, base, end) = (self.y.end - 2, self.y.start, self.x.end);
        let marks = || {
            marks
                .iter()
                .enumerate()
                .map(|(i, mark)| (top + LINE * i as i32, mark))
        };
        for (y, (value, _)) in marks() {
            let x = self.x.at(*value);
            canvas.dashes([x, y - 8, x + 2, base], 6, INK);
        }
        for (y, (value, words)) in marks() {
            let left = (self.x.at(*value) + 8).min(end - font::width(words, style).ceil() as i32);
            canvas.label(words, (left, y), Anchor::Start, style);
        }
    }
}

/// A label below its tick; the last one is shifted inwards at the edge.
pub(super) fn tick_label(canvas: &Canvas<'_>, text: &str, (x, y): (i32, i32)) {
    let style = Style::plain(size::NOTE, MUTED);
    let half = width(text, style).ceil() as i32 / 2;
    note(
        canvas,
        text,
        (x.min(canvas.width - half - EDGE), y),
        Anchor::Middle,
    );
}

/// The dashes of a line, as segments.
fn dashes(points: &[(f64, f64)]) -> Vec<[(f64, f64); 2]> {
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
            let step = (DASH - along % DASH).min(length - done).max(0.01);
            if (along / DASH) as i64 % 2 == 0 {
                dashes.push([point(done), point(done + step)]);
            }
            done += step;
            along += step;
        }
    }
    dashes
}
