//! A plot as data: two axes and the marks between them, in values. `charts/field.rs` draws it in pixels,
//! `render/html/plot.rs` as SVG.

pub(crate) mod axis;
pub(crate) mod dates;
pub(crate) mod numbers;
pub(crate) mod over_time;

use crate::palette::Rgb;
use crate::plot::axis::Axis;

/// A plot with a horizontal and a vertical axis; `y.start` is its bottom.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// The marks, back to front.
    pub marks: Vec<Mark>,
}

/// Something drawn between the axes, in values of both.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// The area between two lines, below the grid: x, low, high.
    Band(Vec<[f64; 3]>, Rgb),
    /// A bar from the bottom: left end, right end, height; and its tooltip.
    Bar([f64; 3], Rgb, String),
    /// A line of some width.
    Line(Vec<(f64, f64)>, f64, Rgb),
    /// A dashed line of some width.
    Dashes(Vec<(f64, f64)>, f64, Rgb),
    /// A dot of some size, with its tooltip.
    Dot((f64, f64), f64, Rgb, String),
    /// A horizontal line across the plot, with its name.
    Rule(f64, Rgb, String),
}

impl Plot {
    /// Axes without marks.
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        let marks = Vec::new();
        Plot { x, y, marks }
    }

    /// Adds marks in front of the others.
    pub(crate) fn with(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// The coordinates of a point.
    pub(crate) fn place(&self, (along, up): (f64, f64)) -> (f64, f64) {
        (self.x.exact(along), self.y.exact(up))
    }
}
