//! The statistical model that measured loads are compared with, and curves that compare loads: pure numbers, drawn and
//! printed elsewhere.
//!
//! The model is a perfect hash: every unit (a hash tag with all its keys, or an untagged key) lands in one of S slots
//! at random, so a slot's load is a compound Poisson sum. `compound` has its distribution for charts; `chance` the tail
//! of a node's load, and `even_split` that of the fullest node under an even split. The load behaves like a number of
//! equal units: with w_g the load of unit g and W their sum, N_eff = W^2 / sum w_g^2 (Kish, Survey Sampling, 1965).

pub mod bins;
pub mod chance;
pub mod compound;
pub(crate) mod even_split;
pub mod gini;
pub mod normal;

use slotscope_engine::slot::SLOTS;

/// The equivalent number of equal independent units; `None` without load.
pub(crate) fn effective_units(total: f64, squares: f64) -> Option<f64> {
    (squares > 0.0).then(|| total * total / squares)
}

/// The coefficient of variation of slot loads under a perfect hash.
pub fn slot_cv(effective_units: f64) -> f64 {
    ((SLOTS as f64 - 1.0) / effective_units).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_units_are_as_many_as_there_are() {
        assert_eq!(effective_units(1e6, 1e6), Some(1e6));
        assert_eq!(effective_units(0.0, 0.0), None);
        assert!((slot_cv(1e6) - 0.128).abs() < 0.0005);
    }
}
