//! Level bars, one a row, with names on the left and values behind: nodes and tags.

use plotters::style::RGBColor;

use super::axis::{Axis, Plot};
use super::canvas::{Anchor, BELOW_HEADING, Canvas, MARGIN, overlap, size, text_box};
use super::palette::{FRAME, INK, LIGHT_LOAD, MUTED};
use super::text::{Style, fit, width};

/// The widest that names may be.
const NAMES: f32 = 360.0;
/// The thickest that a row may be, so that two bars do not fill the sheet.
const ROW: i32 = 58;

/// A row.
pub enum Row {
    /// A bar.
    Bar {
        /// Its name, of any length.
        name: String,
        /// Its length.
        value: f64,
        /// It may be longer by this, which is not known.
        unsure: f64,
        /// What stands behind it.
        words: String,
        /// Its colour.
        colour: RGBColor,
    },
    /// A sentence about rows that are left out.
    Gap(String),
}

/// An upright line through all bars.
pub struct Mark {
    /// Where.
    pub value: f64,
    /// What stands above it, where there is room: the first marks first.
    pub label: String,
    /// Its colour.
    pub colour: RGBColor,
}

/// Draws `rows` from top to bottom.
pub fn draw(canvas: &Canvas<'_>, rows: &[Row], marks: &[Mark], axis: &str) {
    let (top, bottom) = (BELOW_HEADING + 36, canvas.height - 80);
    let height = ((bottom - top) / rows.len().max(1) as i32).min(ROW);
    let style = Style::plain(size::BODY.min(height as f32 * 0.7), INK);

    let (mut names, mut words, mut most) = (0f32, 0f32, f64::MIN_POSITIVE);
    for row in rows {
        if let Row::Bar { name, value, unsure, words: said, .. } = row {
            names = names.max(width(&fit(name, NAMES, style), style));
            words = words.max(width(said, style));
            most = most.max(value + unsure);
        }
    }
    let most = marks.iter().map(|mark| mark.value * 1.04).fold(most, f64::max);
    let left = MARGIN + names.ceil() as i32 + 14;
    let x = Axis { from: 0.0, to: most, start: left, end: canvas.width - MARGIN - words.ceil() as i32 - 14 };
    let bottom = top + height * rows.len() as i32 + 8;
    let plot = Plot { x, y: Axis { from: 0.0, to: 1.0, start: bottom, end: top } };
    plot.draw_x(canvas, axis, |_, label| label);
    canvas.fill([left - 1, top - 4, left, bottom], FRAME);

    for (i, row) in rows.iter().enumerate() {
        let y = top + height * i as i32 + height / 2;
        let half = ((height as f32 * 0.36) as i32).max(2);
        match row {
            Row::Bar { name, value, unsure, words, colour } => {
                let end = x.at(*value).max(left + i32::from(*value > 0.0));
                let far = x.at(value + unsure);
                canvas.fill([left, y - half, end, y + half], *colour);
                canvas.fill([end, y - half, far, y + half], LIGHT_LOAD);
                canvas.text(&fit(name, NAMES, style), (left - 12, y), Anchor::End, style);
                canvas.text(words, (far.max(end) + 10, y), Anchor::Start, style);
            }
            Row::Gap(sentence) => {
                canvas.text(sentence, (left + 10, y), Anchor::Start, Style { colour: MUTED, ..style })
            }
        }
    }
    draw_marks(canvas, &plot, marks);
}

/// Lines over the bars; behind them the longest bar would hide what it has passed.
fn draw_marks(canvas: &Canvas<'_>, plot: &Plot, marks: &[Mark]) {
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for mark in marks {
        let x = plot.x.at(mark.value);
        canvas.dashes([x, plot.y.end - 4, x + 1, plot.y.start], 5, mark.colour);
        let style = Style::plain(size::NOTE, mark.colour);
        let at = (x, plot.y.end - 16);
        let place = text_box(&mark.label, at, Anchor::Middle, style);
        let grown = [place[0] - 8, place[1], place[2] + 8, place[3]];
        if !taken.iter().any(|other| overlap(*other, grown)) {
            canvas.text(&mark.label, at, Anchor::Middle, style);
            taken.push(grown);
        }
    }
}
