//! The layout of all charts: text sizes, heading, and drawing area.

use std::io::{self, Write};

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas, png};

use crate::palette::{INK, MUTED};

/// Every text size in charts.
pub(super) mod size {
    /// The finding.
    pub(crate) const TITLE: f32 = 33.0;
    /// The size that long titles are reduced to before they are truncated.
    pub(crate) const SMALL_TITLE: f32 = 22.0;
    /// Subtitle, which names the input.
    pub(crate) const SUBTITLE: f32 = 18.0;
    /// Names and values.
    pub(crate) const BODY: f32 = 17.0;
    /// Ticks and notes.
    pub(crate) const NOTE: f32 = 15.0;
}

/// Margin at the left and right edge.
pub(super) const MARGIN: i32 = 40;
/// The first line available below the heading.
pub(super) const BELOW_HEADING: i32 = 112;

/// Width of every chart in pixels.
const WIDTH: u32 = 1200;
/// Height of most charts in pixels.
const HEIGHT: u32 = 800;

/// A chart before drawing: the finding as title, the input as subtitle, and the drawing.
pub struct Sheet<'s> {
    height: u32,
    title: String,
    subtitle: String,
    below: Box<dyn FnOnce(&Canvas<'_>) + 's>,
}

impl<'s> Sheet<'s> {
    /// A sheet of the usual height, with the output of `draw` below its heading.
    pub(crate) fn new(
        title: impl Into<String>,
        subtitle: String,
        draw: impl FnOnce(&Canvas<'_>) + 's,
    ) -> Self {
        Sheet {
            height: HEIGHT,
            title: title.into(),
            subtitle,
            below: Box::new(draw),
        }
    }

    /// Changes its height.
    pub(crate) fn with_height(self, height: u32) -> Self {
        Sheet { height, ..self }
    }

    /// Writes it as PNG.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        png(WIDTH, self.height, out, |canvas| {
            heading(canvas, &self.title, &self.subtitle);
            (self.below)(canvas);
        })
    }
}

/// Title and subtitle. A long title is reduced in size, then truncated.
fn heading(canvas: &Canvas<'_>, title: &str, subtitle: &str) {
    let room = (canvas.width - 2 * MARGIN) as f32;
    let mut style = Style::bold(size::TITLE, INK);
    while width(title, style) > room && style.size > size::SMALL_TITLE {
        style.size -= 1.0;
    }
    canvas.text(&fit(title, room, style), (MARGIN, 44), Anchor::Start, style);
    let style = Style::plain(size::SUBTITLE, MUTED);
    canvas.text(
        &fit(subtitle, room, style),
        (MARGIN, 84),
        Anchor::Start,
        style,
    );
}

/// A tick or another small text.
pub(super) fn note(canvas: &Canvas<'_>, text: &str, at: (i32, i32), anchor: Anchor) {
    canvas.text(text, at, anchor, Style::plain(size::NOTE, MUTED));
}
