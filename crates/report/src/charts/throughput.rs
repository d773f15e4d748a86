//! bench.png: keys a second by key length, one line a kernel, both axes by factors.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas, spread};

use crate::charts::Sheet;
use crate::charts::factors::Factors;
use crate::charts::number::short;
use crate::charts::sheet::{BELOW_HEADING, MARGIN, size};
use crate::palette::{ALARM, EXPECTED, FRAME, GRID, INK, LIGHT_LOAD, LOAD, MUTED, Rgb, WATCH};

/// What one kernel does.
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

/// The chart of `lines`. Lines without points, or no line at all, leave the sheet empty but for its heading.
pub fn sheet(title: String, subtitle: String, lines: Vec<Line>) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| {
        if lines.iter().any(|line| !line.points.is_empty()) {
            draw(canvas, &lines);
        }
    })
}

fn draw(canvas: &Canvas<'_>, lines: &[Line]) {
    let points = || lines.iter().flat_map(|line| line.points.iter().copied());
    let (top, bottom, right) = (
        BELOW_HEADING + 50,
        canvas.height - BELOW,
        canvas.width - RIGHT,
    );
    let x = Factors::around(points().map(|(bytes, _)| bytes), 2.0, LEFT, right);
    let y = Factors::around(points().map(|(_, rate)| rate), 10.0, bottom, top);
    let note = Style::plain(size::NOTE, MUTED);
    canvas.text("keys a second", (MARGIN, top - 26), Anchor::Start, note);
    for decade in y.ticks(10.0) {
        for line in [1.0, 2.0, 5.0]
            .map(|part| part * decade)
            .into_iter()
            .filter(|value| *value <= y.to)
        {
            let at = y.at(line).round() as i32;
            canvas.fill(
                [LEFT, at, right, at + 1],
                if line == decade { FRAME } else { GRID },
            );
            canvas.text(&short(line), (LEFT - 10, at), Anchor::End, note);
        }
    }
    for bytes in x.ticks(2.0) {
        let at = x.at(bytes).round() as i32;
        canvas.fill([at, bottom, at + 1, bottom + 6], FRAME);
        canvas.text(&short(bytes), (at, bottom + 20), Anchor::Middle, note);
    }
    canvas.text(
        "key length in bytes",
        ((LEFT + right) / 2, bottom + 50),
        Anchor::Middle,
        note,
    );

    // Names stand at the ends of their lines, from the top down.
    let end = |line: &Line| {
        line.points
            .last()
            .map_or(f64::from(bottom), |(_, rate)| y.at(*rate))
    };
    let mut order: Vec<(usize, &Line)> = lines.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| end(a).total_cmp(&end(b)));
    let ends: Vec<i32> = order.iter().map(|(_, line)| end(line) as i32).collect();
    let labels = spread(&ends, size::BODY as i32 + 5, (top, bottom));
    for ((index, line), label) in order.into_iter().zip(labels) {
        let colour = COLOURS[index % COLOURS.len()];
        let curve: Vec<_> = line
            .points
            .iter()
            .map(|(bytes, rate)| (x.at(*bytes), y.at(*rate)))
            .collect();
        canvas.curve(&curve, 3.0, colour);
        curve
            .iter()
            .for_each(|point| canvas.curve(&[*point], 8.0, colour));
        canvas.fill([right + 12, label - 2, right + 32, label + 2], colour);
        canvas.text(
            &line.name,
            (right + 40, label),
            Anchor::Start,
            Style::plain(size::BODY, INK),
        );
    }
}
