//! The statistical model that measured loads are compared with: pure numbers.
//!
//! The model is a perfect hash: every unit (a hash tag with all its keys, or an untagged key) lands in one of S slots
//! at random. `chance` has the tail of a node's load, and `even_split` that of the fullest node under an even split. The
//! load behaves like a number of equal units: with w_g the load of unit g and W their sum, N_eff = W^2 / sum w_g^2 (Kish, Survey Sampling, 1965).

pub(crate) mod chance;
pub(crate) mod even_split;
