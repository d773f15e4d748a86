//! The steps of a report, carried out on a real cluster under load, in order and exactly as they are printed: nothing is
//! left that a step could cure, no node uses more than was promised, and no client waits longer than was said.

mod limits;
mod load;
mod memory;
pub(crate) mod probe;
mod steps;
