//! Plans which slots to move where to even out the nodes: memory first, then operations.

mod aims;
pub mod block_time;
mod budget;
pub mod cluster;
#[doc(hidden)]
pub mod doubts;
pub mod duration;
mod exchange;
mod few_slots;
pub mod goal_outcome;
mod greedy;
mod improve;
pub mod inputs;
mod limited;
pub(crate) mod lower_bound;
#[doc(hidden)]
pub mod migration;
#[doc(hidden)]
pub mod move_request;
mod movement;
#[doc(hidden)]
pub mod moves;
pub mod node_outcome;
pub mod outcome;
pub(crate) mod placement;
mod prices;
pub mod proof;
mod receivers;
mod requests;
pub mod rest;
mod search;
mod shares;
mod shed;
#[doc(hidden)]
pub mod solve;
mod state;
pub(crate) mod why_not;
