//! Expiry over time: bytes and keys by expiry time, with storms highlighted.

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::metric::Metric;
use slotscope_engine::text::{percent, time};
use slotscope_findings::summary::expiring::Storm;

use crate::charts::bars;
use crate::charts::legend::{self, Swatch};
use crate::charts::sheet::{BELOW_HEADING, MARGIN, size};
use crate::palette::{ALARM, INK, LOAD, MUTED};
use crate::plot::Plot;
use crate::plot::expiring::plot;
use crate::view::Expiring;

/// Space for numbers on the left, and for times and a note below.
const LEFT: i32 = 120;
const BELOW: i32 = 118;
/// Space between two plots, which share the time labels.
const GAP: i32 = 62;

/// Draws the plots, with `note` below.
pub(super) fn draw(canvas: &Canvas<'_>, expiring: &Expiring, storms: &[Storm], note: &str) {
    let has_bytes = expiring.spans[0].get(Metric::Bytes).is_some();
    let metrics = [Metric::Bytes, Metric::Keys];
    let metrics = &metrics[usize::from(!has_bytes)..];
    if !storms.is_empty() {
        let entries = [
            (Swatch::Area(ALARM), "all in one minute"),
            (Swatch::Area(LOAD), "the rest"),
        ];
        legend::draw(canvas, &entries);
    }
    let top = BELOW_HEADING + 76;
    let bottom = canvas.height - BELOW;
    let room = (bottom - top - GAP * (metrics.len() as i32 - 1)) / metrics.len() as i32;
    for (at, metric) in metrics.iter().enumerate() {
        let end = top + at as i32 * (room + GAP);
        let plot = plot(
            expiring,
            *metric,
            (LEFT, canvas.width - MARGIN),
            (end + room, end),
        );
        plot.draw_y(canvas, &format!("{} that expire", metric.title()));
        plot.draw_base(canvas);
        plot.draw_marks(canvas);
        if at + 1 == metrics.len() {
            plot.draw_x(canvas, &expiring.along());
        }
        if at == 0 {
            label_storms(canvas, expiring, &plot, storms);
        }
    }
    let style = Style::plain(size::BODY, MUTED);
    let room = (canvas.width - 2 * MARGIN) as f32;
    let place = (MARGIN, canvas.height - 28);
    canvas.text(&fit(note, room, style), place, Anchor::Start, style);
}

/// Labels a storm next to its bar.
fn label_storms(canvas: &Canvas<'_>, expiring: &Expiring, plot: &Plot, storms: &[Storm]) {
    let style = Style::bold(size::NOTE, INK);
    for (line, storm) in storms.iter().enumerate() {
        let x = plot
            .x
            .at((expiring.first + expiring.span_of(storm.at)) as f64);
        let y = plot.y.end + 10 + 22 * line as i32;
        let words = fit(&in_words(storm), 520.0, style);
        let room = width(&words, style) as i32;
        let (before, behind) = (x - 8, x + bar_width(expiring, plot) + 8);
        let (x, anchor) = if behind + room <= plot.x.end {
            (behind, Anchor::Start)
        } else if before - room >= plot.x.start {
            (before, Anchor::End)
        } else {
            (plot.x.end - 8, Anchor::End) // on the bar, which is nearly as wide as the plot
        };
        canvas.label(&words, (x, y), anchor, style);
    }
}

fn bar_width(expiring: &Expiring, plot: &Plot) -> i32 {
    (plot.x.end - plot.x.start) / expiring.spans.len() as i32
}

/// `10.5% of the keys at 19:47: page:product:<n>`.
fn in_words(storm: &Storm) -> String {
    let clock = time(storm.at);
    let pattern = storm.pattern.as_ref();
    let pattern = pattern.map_or_else(String::new, |of| format!(": {}", bars::spelled(of)));
    format!(
        "{} of the keys at {}{pattern}",
        percent(storm.share),
        &clock[11..16]
    )
}
