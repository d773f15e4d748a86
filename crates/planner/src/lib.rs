//! The planner of moves: which hash slots go where, so that the nodes of a cluster have even loads, memory first, then
//! operations, at the least price. It knows loads, owners and limits, and nothing of dumps, names or reports.
//!
//! ```text
//! MoveRequest (loads by slot, owners, limits) -> plan -> MovePlan (new owners, results)
//! ```
//!
//! ```
//! use slotscope_base::metric::Metric;
//! use slotscope_planner::move_request::{MoveRequest, Role};
//! use slotscope_planner::solve::plan;
//!
//! // Node 0 owns three slots of equal load, node 1 owns one.
//! let (loads, owners) = ([10, 10, 10, 10], [0, 0, 0, 1].map(Some).to_vec());
//! let role = Role::even(Metric::Bytes, &loads, 2, 0.03);
//! let plan = plan(&MoveRequest::new(vec![role], owners));
//! assert_eq!((plan.slots, plan.roles[0].after), (1, 1.0));
//! ```
#![deny(missing_docs)]

mod aims;
mod budget;
mod duals;
pub mod even_ranges;
mod every;
mod few;
mod greedy;
mod limited;
mod line;
pub mod lower_bound;
pub mod move_request;
mod movement;
mod multipliers;
mod order;
mod prices;
mod receivers;
mod relief;
pub mod rest;
mod search;
mod shares;
mod shed;
pub mod solve;
mod state;
pub mod why_not;
