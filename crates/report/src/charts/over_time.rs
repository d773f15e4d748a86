//! Amounts over time: dots, the line through them into the future, the band around it, and the limit.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas};

use crate::charts::Sheet;
use crate::charts::axis::{Axis, Plot, tick_label};
use crate::charts::dates::dates;
use crate::charts::number::Numbers;
use crate::charts::sheet::{BELOW_HEADING, size};
use crate::palette::{ALARM, FRAME, GRID, INK, LIGHT_LOAD, LOAD, MUTED};
use crate::view::Curve;
use crate::view::curve::Expected;

/// Room for the numbers at the left, at the right, for the dates and the key below.
const LEFT: i32 = 120;
const RIGHT: i32 = 60;
const BELOW: i32 = 110;
/// Dates that are named.
const DATES: usize = 9;
/// How much of the band's colour covers the sheet.
const BAND: f64 = 0.45;
/// The width of a dash of the forecast, and of the gap after it.
const DASH: f64 = 8.0;

/// The chart of `curve`.
pub fn sheet(title: String, subtitle: String, curve: Curve) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| draw(canvas, &curve))
}

fn draw(canvas: &Canvas<'_>, curve: &Curve) {
    let (from, to) = curve.times();
    let numbers = Numbers::of(curve.metric);
    let x = Axis {
        from: from as f64,
        to: to as f64,
        start: LEFT,
        end: canvas.width - RIGHT,
        step: 0.0,
        numbers,
    };
    let y = Axis {
        from: 0.0,
        to: curve.top(),
        start: canvas.height - BELOW,
        end: BELOW_HEADING + 50,
        step: 1.0,
        numbers,
    };
    let plot = Plot { x, y };
    band(canvas, plot, curve);
    plot.draw_y(canvas, curve.metric.title(), |_, label| label);
    let note = Style::plain(size::NOTE, MUTED);
    canvas.fill([x.start, y.start, x.end, y.start + 1], FRAME);
    for (at, name) in dates(from, to, DATES) {
        let place = x.at(at as f64);
        canvas.fill([place, y.end, place + 1, y.start], GRID);
        canvas.fill([place, y.start, place + 1, y.start + 6], FRAME);
        tick_label(canvas, &name, (place, y.start + 19), note);
    }
    let (fitted, ahead) = curve.fitted_and_ahead();
    let visible = |line: Vec<Expected>| {
        let line = line.into_iter().filter(|point| point.amount <= y.to);
        line.map(|point| (x.exact(point.at as f64), y.exact(point.amount)))
            .collect::<Vec<_>>()
    };
    canvas.curve(&visible(fitted), 3.0, LOAD);
    for dash in dashes(&visible(ahead)) {
        canvas.curve(&dash, 3.0, LOAD);
    }
    if let Some(limit) = curve.shown_limit().map(|limit| limit as f64) {
        let place = y.at(limit);
        canvas.fill([x.start, place - 1, x.end, place + 1], ALARM);
        let label = format!("limit {}", numbers.short(limit));
        canvas.text(
            &label,
            (x.start + 8, place - 14),
            Anchor::Start,
            Style::plain(size::BODY, ALARM),
        );
    }
    for point in &curve.points {
        let place = (x.exact(point.at as f64), y.exact(point.amount));
        let colour = if point.is_left_out { FRAME } else { INK };
        canvas.curve(&[place], 9.0, colour);
    }
    let place = ((x.start + x.end) / 2, y.start + 60);
    canvas.text(&curve.key().join("  ·  "), place, Anchor::Middle, note);
}

/// The band, a column of pixels at a time.
fn band(canvas: &Canvas<'_>, Plot { x, y }: Plot, curve: &Curve) {
    for pair in curve.line.windows(2) {
        let (Some((low, high)), Some((next_low, next_high))) = (pair[0].band, pair[1].band) else {
            continue;
        };
        let (start, end) = (x.at(pair[0].at as f64), x.at(pair[1].at as f64));
        for column in start..end {
            let part = f64::from(column - start) / f64::from(end - start);
            let between = |a: f64, b: f64| y.at(a + (b - a) * part);
            let (top, bottom) = (between(high, next_high), between(low, next_low));
            canvas.tint([column, top, column + 1, bottom], LIGHT_LOAD, BAND);
        }
    }
}

/// The dashes of a line, each from one place to another.
fn dashes(line: &[(f64, f64)]) -> Vec<[(f64, f64); 2]> {
    let mut dashes = Vec::new();
    for pair in line.windows(2) {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        let at = |x: f64| (x, low + (high - low) * (x - from) / (to - from));
        let mut start = from;
        while start < to {
            dashes.push([at(start), at((start + DASH).min(to))]);
            start += 2.0 * DASH;
        }
    }
    dashes
}
