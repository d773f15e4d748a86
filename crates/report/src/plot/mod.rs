//! Pictures as data, in values: a chart is described once. `charts/field.rs` draws it in pixels, `render/html/figure.rs` as
//! SVG.

pub(crate) mod axis;
pub(crate) mod loads;
pub(crate) mod numbers;
pub(crate) mod perfect_slot;

use crate::palette::Rgb;
use crate::plot::axis::Axis;

/// A plot with everything written around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its finding.
    pub(crate) title: String,
    /// The meaning of the horizontal axis, and of the vertical one.
    pub(crate) along: String,
    pub(crate) up: String,
    /// The meaning of its marks, each with a mark in a square of side 1.
    pub(crate) key: Vec<(Mark, String)>,
    pub(crate) plot: Plot,
}

/// A plot with a horizontal and a vertical axis; `y.start` is its bottom.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plot {
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// The marks, back to front.
    pub marks: Vec<Mark>,
}

/// Something drawn between the axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub shape: Shape,
    pub colour: Rgb,
    /// Its tooltip.
    pub words: String,
}

/// A form, in values of both axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A bar from the bottom: left end, right end, height.
    Bar([f64; 3]),
    /// A line.
    Line(Vec<(f64, f64)>),
    /// A dashed line, with dashes of this length in pixels.
    Dashes(Vec<(f64, f64)>, f64),
    /// A dot.
    Dot((f64, f64)),
}

impl Shape {
    /// The form in a colour, without words.
    pub(crate) fn of(self, colour: Rgb) -> Mark {
        Mark {
            shape: self,
            colour,
            words: String::new(),
        }
    }

    /// Forms in a square of side 1.
    pub(crate) fn unit_bar() -> Self {
        Shape::Bar([0.0, 1.0, 1.0])
    }

    /// See `unit_bar`.
    pub(crate) fn unit_line() -> Self {
        Shape::Line(vec![(0.0, 0.5), (1.0, 0.5)])
    }

    /// See `unit_bar`.
    pub(crate) fn unit_dashes(length: f64) -> Self {
        Shape::Dashes(vec![(0.0, 0.5), (1.0, 0.5)], length)
    }

    /// See `unit_bar`.
    pub(crate) fn unit_dot() -> Self {
        Shape::Dot((0.5, 0.5))
    }
}

impl Mark {
    /// Adds words.
    pub(crate) fn saying(self, words: impl Into<String>) -> Self {
        Mark {
            words: words.into(),
            ..self
        }
    }
}

impl Plot {
    /// Axes without marks.
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        let marks = Vec::new();
        Plot { x, y, marks }
    }

    /// A square of side 1.
    pub(crate) fn unit() -> Self {
        let axis = Axis::new((0.0, 1.0));
        Plot::new(axis, axis)
    }

    /// Adds marks in front of the others.
    pub(crate) fn with(mut self, marks: impl IntoIterator<Item = Mark>) -> Self {
        self.marks.extend(marks);
        self
    }

    /// Maps it to coordinates, left to right and bottom to top.
    pub(crate) fn placed(self, across: (i32, i32), up: (i32, i32)) -> Self {
        Plot {
            x: self.x.placed(across),
            y: self.y.placed(up),
            ..self
        }
    }

    /// The coordinates of a point.
    pub(crate) fn place(&self, (along, up): (f64, f64)) -> (f64, f64) {
        (self.x.exact(along), self.y.exact(up))
    }
}
