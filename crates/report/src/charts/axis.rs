//! From values to pixels, and the lines and labels to read them by.

use slotscope_canvas::font::{Style, width};
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::number::Numbers;
use crate::charts::sheet::{MARGIN, size};
use crate::palette::{FRAME, GRID, MUTED};

/// Pixels that stay free next to the label of the last tick.
const EDGE: i32 = 12;

/// Values along one direction.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// The first value.
    pub from: f64,
    /// The last value.
    pub to: f64,
    /// The pixel of the first value.
    pub start: i32,
    /// The pixel of the last value.
    pub end: i32,
    /// The least distance of two ticks: 1 where values are counts.
    pub step: f64,
    /// How they are written.
    pub numbers: Numbers,
}

impl Axis {
    /// The pixel of `value`, as a fraction; values outside are set to the nearest end.
    pub(super) fn exact(&self, value: f64) -> f64 {
        let part = (value - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE);
        f64::from(self.start) + part.clamp(0.0, 1.0) * f64::from(self.end - self.start)
    }

    /// The pixel of `value`.
    pub(super) fn at(&self, value: f64) -> i32 {
        self.exact(value).round() as i32
    }

    /// Round values about so many pixels apart, and their labels.
    pub(super) fn ticks(&self, pixels_each: i32) -> Vec<(f64, String)> {
        let about = ((self.end - self.start).abs() / pixels_each).max(3) as usize;
        self.numbers.ticks(self.from, self.to, about, self.step)
    }
}

/// A label below its tick; the last one moves in from the edge of the sheet.
pub(super) fn tick_label(canvas: &Canvas<'_>, text: &str, (x, y): (i32, i32), style: Style) {
    let half = width(text, style).ceil() as i32 / 2;
    canvas.text(
        text,
        (x.min(canvas.width - half - EDGE), y),
        Anchor::Middle,
        style,
    );
}

/// A field with a level and an upright axis; `y.start` is its bottom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plot {
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
}

impl Plot {
    /// Level lines with their values, and the name of the axis above them.
    pub(super) fn draw_y(
        &self,
        canvas: &Canvas<'_>,
        name: &str,
        label: impl Fn(f64, String) -> String,
    ) {
        let style = Style::plain(size::NOTE, MUTED);
        for (value, text) in self.y.ticks(76) {
            let y = self.y.at(value);
            canvas.fill([self.x.start, y, self.x.end, y + 1], GRID);
            canvas.text(
                &label(value, text),
                (self.x.start - 10, y),
                Anchor::End,
                style,
            );
        }
        canvas.text(name, (MARGIN, self.y.end - 28), Anchor::Start, style);
    }

    /// The base line with `moments` on an axis of seconds since 1970, and the name of the axis below.
    pub(super) fn draw_times(&self, canvas: &Canvas<'_>, name: &str, moments: Vec<(u64, String)>) {
        let style = Style::plain(size::NOTE, MUTED);
        let base = self.y.start;
        canvas.fill([self.x.start, base, self.x.end, base + 1], FRAME);
        for (at, label) in moments {
            let x = self.x.at(at as f64);
            canvas.fill([x, base, x + 1, base + 6], FRAME);
            tick_label(canvas, &label, (x, base + 19), style);
        }
        let middle = (self.x.start + self.x.end) / 2;
        canvas.text(name, (middle, base + 46), Anchor::Middle, style);
    }

    /// The base line with values and the name of the axis below.
    pub(super) fn draw_x(
        &self,
        canvas: &Canvas<'_>,
        name: &str,
        label: impl Fn(f64, String) -> String,
    ) {
        let style = Style::plain(size::NOTE, MUTED);
        let base = self.y.start;
        canvas.fill([self.x.start, base, self.x.end, base + 1], FRAME);
        for (value, text) in self.x.ticks(120) {
            let x = self.x.at(value);
            canvas.fill([x, base, x + 1, base + 6], FRAME);
            tick_label(canvas, &label(value, text), (x, base + 19), style);
        }
        canvas.text(
            name,
            ((self.x.start + self.x.end) / 2, base + 46),
            Anchor::Middle,
            style,
        );
    }
}
