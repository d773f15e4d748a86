//! Every colour of the charts. None relies on telling red from green, and their order by lightness is their order by
//! meaning, so that a print in grey says the same.

use plotters::style::RGBColor;

/// Titles, names, values.
pub const INK: RGBColor = RGBColor(0x1B, 0x24, 0x2D);
/// Subtitles, ticks, notes; 6 : 1 on white.
pub const MUTED: RGBColor = RGBColor(0x55, 0x60, 0x6B);
/// Axes and borders.
pub const FRAME: RGBColor = RGBColor(0x8A, 0x95, 0xA1);
/// Lines to read values by.
pub const GRID: RGBColor = RGBColor(0xE4, 0xE8, 0xEC);
/// Loads.
pub const LOAD: RGBColor = RGBColor(0x2E, 0x77, 0xB5);
/// Loads, large areas.
pub const LIGHT_LOAD: RGBColor = RGBColor(0x9F, 0xC4, 0xE4);
/// What needs a look.
pub const WATCH: RGBColor = RGBColor(0xE0, 0x8A, 0x1E);
/// What is wrong; darker than all loads.
pub const ALARM: RGBColor = RGBColor(0xA8, 0x1E, 0x16);
/// What a perfect hash would give.
pub const EXPECTED: RGBColor = RGBColor(0x3C, 0x46, 0x50);
/// Nothing there.
pub const EMPTY: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);

/// Anchors of the sequential scale, light to dark in even steps of lightness: matplotlib's magma, reversed and
/// without its ends, which are too near to the white of empty slots and to the black of borders.
const RAMP: [RGBColor; 9] = [
    RGBColor(0xFD, 0xEB, 0xAC),
    RGBColor(0xFE, 0xC4, 0x88),
    RGBColor(0xFD, 0x95, 0x67),
    RGBColor(0xF2, 0x68, 0x5C),
    RGBColor(0xCD, 0x40, 0x71),
    RGBColor(0x9E, 0x2F, 0x7F),
    RGBColor(0x72, 0x1F, 0x81),
    RGBColor(0x44, 0x0F, 0x76),
    RGBColor(0x18, 0x0F, 0x3D),
];

/// The colour of `part`, from 0 (light) to 1 (dark).
pub fn ramp(part: f64) -> RGBColor {
    let place = part.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let below = (place as usize).min(RAMP.len() - 2);
    let (low, high) = (RAMP[below], RAMP[below + 1]);
    let mix = |low: u8, high: u8| {
        (f64::from(low) + (f64::from(high) - f64::from(low)) * (place - below as f64)).round() as u8
    };
    RGBColor(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(colour: RGBColor) -> f64 {
        0.299 * f64::from(colour.0) + 0.587 * f64::from(colour.1) + 0.114 * f64::from(colour.2)
    }

    #[test]
    fn the_scale_gets_darker_all_the_way() {
        let scale: Vec<_> = (0..=100).map(|part| lightness(ramp(f64::from(part) / 100.0))).collect();
        assert!(scale.windows(2).all(|pair| pair[1] < pair[0]), "{scale:?}");
        assert!(lightness(EMPTY) > scale[0] + 15.0);
    }

    #[test]
    fn worse_is_darker() {
        let order = [LIGHT_LOAD, WATCH, ALARM].map(lightness);
        assert!(order.windows(2).all(|pair| pair[1] + 30.0 < pair[0]), "{order:?}");
    }
}
