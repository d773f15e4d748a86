//! Horizontal bars, one per row, with names on the left and values on the right: nodes and tags.

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::name::Name;

use crate::charts::Sheet;
use crate::charts::legend::{self, Swatch};
use crate::charts::loads::Loads;
use crate::charts::sheet::{BELOW_HEADING, MARGIN, size};
use crate::palette::{FRAME, INK, LIGHT_LOAD, MUTED, Rgb};
use crate::plot::Plot;
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;

/// Maximum width of names.
const NAMES: f32 = 360.0;
/// Maximum width of a name in a title.
const TITLE_NAME: f32 = 480.0;
/// Width of a title, and of the subtitle.
pub(super) const ROOM: f32 = 1120.0;
/// Top of the first row, and the space below the last one: axis, axis title, margin.
const TOP: i32 = BELOW_HEADING + 36;
const BELOW: i32 = 84;
/// Extra offset of the first row below a legend.
const LEGEND: i32 = 34;
/// Pixels shared by all rows, and the limits for one row.
const ROWS: i32 = 568;
const LEAST: i32 = 25;
const MOST: i32 = 76;

/// Minimum rows a sheet without bars has space for.
const EMPTY_ROWS: usize = 3;

/// A row.
pub(super) enum Row {
    /// A bar.
    Bar {
        /// Its name, of any length.
        name: String,
        /// Its length.
        value: f64,
        /// A lighter extension: an uncertain load, or one of another kind.
        light: f64,
        /// The text after the bar.
        words: String,
        /// Its colour.
        colour: Rgb,
    },
    /// A sentence about omitted rows.
    Gap(String),
}

/// `name` for a title, shortened to leave space for the rest.
pub(super) fn in_title(name: &Name) -> String {
    fit(&spelled(name), TITLE_NAME, Style::bold(size::TITLE, INK))
}

/// A title from `parts`; those at indices `names` share the space left by the others at the smallest title size.
pub(super) fn title(parts: &[&str], names: &[usize]) -> String {
    let style = Style::bold(size::SMALL_TITLE, INK);
    let is_name = |at: &usize| names.contains(at);
    let others = (0..parts.len()).filter(|at| !is_name(at));
    let taken: f32 = others.map(|at| width(parts[at], style)).sum();
    let mut room = ROOM - taken;
    let mut shown: Vec<String> = parts.iter().map(|part| String::from(*part)).collect();
    // Shortest first: they leave more for the others.
    let mut order: Vec<(f32, usize)> = names
        .iter()
        .map(|at| (width(parts[*at], style), *at))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (number, (_, at)) in order.iter().enumerate() {
        shown[*at] = fit(parts[*at], room / (order.len() - number) as f32, style);
        room -= width(&shown[*at], style);
    }
    shown.concat()
}

/// `name` made visible if it is empty or has spaces at its ends.
pub(super) fn spelled(name: &Name) -> String {
    let text = name.to_string();
    let inner = text.trim_matches(' ');
    if text.is_empty() {
        return String::from("\"\"");
    }
    let before = text.len() - text.trim_start_matches(' ').len();
    let after = text.len() - before - inner.len();
    format!("{}{inner}{}", "\\x20".repeat(before), "\\x20".repeat(after))
}

/// The height of each of `rows` rows.
pub(super) fn row_height(rows: usize) -> i32 {
    (ROWS / rows.max(1) as i32).clamp(LEAST, MOST)
}

/// A chart of bars.
pub(super) struct Bars {
    pub title: String,
    /// The input.
    pub subtitle: String,
    /// The rows, top to bottom.
    pub rows: Vec<Row>,
    /// The meaning of colours, if there are several.
    pub legend: Vec<(Rgb, &'static str)>,
    /// The noun of the axis, and its number format.
    pub axis: (&'static str, Numbers),
}

impl Bars {
    /// Bars of loads, without marks and legend.
    pub(super) fn new(title: String, subtitle: String, rows: Vec<Row>, loads: &Loads<'_>) -> Self {
        Bars {
            title,
            subtitle,
            rows,
            legend: Vec::new(),
            axis: (loads.noun(), loads.numbers()),
        }
    }

    /// A sheet of the height the rows need.
    pub(super) fn sheet<'s>(mut self) -> Sheet<'s> {
        let legend = if self.legend.is_empty() { 0 } else { LEGEND };
        let height = sheet_height(self.rows.len()) + legend as u32;
        let heading = [&mut self.title, &mut self.subtitle].map(std::mem::take);
        let [title, subtitle] = heading;
        Sheet::new(title, subtitle, move |canvas| {
            draw(canvas, &self, TOP + legend)
        })
        .with_height(height)
    }
}

/// A sheet with a sentence instead of bars.
pub(super) fn empty_sheet<'s>(
    title: impl Into<String>,
    subtitle: String,
    sentence: impl Into<String>,
) -> Sheet<'s> {
    Sheet::empty(title, subtitle, sentence).with_height(sheet_height(EMPTY_ROWS))
}

fn sheet_height(rows: usize) -> u32 {
    (TOP + row_height(rows) * rows as i32 + BELOW) as u32
}

/// Draws the rows, starting at `top`.
fn draw(canvas: &Canvas<'_>, chart: &Bars, top: i32) {
    let (rows, (noun, numbers)) = (&chart.rows, chart.axis);
    let swatches = chart
        .legend
        .iter()
        .map(|(colour, words)| (Swatch::Area(*colour), *words));
    legend::draw(canvas, &swatches.collect::<Vec<_>>());
    let height = row_height(rows.len());
    let style = Style::plain(size::BODY.min(height as f32 * 0.7), INK);

    let (mut names, mut words, mut most) = (0f32, 0f32, f64::MIN_POSITIVE);
    for row in rows {
        if let Row::Bar {
            name,
            value,
            light,
            words: said,
            ..
        } = row
        {
            names = names.max(width(&fit(name, NAMES, style), style));
            words = words.max(width(said, style));
            most = most.max(value + light);
        }
    }
    let left = MARGIN + names.ceil() as i32 + 14;
    let end = canvas.width - MARGIN - words.ceil() as i32 - 14;
    let x = Axis::new((0.0, most), (left, end)).in_numbers(numbers);
    let x = Axis { step: 1.0, ..x };
    let bottom = top + height * rows.len() as i32 + 8;
    let plot = Plot::new(x, Axis::new((0.0, 1.0), (bottom, top)));
    plot.draw_x(canvas, noun);

    let middle = |i: usize| top + height * i as i32 + height / 2;
    let ends: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(i, row)| bar(canvas, &plot, row, middle(i), height))
        .collect();
    canvas.fill([left - 1, top - 4, left, bottom], FRAME);
    for (i, (row, end)) in rows.iter().zip(ends).enumerate() {
        match row {
            Row::Bar { name, words, .. } => {
                canvas.text(
                    &fit(name, NAMES, style),
                    (left - 12, middle(i)),
                    Anchor::End,
                    style,
                );
                canvas.text(words, (end + 10, middle(i)), Anchor::Start, style);
            }
            Row::Gap(sentence) => {
                let style = Style {
                    colour: MUTED,
                    ..style
                };
                canvas.text(sentence, (end + 10, middle(i)), Anchor::Start, style);
            }
        }
    }
}

/// Draws the bar of a row; returns its end.
fn bar(canvas: &Canvas<'_>, plot: &Plot, row: &Row, y: i32, height: i32) -> i32 {
    let left = plot.x.start;
    let Row::Bar {
        value,
        light,
        colour,
        ..
    } = row
    else {
        return left;
    };
    let half = ((height as f32 * 0.36) as i32).max(2);
    let end = plot.x.at(*value).max(left + i32::from(*value > 0.0));
    let far = plot.x.at(value + light).max(end);
    canvas.fill([left, y - half, end, y + half], *colour);
    canvas.fill([end, y - half, far, y + half], LIGHT_LOAD);
    far
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_title_share_its_room() {
        let long = "x".repeat(500);
        let titled = title(&["node-1", " is full of ", &long], &[0, 2]);
        assert!(
            titled.starts_with("node-1 is full of xxx") && titled.contains('…'),
            "{titled}"
        );
        let style = Style::bold(size::SMALL_TITLE, INK);
        assert!(
            (ROOM - 40.0..=ROOM).contains(&width(&titled, style)),
            "{titled}"
        );
    }

    #[test]
    fn names_of_spaces_and_of_nothing_can_be_seen() {
        let shown =
            ["", "   ", " a b", "a ", "a b", "\\x20"].map(|name| spelled(&Name::from(name)));
        assert_eq!(
            shown,
            [
                "\"\"",
                "\\x20\\x20\\x20",
                "\\x20a b",
                "a\\x20",
                "a b",
                "\\\\x20"
            ]
        );
    }
}
