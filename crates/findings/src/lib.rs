//! From counts to findings and steps: the part of [slotscope](https://docs.rs/slotscope) that judges.
//!
//! ```text
//! topology + tally -> summary -> findings -> steps -> plan
//! ```
#![deny(missing_docs)]

#[doc(hidden)]
pub mod node_labels;
pub mod plan;
pub mod steps;
pub mod summary;
pub mod topology;
#[doc(hidden)]
pub mod wording;
