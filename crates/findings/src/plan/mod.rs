//! Plans which slots to move where, so that the nodes have even loads: memory first, then operations.

mod aims;
pub mod block_time;
mod budget;
pub mod cluster;
#[doc(hidden)]
pub mod doubts;
pub mod duration;
mod exchange;
pub mod goal_outcome;
pub mod goals;
mod greedy;
mod improve;
pub mod inputs;
mod limited;
pub(crate) mod lower_bound;
#[doc(hidden)]
pub mod migration;
mod movement;
#[doc(hidden)]
pub mod moves;
pub mod node_outcome;
pub mod outcome;
mod prices;
#[doc(hidden)]
pub mod problem;
pub mod proof;
mod receivers;
#[doc(hidden)]
pub mod request;
pub mod rest;
mod search;
mod shares;
mod shed;
#[doc(hidden)]
pub mod solve;
mod state;
