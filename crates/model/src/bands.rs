//! From which ratio on a role is watched, and from which it is skewed.

use serde::{Deserialize, Serialize};

use crate::balance::tidy;
use crate::limit;
use crate::measure::Measure;
use crate::state::State;

/// From which ratio on the state is `watch`, and from which it is `skewed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Bands {
    /// Up to this ratio the nodes are balanced.
    pub lower: f64,
    /// From this ratio on they are skewed.
    pub upper: f64,
}

impl Bands {
    /// The bands of a measure. Chance raises the lower band, up to the upper one; a band that the previous report
    /// exceeded is lowered (hysteresis).
    pub fn new(measure: Measure, by_chance: Option<f64>, previous: Option<State>) -> Self {
        let [lower, upper] = measure.bands();
        let lower = by_chance.map_or(lower, |by_chance| by_chance.clamp(lower, upper));
        let falls = |band: f64, from: State| match previous {
            Some(previous) if from <= previous && previous <= State::Skewed => {
                band - limit::HYSTERESIS
            }
            _ => band,
        };
        Bands {
            lower: tidy(falls(lower, State::Watch)),
            upper: tidy(falls(upper, State::Skewed)),
        }
    }

    /// The state, given the fair shares of the fullest node.
    pub fn state(&self, max_over_mean: f64) -> State {
        if max_over_mean >= self.upper {
            State::Skewed
        } else if max_over_mean > self.lower {
            State::Watch
        } else {
            State::Balanced
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_lifts_the_lower_band_and_never_the_upper() {
        let bands = |by_chance| Bands::new(Measure::Bytes, by_chance, None);
        assert_eq!(
            bands(None),
            Bands {
                lower: 1.05,
                upper: 1.2
            }
        );
        assert_eq!(bands(Some(1.02)).lower, 1.05);
        assert_eq!(bands(Some(1.13)).lower, 1.13);
        let wide = bands(Some(1.7));
        assert_eq!((wide.lower, wide.upper), (1.2, 1.2));
        assert_eq!(wide.state(1.2), State::Skewed);
        assert_eq!(
            Bands::new(Measure::Ops, None, None).state(1.3),
            State::Watch
        );
    }

    #[test]
    fn a_ratio_that_wanders_around_a_band_changes_its_state_once() {
        let mut previous = State::Balanced;
        let mut changes = 0;
        for day in 0..90 {
            let ratio = 1.05 + 0.004 * f64::from(day % 3 - 1);
            let state = Bands::new(Measure::Keys, None, Some(previous)).state(ratio);
            changes += u32::from(state != previous);
            previous = state;
        }
        assert_eq!(changes, 1);
        let fallen = Bands::new(Measure::Keys, None, Some(State::Watch)).state(1.029);
        assert_eq!(fallen, State::Balanced);
    }

    #[test]
    fn a_state_that_is_no_skew_lowers_no_band() {
        let bands = Bands::new(Measure::Keys, None, Some(State::Suspicious));
        assert_eq!(bands.lower, 1.05);
    }
}
