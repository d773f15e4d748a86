//! The common ground of the commands of [slotscope](https://docs.rs/slotscope): from options to findings in one call,
//! distributed counting, and with the feature `cli` flags, inputs and printing.
//!
//! ```text
//! options -> pipeline -> findings
//! flags      counts      a summary
//! ```
#![deny(missing_docs)]

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
pub mod options;
pub mod partial;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod renaming;
#[doc(hidden)]
pub mod source;

pub use pipeline::Analysis;
