//! The steps of a report, executed on a real cluster under load, in order and exactly as printed: nothing is left that
//! a step could cure, no node uses more than promised, and no client waits longer than stated.

mod limits;
mod load;
mod memory;
pub(crate) mod probe;
mod steps;
