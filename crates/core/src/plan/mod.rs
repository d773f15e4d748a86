//! Which slots to move where, so that the nodes have even loads: by keys, bytes, operations or a mix of them.

pub mod doubts;
pub mod duration;
pub mod load;
pub mod lower_bound;
mod move_ranges;
pub mod moves;
mod others;
pub mod outcome;
mod place_heavy;
pub mod problem;
mod refine;
pub mod request;
pub mod solve;
mod state;
