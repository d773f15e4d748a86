//! The canvas: rectangles, lines and text on a white ground, encoded as PNG. The origin is top left, units are pixels.

use std::cell::RefCell;
use std::io::{self, Write};

use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, Rectangle,
};
use plotters::style::{Color, RGBColor};

use crate::Rgb;
use crate::font;
use crate::font::Style;

/// The background.
const WHITE: Rgb = [u8::MAX; 3];

/// The position of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centred on it.
    Middle,
    /// The text ends at it.
    End,
}

/// A canvas. A failure of the backend is kept until `png` returns it, so that drawing code needs no error handling.
pub struct Canvas<'a> {
    area: DrawingArea<BitMapBackend<'a>, Shift>,
    /// Width in pixels.
    pub width: i32,
    /// Height in pixels.
    pub height: i32,
    failure: RefCell<Option<String>>,
    words: RefCell<Vec<([i32; 4], String)>>,
}

/// Draws on a white canvas of `width` x `height` with `draw`, and writes it as a PNG.
///
/// # Errors
/// `out` cannot be written, or the backend fails.
pub fn png(
    width: u32,
    height: u32,
    out: &mut dyn Write,
    draw: impl FnOnce(&Canvas<'_>),
) -> io::Result<()> {
    let mut pixels = vec![u8::MAX; (width * height * 3) as usize];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        let (width, height) = (width as i32, height as i32);
        let canvas = Canvas {
            area,
            width,
            height,
            failure: RefCell::default(),
            words: RefCell::default(),
        };
        draw(&canvas);
        canvas.keep(canvas.area.present());
        if let Some(failure) = canvas.failure.take() {
            return Err(io::Error::other(failure));
        }
    }
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Charts are waited for; a few more bytes are not noticed.
    encoder.set_compression(png::Compression::Fast);
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}

impl Canvas<'_> {
    fn keep<E: std::error::Error + Send + Sync>(
        &self,
        result: Result<(), DrawingAreaErrorKind<E>>,
    ) {
        if let Err(error) = result {
            self.failure
                .borrow_mut()
                .get_or_insert_with(|| error.to_string());
        }
    }

    /// Fills the pixels from `x0`, `y0` up to `x1`, `y1` (exclusive).
    pub fn fill(&self, [x0, y0, x1, y1]: [i32; 4], colour: Rgb) {
        if x0 < x1 && y0 < y1 {
            self.keep(self.area.draw(&Rectangle::new(
                [(x0, y0), (x1, y1)],
                pixel(colour).filled(),
            )));
        }
    }

    /// The outline of a rectangle, one pixel wide, inside its edges.
    pub fn outline(&self, [x0, y0, x1, y1]: [i32; 4], colour: Rgb) {
        for edge in [
            [x0, y0, x1, y0 + 1],
            [x0, y1 - 1, x1, y1],
            [x0, y0, x0 + 1, y1],
            [x1 - 1, y0, x1, y1],
        ] {
            self.fill(edge, colour);
        }
    }

    /// A horizontal or vertical dashed line; dashes and gaps are `dash` pixels long.
    pub fn dashes(&self, [x0, y0, x1, y1]: [i32; 4], dash: i32, colour: Rgb) {
        if x1 - x0 >= y1 - y0 {
            (x0..x1)
                .step_by(2 * dash as usize)
                .for_each(|x| self.fill([x, y0, x1.min(x + dash), y1], colour))
        } else {
            (y0..y1)
                .step_by(2 * dash as usize)
                .for_each(|y| self.fill([x0, y, x1, y1.min(y + dash)], colour))
        }
    }

    /// A smooth line through `points` with round ends; a single point is a dot. plotters draws thick paths as one
    /// polygon, which breaks at sharp bends.
    pub fn curve(&self, points: &[(f64, f64)], thickness: f64, colour: Rgb) {
        let Some(first) = points.first() else { return };
        let reach = thickness / 2.0 + 1.0;
        let around = |along: &[f64], end: i32| {
            let (low, high) = along.iter().fold((f64::MAX, f64::MIN), |(low, high), v| {
                (low.min(*v), high.max(*v))
            });
            ((low - reach).floor() as i32).clamp(0, end)
                ..((high + reach).ceil() as i32 + 1).clamp(0, end)
        };
        let (xs, ys): (Vec<_>, Vec<_>) = points.iter().copied().unzip();
        let (columns, rows) = (around(&xs, self.width), around(&ys, self.height));
        let mut cover = vec![0f64; columns.len() * rows.len()];
        let place = |x: i32, y: i32| {
            (y - rows.start) as usize * columns.len() + (x - columns.start) as usize
        };

        let segments =
            std::iter::once((first, first)).chain(points.iter().zip(points.iter().skip(1)));
        for (&(ax, ay), &(bx, by)) in segments {
            let (dx, dy) = (bx - ax, by - ay);
            let length2 = dx * dx + dy * dy;
            for y in around(&[ay, by], self.height) {
                for x in around(&[ax, bx], self.width) {
                    let (px, py) = (f64::from(x) - ax, f64::from(y) - ay);
                    let along = if length2 > 0.0 {
                        ((px * dx + py * dy) / length2).clamp(0.0, 1.0)
                    } else {
                        0.0
                    };
                    let distance = (px - along * dx).hypot(py - along * dy);
                    let covered = &mut cover[place(x, y)];
                    *covered = covered.max((thickness / 2.0 + 0.5 - distance).clamp(0.0, 1.0));
                }
            }
        }
        for y in rows.clone() {
            for x in columns.clone() {
                let covered = cover[place(x, y)];
                if covered > 0.0 {
                    self.keep(self.area.draw_pixel((x, y), &pixel(colour).mix(covered)));
                }
            }
        }
    }

    /// Text whose capitals are centred vertically on `y`.
    pub fn text(&self, text: &str, (x, y): (i32, i32), anchor: Anchor, style: Style) {
        let width = font::width(text, style);
        let left = match anchor {
            Anchor::Start => x as f32,
            Anchor::Middle => x as f32 - width / 2.0,
            Anchor::End => x as f32 - width,
        };
        if cfg!(debug_assertions) {
            self.claim(text, text_box(text, (x, y), anchor, style), style.size);
        }
        font::draw(
            text,
            (left, y as f32 + font::CAPITALS / 2.0 * style.size),
            style,
            |x, y, covered| {
                if (0..self.width).contains(&x) && (0..self.height).contains(&y) {
                    self.keep(
                        self.area
                            .draw_pixel((x, y), &pixel(style.colour).mix(f64::from(covered))),
                    );
                }
            },
        );
    }

    /// Claims the place of a text: in debug builds, which tests use, overlapping texts are a bug.
    fn claim(&self, text: &str, [x0, y0, x1, y1]: [i32; 4], size: f32) {
        // Without the margin around it, and as high as its letters.
        let slack = (size * 0.2) as i32;
        let place = [x0, y0 + slack, x1, y1 - slack];
        let inside = x0 >= 0 && y0 >= 0 && x1 <= self.width && y1 <= self.height;
        assert!(
            inside || text.is_empty(),
            "{text:?} leaves the sheet: {place:?}"
        );
        let mut words = self.words.borrow_mut();
        let taken = words.iter().find(|(taken, _)| overlap(*taken, place));
        assert!(taken.is_none(), "{text:?} at {place:?} stands on {taken:?}");
        words.push((place, text.to_owned()));
    }

    /// Text on a white background, to be legible on anything.
    pub fn label(&self, text: &str, at: (i32, i32), anchor: Anchor, style: Style) {
        let [x0, y0, x1, y1] = text_box(text, at, anchor, style);
        self.fill([x0 - 3, y0, x1 + 3, y1], WHITE);
        self.text(text, at, anchor, style);
    }
}

/// Converts a colour for plotters.
fn pixel([red, green, blue]: Rgb) -> RGBColor {
    RGBColor(red, green, blue)
}

/// The pixels that a text covers, with a small margin.
pub fn text_box(text: &str, (x, y): (i32, i32), anchor: Anchor, style: Style) -> [i32; 4] {
    let width = font::width(text, style).ceil() as i32;
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2,
        Anchor::End => x - width,
    };
    let half = (style.size * 0.66) as i32;
    [left, y - half, left + width, y + half]
}

/// Whether two rectangles share a pixel.
pub fn overlap(a: [i32; 4], b: [i32; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_that_only_touch_do_not_overlap() {
        assert!(overlap([0, 0, 10, 10], [9, 9, 20, 20]));
        assert!(!overlap([0, 0, 10, 10], [10, 0, 20, 10]));
    }
}
