//! Text: the embedded DejaVu Sans, placed glyph by glyph at subpixel positions with kerning. The text of plotters drops
//! the space before each glyph and rounds positions, which shows at these sizes.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, GlyphId, PxScale, ScaleFont, point};

use crate::Rgb;

/// Height of capitals relative to the font size.
pub(crate) const CAPITALS: f32 = 0.729;

/// The style of a text.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Font size: pixels per em.
    pub size: f32,
    /// Whether it is bold.
    pub bold: bool,
    /// Its colour.
    pub colour: Rgb,
}

impl Style {
    /// Regular.
    pub fn plain(size: f32, colour: Rgb) -> Self {
        Style {
            size,
            bold: false,
            colour,
        }
    }

    /// Bold.
    pub fn bold(size: f32, colour: Rgb) -> Self {
        Style {
            size,
            bold: true,
            colour,
        }
    }

    fn font(self) -> &'static FontRef<'static> {
        static FONTS: OnceLock<[FontRef<'static>; 2]> = OnceLock::new();
        let fonts = FONTS.get_or_init(|| {
            [dejavu::sans::regular(), dejavu::sans::bold()].map(|bytes| {
                FontRef::try_from_slice(bytes).expect("the font inside the binary is whole")
            })
        });
        &fonts[usize::from(self.bold)]
    }

    fn scale(self) -> PxScale {
        let font = self.font();
        PxScale::from(self.size * font.height_unscaled() / font.units_per_em().unwrap_or(1.0))
    }
}

/// The glyphs of `text` and their positions.
fn glyphs(text: &str, style: Style) -> impl Iterator<Item = (GlyphId, f32, f32)> {
    let font = style.font().as_scaled(style.scale());
    let mut x = 0.0;
    let mut last = None;
    text.chars().map(move |c| {
        let glyph = font.glyph_id(c);
        x += last.map_or(0.0, |last| font.kern(last, glyph));
        let start = x;
        x += font.h_advance(glyph);
        last = Some(glyph);
        (glyph, start, x)
    })
}

/// The width of `text` in pixels.
pub fn width(text: &str, style: Style) -> f32 {
    glyphs(text, style).last().map_or(0.0, |(_, _, end)| end)
}

/// Calls `paint` with each pixel of `text` and its coverage; `x`, `y` is the start of the baseline.
pub fn draw(text: &str, (x, y): (f32, f32), style: Style, mut paint: impl FnMut(i32, i32, f32)) {
    for (glyph, start, _) in glyphs(text, style) {
        let glyph = glyph.with_scale_and_position(style.scale(), point(x + start, y.round()));
        if let Some(outline) = style.font().outline_glyph(glyph) {
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, covered| {
                paint(
                    corner.x as i32 + dx as i32,
                    corner.y as i32 + dy as i32,
                    covered,
                )
            });
        }
    }
}

/// Letters that glyph-by-glyph layout from left to right cannot place: Hebrew, Arabic, Syriac, N'Ko, Mandaic and the scripts
/// of India, whose marks are also placed before and around a letter.
fn is_joined(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0xDFF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFE)
}

/// `text` in glyphs that the font has and that can stand alone, others escaped, shortened in the middle to `room`
/// pixels. The ends of a name tell most: its group, and its number in that.
pub fn fit(text: &str, room: f32, style: Style) -> String {
    // Directional isolates are for names within a line; here the name is drawn alone.
    let text = &text.replace(['\u{2068}', '\u{2069}'], "");
    let font = style.font().as_scaled(style.scale());
    let spelled = |c: char| match font.glyph_id(c).0 {
        _ if is_joined(c) => format!("\\u{{{:x}}}", u32::from(c)),
        0 => format!("\\u{{{:x}}}", u32::from(c)),
        _ => c.to_string(),
    };
    // At least one pixel each: there could be a million zero-width marks.
    let taken = |piece: &str| {
        piece
            .chars()
            .map(|c| font.h_advance(font.glyph_id(c)).max(1.0))
            .sum::<f32>()
    };
    let within = |chars: &mut dyn Iterator<Item = char>, room: f32| {
        let mut pieces = Vec::new();
        let mut used = 0.0;
        for c in chars {
            let piece = spelled(c);
            used += taken(&piece);
            if used > room {
                return (pieces, true);
            }
            pieces.push(piece);
        }
        (pieces, false)
    };
    let (whole, cut) = within(&mut text.chars(), room);
    if !cut {
        return whole.concat();
    }
    let half = (room - taken("…")) / 2.0;
    let (front, _) = within(&mut text.chars(), half);
    let (mut back, _) = within(&mut text.chars().rev(), half);
    // A mark without its letter would combine with the ellipsis.
    while back.last().is_some_and(|piece| {
        piece
            .chars()
            .all(|c| font.h_advance(font.glyph_id(c)) == 0.0)
    }) {
        back.pop();
    }
    back.reverse();
    format!("{}…{}", front.concat(), back.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Rgb = [0; 3];

    fn fitted(text: &str, room: f32) -> String {
        fit(text, room, Style::plain(16.0, BLACK))
    }

    #[test]
    fn a_long_name_keeps_both_ends_and_fits() {
        let name = "user:".repeat(40) + "42";
        let cut = fitted(&name, 200.0);
        assert!(
            cut.starts_with("user:") && cut.ends_with(":42") && cut.contains('…'),
            "{cut}"
        );
        assert!(width(&cut, Style::plain(16.0, BLACK)) <= 200.0);
        assert_eq!(fitted("short", 200.0), "short");
        assert_eq!(fitted("", 200.0), "");
    }

    #[test]
    fn glyphs_that_the_font_lacks_are_spelled_out() {
        assert_eq!(fitted("a名b", 400.0), "a\\u{540d}b");
        assert_eq!(fitted("é ü ж Ω → ±", 400.0), "é ü ж Ω → ±");
    }

    #[test]
    fn letters_that_would_stand_unjoined_are_spelled_out() {
        assert_eq!(fitted("a:\u{645}\u{631}", 400.0), "a:\\u{645}\\u{631}");
        assert_eq!(fitted("\u{5e9}:7", 400.0), "\\u{5e9}:7");
    }

    #[test]
    fn a_million_marks_without_width_are_cut_too() {
        let cut = fitted(&"\u{301}".repeat(1 << 20), 100.0);
        assert!(cut.chars().count() <= 100, "{}", cut.chars().count());
    }
}
