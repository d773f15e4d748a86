//! bench.png: keys a second by key length, one line a kernel, both axes by factors.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas, spread};

use crate::charts::Sheet;
use crate::charts::sheet::{BELOW_HEADING, size};
use crate::palette::{ALARM, EXPECTED, FRAME, INK, LIGHT_LOAD, LOAD, Rgb, WATCH};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// The throughput of one kernel.
pub struct Line {
    /// The kernel.
    pub name: String,
    /// Key length in bytes and keys a second, by length.
    pub points: Vec<(f64, f64)>,
}

/// Colours in the order of the lines: they differ in lightness too.
const COLOURS: [Rgb; 6] = [ALARM, LOAD, WATCH, LIGHT_LOAD, EXPECTED, FRAME];

/// Room for the names at the right and for the numbers at the left.
const LEFT: i32 = 110;
const RIGHT: i32 = 130;
const BELOW: i32 = 90;

/// The chart of `lines`. Lines without points, or no line at all, leave the sheet empty except for its heading.
pub fn sheet(title: String, subtitle: String, lines: Vec<Line>) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| {
        if lines.iter().any(|line| !line.points.is_empty()) {
            draw(canvas, &lines);
        }
    })
}

fn draw(canvas: &Canvas<'_>, lines: &[Line]) {
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (top, bottom) = (BELOW_HEADING + 50, canvas.height - BELOW);
    let right = canvas.width - RIGHT;
    let x = Axis::around(points().map(|(bytes, _)| bytes), 2.0, (LEFT, right));
    let y = Axis::around(points().map(|(_, rate)| rate), 10.0, (bottom, top));
    let plot = Plot::new(x.in_numbers(Numbers::Binary), y);
    plot.draw_y(canvas, "keys a second");
    plot.draw_x(canvas, "length of the key name");

    // Names stand at the ends of their lines, from the top down.
    let end = |line: &Line| {
        line.points
            .last()
            .map_or(bottom, |(_, rate)| y.exact(*rate) as i32)
    };
    let mut order: Vec<(usize, &Line)> = lines.iter().enumerate().collect();
    order.sort_by_key(|(_, line)| end(line));
    let ends: Vec<i32> = order.iter().map(|(_, line)| end(line)).collect();
    let labels = spread(&ends, size::BODY as i32 + 5, (top, bottom));
    for ((index, line), label) in order.into_iter().zip(labels) {
        let colour = COLOURS[index % COLOURS.len()];
        let dot = |point: &(f64, f64)| Mark::Dot(*point, 8.0, colour, String::new());
        let curve = Mark::Line(line.points.clone(), 3.0, colour);
        let marks = std::iter::once(curve).chain(line.points.iter().map(dot));
        plot.clone().with(marks).draw_marks(canvas);
        canvas.fill([right + 12, label - 2, right + 32, label + 2], colour);
        let style = Style::plain(size::BODY, INK);
        canvas.text(&line.name, (right + 40, label), Anchor::Start, style);
    }
}
