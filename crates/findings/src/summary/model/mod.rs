//! The statistical model that every measured load is compared with, and the curves that compare loads: pure numbers,
//! drawn and printed elsewhere.
//!
//! The model is a perfect hash: every unit (a hash tag with all its keys, or an untagged key) falls into one of S slots
//! at random, so the load of a slot is a compound Poisson sum. `expected` has its moments and extremes for the report,
//! in closed form; `compound` has its whole distribution for charts; `chance` has the tail of the load of a node, and
//! `even_split` that of the fullest of nodes that share the slots evenly.

pub mod bins;
pub mod chance;
pub mod compound;
pub(crate) mod even_split;
pub mod expected;
pub mod gini;
pub mod normal;
pub(crate) mod poisson;
pub(crate) mod rehash;
