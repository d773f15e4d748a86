//! Amounts over time as a picture: dots, the line through them, its band, and the limit.

use std::fmt::Write;

use askama::Template;

use slotscope_engine::text::{amount, amount_cell, day};

use crate::view::Curve;
use crate::view::curve::Expected;

/// Width of the picture in its own units; it is 100 high.
const WIDTH: f64 = 1000.0;

/// The picture.
#[derive(Template)]
#[template(path = "curve.html", config = "src/render/html/askama.toml")]
pub(super) struct Picture {
    key: String,
    words: String,
    top: String,
    lines: Vec<f64>,
    band: String,
    line: String,
    /// The part of the line that is a forecast.
    ahead: String,
    limit: Option<f64>,
    dots: Vec<Dot>,
    ends: Vec<String>,
}

/// A measured amount.
struct Dot {
    x: f64,
    y: f64,
    class: &'static str,
    words: String,
}

impl Picture {
    /// The picture of `curve`.
    pub(super) fn of(curve: &Curve) -> Self {
        let (from, to) = curve.times();
        let top = curve.top();
        let x = |at: u64| {
            WIDTH * at.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64
        };
        let y = |amount: f64| 100.0 - 100.0 * (amount / top).clamp(0.0, 1.0);
        let path = |points: &mut dyn Iterator<Item = (u64, f64)>| {
            let mut path = String::new();
            for (at, amount) in points {
                let command = if path.is_empty() { 'M' } else { 'L' };
                // Writing to a string does not fail.
                let _ = write!(path, "{command}{:.1} {:.2}", x(at), y(amount));
            }
            path
        };
        let ends = |point: &Expected| point.band.map(|(low, high)| (point.at, low, high));
        let upper = curve
            .line
            .iter()
            .filter_map(ends)
            .map(|(at, _, high)| (at, high));
        let lower = curve
            .line
            .iter()
            .rev()
            .filter_map(ends)
            .map(|(at, low, _)| (at, low));
        let dots = curve.points.iter().map(|point| Dot {
            x: x(point.at),
            y: y(point.amount),
            class: if point.is_left_out { "dot out" } else { "dot" },
            words: format!(
                "{}: {}",
                day(point.at),
                amount(curve.metric, point.amount as u64)
            ),
        });
        let (fitted, ahead) = curve.fitted_and_ahead();
        let limit = curve.shown_limit();
        let red = limit.map(|limit| {
            let limit = amount_cell(curve.metric, limit);
            format!("red: the limit of {limit}")
        });
        let key = curve.key().into_iter().map(String::from).chain(red);
        let quarters = 0..=4u64;
        Picture {
            key: key.collect::<Vec<_>>().join("; "),
            words: format!(
                "From {} to {}; the numbers are in the tables",
                day(from),
                day(to)
            ),
            top: amount_cell(curve.metric, top as u64),
            lines: quarters
                .clone()
                .map(|part| WIDTH / 4.0 * part as f64)
                .collect(),
            band: closed(path(&mut upper.chain(lower))),
            line: path(&mut amounts(&fitted)),
            ahead: path(&mut amounts(&ahead)),
            limit: limit.map(|limit| y(limit as f64)),
            dots: dots.collect(),
            ends: quarters
                .map(|part| day(from + (to - from) / 4 * part))
                .collect(),
        }
    }
}

/// A path back to its start; none stays none.
fn closed(path: String) -> String {
    if path.is_empty() { path } else { path + "Z" }
}

fn amounts(line: &[Expected]) -> impl Iterator<Item = (u64, f64)> {
    line.iter().map(|point| (point.at, point.amount))
}
