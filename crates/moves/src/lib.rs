//! Plans of moves and remediation steps: requests for the planner, its plans in words, and steps, each computed on what those
//! before it leave. For [slotscope](https://docs.rs/slotscope).
//!
//! ```text
//! summary + findings -> request -> planner -> plan -> steps
//! ```
#![deny(missing_docs)]

pub mod plan;
pub mod steps;
mod wording;
