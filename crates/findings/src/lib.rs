//! Turns counts into findings and remediation steps: the judging half of [slotscope](https://docs.rs/slotscope).
//!
//! ```text
//! owners of slots + tally -> summary -> findings -> steps -> plan
//! ```
#![deny(missing_docs)]

pub mod summary;
#[doc(hidden)]
pub mod wording;
