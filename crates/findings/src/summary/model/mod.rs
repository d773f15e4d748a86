//! The statistical model that measured loads are compared with, and curves that compare loads: pure numbers, drawn and
//! printed elsewhere.
//!
//! The model is a perfect hash: every unit (a hash tag with all its keys, or an untagged key) lands in one of S slots
//! at random, so a slot's load is a compound Poisson sum. `expected` has its moments and extremes in closed form for
//! the report; `compound` its whole distribution for charts; `chance` the tail of a node's load, and `even_split` that
//! of the fullest node under an even split.

pub mod bins;
pub mod chance;
pub mod compound;
pub(crate) mod even_split;
pub mod expected;
pub mod gini;
pub mod normal;
pub(crate) mod poisson;
pub(crate) mod rehash;
