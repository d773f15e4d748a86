//! The marks of a plot as SVG that fits its container. The SVGBackend of plotters supports neither the classes and
//! variables needed for a dark theme nor tooltips, and rounds coordinates to whole units.

use askama::Template;

use crate::palette::{GRID, Rgb, variable};
use crate::plot::{Mark, Plot};

/// Size of plots in SVG units, and minimum height of a bar.
const SIDE: i32 = 1000;
const LEAST: f64 = 10.0;

/// Left to right, and bottom to top.
pub(super) const ACROSS: (i32, i32) = (0, SIDE);
pub(super) const UP: (i32, i32) = (SIDE, 0);

/// All marks, back to front.
#[derive(Template)]
#[template(path = "plot.html", config = "src/render/html/askama.toml")]
pub(super) struct Marks<'a> {
    words: &'a str,
    shapes: Vec<Shape>,
}

/// A mark as a path: its outline, its paint attributes, and its tooltip.
struct Shape {
    path: String,
    paint: String,
    title: String,
}

impl<'a> Marks<'a> {
    /// The marks of `plot`, with `words` as description.
    pub(super) fn new(plot: &Plot, words: &'a str) -> Self {
        let shapes = plot.marks.iter().map(|mark| shape(plot, mark)).collect();
        Marks { words, shapes }
    }

    /// Adds a horizontal grid line below them at each of `values`.
    pub(super) fn on_grid(self, plot: &Plot, values: impl Iterator<Item = f64>) -> Self {
        let lines = values.map(|value| stroke(plot, &across(plot, value), GRID, 1.0));
        let shapes = lines.chain(self.shapes).collect();
        Marks { shapes, ..self }
    }
}

fn shape(plot: &Plot, mark: &Mark) -> Shape {
    match mark {
        Mark::Band(points, colour) => {
            let high = points.iter().map(|[at, _, high]| (*at, *high));
            let low = points.iter().rev().map(|[at, low, _]| (*at, *low));
            let path = path(plot, &high.chain(low).collect::<Vec<_>>()) + "Z";
            fill(path, *colour, " opacity=\".45\"", "")
        }
        Mark::Bar([left, right, top], colour, title) => {
            let [left, right] = [left, right].map(|at| plot.x.exact(*at));
            let base = f64::from(plot.y.start);
            let top = plot.y.exact(*top).min(base - LEAST);
            let path = format!("M{left:.1} {base:.1}V{top:.1}H{right:.1}V{base:.1}Z");
            fill(path, *colour, "", title)
        }
        Mark::Line(points, width, colour) => stroke(plot, points, *colour, width - 1.0),
        Mark::Dashes(points, width, colour) => {
            let line = stroke(plot, points, *colour, width - 1.0);
            let paint = line.paint + " stroke-dasharray=\"8 6\"";
            Shape { paint, ..line }
        }
        Mark::Dot(point, size, colour, title) => {
            let dot = stroke(plot, &[*point], *colour, size - 2.0);
            let path = dot.path + "h0";
            let paint = dot.paint + " stroke-linecap=\"round\"";
            let title = title.clone();
            Shape { path, paint, title }
        }
        Mark::Rule(at, colour, name) => {
            let rule = stroke(plot, &across(plot, *at), *colour, 2.0);
            let title = name.clone();
            Shape { title, ..rule }
        }
    }
}

/// The ends of a horizontal line.
fn across(plot: &Plot, at: f64) -> [(f64, f64); 2] {
    [(plot.x.from, at), (plot.x.to, at)]
}

fn path(plot: &Plot, points: &[(f64, f64)]) -> String {
    let placed = points.iter().map(|point| plot.place(*point));
    let places: Vec<String> = placed.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let start = if places.is_empty() { "" } else { "M" };
    format!("{start}{}", places.join("L"))
}

fn fill(path: String, colour: Rgb, attributes: &str, title: &str) -> Shape {
    let paint = format!("fill=\"var(--{})\"{attributes}", variable(colour));
    let title = String::from(title);
    Shape { path, paint, title }
}

fn stroke(plot: &Plot, points: &[(f64, f64)], colour: Rgb, width: f64) -> Shape {
    let name = variable(colour);
    Shape {
        path: path(plot, points),
        paint: format!("fill=\"none\" stroke=\"var(--{name})\" stroke-width=\"{width}\""),
        title: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::{INK, LIGHT_LOAD, LOAD};
    use crate::plot::axis::Axis;

    fn svg(mark: Mark) -> String {
        let axis = |places| Axis::new((0.0, 10.0), places);
        let plot = Plot::new(axis(ACROSS), axis(UP)).with([mark]);
        let marks = Marks::new(&plot, "words").on_grid(&plot, [0.0].into_iter());
        marks.render().unwrap()
    }

    #[test]
    fn marks_have_the_colours_of_both_themes_and_what_to_say() {
        let dot = svg(Mark::Dot((5.0, 5.0), 9.0, INK, String::from("<3>")));
        assert!(
            dot.contains("<path d=\"M500.0 500.0h0\" fill=\"none\" stroke=\"var(--ink)\""),
            "{dot}"
        );
        assert!(dot.contains("><title>&#60;3&#62;</title></path>"), "{dot}");
        assert!(
            dot.contains("d=\"M0.0 1000.0L1000.0 1000.0\""),
            "the zero line: {dot}"
        );
        let band = svg(Mark::Band(
            vec![[0.0, 1.0, 2.0], [10.0, 3.0, 4.0]],
            LIGHT_LOAD,
        ));
        assert!(
            band.contains("M0.0 800.0L1000.0 600.0L1000.0 700.0L0.0 900.0Z"),
            "{band}"
        );
        assert!(band.contains("fill=\"var(--light-load)\""), "{band}");
    }

    #[test]
    fn a_bar_above_zero_is_visible_and_a_line_without_points_is_left_out() {
        let bar = svg(Mark::Bar([0.0, 1.0, 1e-9], LOAD, String::new()));
        assert!(bar.contains("M0.0 1000.0V990.0H100.0V1000.0Z"), "{bar}");
        let line = svg(Mark::Line(Vec::new(), 3.0, LOAD));
        assert_eq!(line.matches("<path").count(), 1);
    }
}
