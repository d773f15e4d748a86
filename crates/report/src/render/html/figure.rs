//! A figure as SVG that fits its container. The SVGBackend of plotters supports neither the classes and variables needed
//! for a dark theme nor tooltips, and rounds coordinates to whole units.

use askama::Template;

use crate::palette::{GRID, Rgb, variable};
use crate::plot::{self, Mark, Plot, Shape};

/// Size of plots in SVG units, and minimum height of a bar.
const SIDE: i32 = 1000;
const LEAST: f64 = 10.0;
/// SVG units between two labels.
const APART: i32 = 250;
/// Width of a line and of a dot.
const LINE: f64 = 2.0;
const DOT: f64 = 7.0;

/// A figure with its labels.
#[derive(Template)]
#[template(path = "figure.html", config = "src/render/html/askama.toml")]
pub(super) struct Figure<'a> {
    title: &'a str,
    along: &'a str,
    up: &'a str,
    key: Vec<(Path, &'a str)>,
    /// Ticks of the vertical axis: positions from the top in percent, with labels.
    ticks: Vec<(f64, String)>,
    /// Back to front.
    paths: Vec<Path>,
    /// Of the horizontal axis: positions from the left in percent, with labels.
    across: Vec<(f64, String)>,
}

/// A mark: its outline, its paint attributes, and its tooltip.
struct Path {
    path: String,
    paint: String,
    title: String,
}

impl<'a> Figure<'a> {
    /// The marks of `figure` on a grid.
    pub(super) fn of(figure: &'a plot::Figure) -> Self {
        let placed = |plot: Plot| plot.placed((0, SIDE), (SIDE, 0));
        let plot = placed(figure.plot.clone());
        let (x, y) = (plot.x, plot.y);
        let ticks = y.ticks(APART);
        let grid = ticks.iter().map(|(value, _)| {
            let line = Shape::Line(vec![(x.from, *value), (x.to, *value)]);
            path(&plot, &line.of(GRID), 1.0)
        });
        let marks = plot.marks.iter().map(|mark| path(&plot, mark, LINE));
        let unit = placed(Plot::unit());
        let sample = |(mark, words): &'a (Mark, String)| (path(&unit, mark, LINE), words.as_str());
        let across = x.ticks(APART).into_iter();
        Figure {
            title: &figure.title,
            along: &figure.along,
            up: &figure.up,
            key: figure.key.iter().map(sample).collect(),
            paths: grid.chain(marks).collect(),
            ticks: ticks
                .into_iter()
                .map(|(value, label)| (y.exact(value) / 10.0, label))
                .collect(),
            across: across
                .map(|(value, label)| (x.exact(value) / 10.0, label))
                .collect(),
        }
    }
}

fn path(plot: &Plot, mark: &Mark, width: f64) -> Path {
    let colour = mark.colour;
    let (path, paint) = match &mark.shape {
        Shape::Bar([left, right, top]) => {
            let [left, right] = [left, right].map(|at| plot.x.exact(*at));
            let base = f64::from(plot.y.start);
            let top = plot.y.exact(*top).min(base - LEAST);
            let path = format!("M{left:.1} {base:.1}V{top:.1}H{right:.1}V{base:.1}Z");
            (path, fill(colour))
        }
        Shape::Line(points) => (line(plot, points), stroke(colour, width)),
        Shape::Dashes(points, length) => {
            let paint = format!("{} stroke-dasharray=\"{length}\"", stroke(colour, width));
            (line(plot, points), paint)
        }
        Shape::Dot(point) => {
            let paint = stroke(colour, DOT) + " stroke-linecap=\"round\"";
            (line(plot, &[*point]) + "h0", paint)
        }
    };
    let title = mark.words.clone();
    Path { path, paint, title }
}

fn line(plot: &Plot, points: &[(f64, f64)]) -> String {
    let placed = points.iter().map(|point| plot.place(*point));
    let places: Vec<String> = placed.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let start = if places.is_empty() { "" } else { "M" };
    format!("{start}{}", places.join("L"))
}

fn fill(colour: Rgb) -> String {
    format!("fill=\"var(--{})\"", variable(colour))
}

fn stroke(colour: Rgb, width: f64) -> String {
    let name = variable(colour);
    format!("fill=\"none\" stroke=\"var(--{name})\" stroke-width=\"{width}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{INK, LIGHT_LOAD, LOAD};
    use crate::plot::axis::Axis;

    fn svg(mark: Mark) -> String {
        let axis = Axis::new((0.0, 10.0));
        let figure = plot::Figure {
            title: String::from("words"),
            along: String::new(),
            up: String::new(),
            key: Vec::new(),
            plot: Plot::new(axis, axis).with([mark]),
        };
        Figure::of(&figure).render().unwrap()
    }

    #[test]
    fn marks_have_the_colours_of_both_themes_and_what_to_say() {
        let dot = svg(Shape::Dot((5.0, 5.0)).of(INK).saying("<3>"));
        assert!(
            dot.contains("<path d=\"M500.0 500.0h0\" fill=\"none\" stroke=\"var(--ink)\""),
            "{dot}"
        );
        assert!(dot.contains("><title>&#60;3&#62;</title></path>"), "{dot}");
        assert!(
            dot.contains("d=\"M0.0 1000.0L1000.0 1000.0\""),
            "the zero line: {dot}"
        );
        let bar = svg(Shape::Bar([0.0, 1.0, 1.0]).of(LIGHT_LOAD));
        assert!(bar.contains("fill=\"var(--light-load)\""), "{bar}");
    }

    #[test]
    fn a_bar_above_zero_is_visible_and_a_line_without_points_is_left_out() {
        let paths = |mark: Shape| svg(mark.of(LOAD)).matches("<path").count();
        let bar = svg(Shape::Bar([0.0, 1.0, 1e-9]).of(LOAD));
        assert!(bar.contains("M0.0 1000.0V990.0H100.0V1000.0Z"), "{bar}");
        assert_eq!(
            paths(Shape::Line(Vec::new())) + 1,
            paths(Shape::Bar([0.0, 1.0, 1.0]))
        );
    }
}
