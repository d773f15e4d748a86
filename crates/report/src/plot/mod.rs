//! A picture as data: two axes and the marks between them, in values. `charts/field.rs` draws it on pixels and
//! `render/html/plot.rs` as SVG.

pub(crate) mod axis;
pub(crate) mod dates;
pub(crate) mod expiring;
pub(crate) mod numbers;
pub(crate) mod over_time;
pub(crate) mod schemes;

use crate::palette::Rgb;
use crate::plot::axis::Axis;

/// A field with a level and an upright axis; `y.start` is its bottom.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// The marks, from the back to the front.
    pub marks: Vec<Mark>,
}

/// Something that is drawn between the axes, at values of both.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    /// The area between two lines, beneath the grid: along, low, high.
    Band(Vec<[f64; 3]>, Rgb),
    /// A bar from the bottom up: its left end, its right end, its height; and its tooltip.
    Bar([f64; 3], Rgb, String),
    /// A line of some thickness.
    Line(Vec<(f64, f64)>, f64, Rgb),
    /// The same, dashed.
    Dashes(Vec<(f64, f64)>, f64, Rgb),
    /// A dot of some size, and its tooltip.
    Dot((f64, f64), f64, Rgb, String),
    /// A level line across the field, and its name.
    Rule(f64, Rgb, String),
}

impl Plot {
    /// Axes without marks.
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        let marks = Vec::new();
        Plot { x, y, marks }
    }

    /// The same with more marks in front of the others.
    pub(crate) fn with(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// The place of a point.
    pub(crate) fn place(&self, (along, up): (f64, f64)) -> (f64, f64) {
        (self.x.exact(along), self.y.exact(up))
    }
}
