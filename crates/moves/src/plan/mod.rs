//! Plans which slots to move where to even out the nodes: memory first, then operations.

pub mod block_time;
pub mod cluster;
mod compared;
#[doc(hidden)]
pub mod doubts;
pub mod duration;
pub mod goal_outcome;
pub mod inputs;
#[doc(hidden)]
pub mod moves;
pub mod node_outcome;
pub mod outcome;
pub(crate) mod placement;
pub(crate) mod planned;
pub(crate) mod requests;
