//! Every colour of charts and page; the page's style and script get theirs from `css`.
//!
//! No chart depends on distinguishing red from green, and lightness follows meaning, so that a greyscale print still
//! works.

/// A colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Titles, names, values.
pub(crate) const INK: Rgb = hex(0x1B242D);
/// Subtitles, ticks, notes; its contrast to white is 6 : 1.
pub(crate) const MUTED: Rgb = hex(0x55606B);
/// Axes and borders.
pub(crate) const FRAME: Rgb = hex(0x8A95A1);
/// Grid lines.
pub(crate) const GRID: Rgb = hex(0xE4E8EC);
/// Loads.
pub(crate) const LOAD: Rgb = hex(0x2E77B5);
/// Loads in large areas.
pub(crate) const LIGHT_LOAD: Rgb = hex(0x9FC4E4);
/// Big keys, and heavy hash tags, within the load of their node. They differ from it and from each other in hue and
/// lightness.
#[cfg(feature = "charts")]
pub(crate) const BIG_KEY: Rgb = hex(0xD9822B);
/// See `BIG_KEY`.
#[cfg(feature = "charts")]
pub(crate) const HOT_TAG: Rgb = hex(0x1D4F7C);
/// For loads that need attention.
pub(crate) const WATCH: Rgb = hex(0xE08A1E);
/// For problems; darker than all loads.
pub(crate) const ALARM: Rgb = hex(0xA81E16);
/// For loads expected under a perfect hash.
pub(crate) const EXPECTED: Rgb = hex(0x3C4650);
/// The background, and slots without load.
pub(crate) const EMPTY: Rgb = hex(0xFFFFFF);

/// CSS variables: name, colour in the light theme, colour in the dark one.
const VARIABLES: [(&str, Rgb, Rgb); 14] = [
    ("ink", INK, hex(0xE8ECF0)),
    ("muted", MUTED, hex(0xA3AEB9)),
    ("frame", FRAME, hex(0x5F6B77)),
    ("grid", GRID, hex(0x2A333C)),
    ("load", LOAD, hex(0x6FB1E8)),
    ("light-load", LIGHT_LOAD, hex(0x2F5C82)),
    ("watch", WATCH, hex(0xF0A64A)),
    ("alarm", ALARM, hex(0xFF8478)),
    ("expected", EXPECTED, hex(0xC3CBD3)),
    ("empty", EMPTY, hex(0x0E1318)),
    // Only used by the page: background, section, good verdict, warning text.
    ("page", hex(0xF6F8FA), hex(0x12181E)),
    ("sheet", hex(0xFDFEFE), hex(0x181F26)),
    ("fine", hex(0x1F6F5C), hex(0x6CCBB2)),
    ("watch-ink", hex(0x8A4E00), hex(0xF0A64A)),
];

/// Anchors of the sequential scale, light to dark in even steps of lightness: matplotlib's magma, reversed and without
/// its ends, which are too close to the white of empty slots and the black of borders.
const RAMP: [Rgb; 9] = [
    hex(0xFDEBAC),
    hex(0xFEC488),
    hex(0xFD9567),
    hex(0xF2685C),
    hex(0xCD4071),
    hex(0x9E2F7F),
    hex(0x721F81),
    hex(0x440F76),
    hex(0x180F3D),
];

const fn hex(rgb: u32) -> Rgb {
    let [_, red, green, blue] = rgb.to_be_bytes();
    [red, green, blue]
}

/// `#1B242D`.
fn spelled([red, green, blue]: Rgb) -> String {
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The colour at `part` of the scale, from 0 (light) to 1 (dark).
#[cfg(feature = "charts")]
pub fn ramp(part: f64) -> Rgb {
    let place = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let below = (place as usize).min(RAMP.len() - 2);
    let (low, high) = (RAMP[below], RAMP[below + 1]);
    let mix = |low: u8, high: u8| {
        (f64::from(low) + (f64::from(high) - f64::from(low)) * (place - below as f64)).round() as u8
    };
    [0, 1, 2].map(|part| mix(low[part], high[part]))
}

/// The CSS variable with this colour in the light theme.
pub(crate) fn variable(colour: Rgb) -> &'static str {
    let named = VARIABLES.iter().find(|(_, light, _)| *light == colour);
    named.map_or("ink", |(name, ..)| name)
}

/// The CSS variables: one per colour, and `--ramp`, the anchors of the scale.
pub(crate) fn css() -> String {
    let colours = VARIABLES.map(|(name, light, dark)| {
        format!("--{name}:light-dark({},{});", spelled(light), spelled(dark))
    });
    let ramp = RAMP.map(spelled);
    format!(":root{{{}--ramp:{};}}\n", colours.concat(), ramp.join(" "))
}

#[cfg(feature = "charts")]
#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(colour: Rgb) -> f64 {
        0.299 * f64::from(colour[0]) + 0.587 * f64::from(colour[1]) + 0.114 * f64::from(colour[2])
    }

    #[test]
    fn the_scale_gets_darker_all_the_way() {
        let scale: Vec<_> = (0..=100)
            .map(|part| lightness(ramp(f64::from(part) / 100.0)))
            .collect();
        assert!(scale.windows(2).all(|pair| pair[1] < pair[0]), "{scale:?}");
        assert!(lightness(EMPTY) > scale[0] + 15.0);
    }

    #[test]
    fn worse_is_darker() {
        let order = [LIGHT_LOAD, WATCH, ALARM].map(lightness);
        assert!(
            order.windows(2).all(|pair| pair[1] + 30.0 < pair[0]),
            "{order:?}"
        );
    }

    #[test]
    fn parts_of_a_load_differ_in_lightness() {
        let order = [HOT_TAG, BIG_KEY, LIGHT_LOAD].map(lightness);
        assert!(
            order.windows(2).all(|pair| pair[0] + 30.0 < pair[1]),
            "{order:?}"
        );
    }

    #[test]
    fn the_style_has_every_colour_in_both_themes() {
        let css = css();
        assert!(
            css.starts_with(":root{--ink:light-dark(#1B242D,#E8ECF0);"),
            "{css}"
        );
        assert!(css.contains("--ramp:#FDEBAC #FEC488 "), "{css}");
        assert_eq!(css.matches("light-dark(").count(), VARIABLES.len());
    }
}
