//! Names and amounts and their spelling, errors, the commands of servers, and keys in batches with their slots: the leaves that
//! all crates of [slotscope](https://docs.rs/slotscope) use.
#![deny(missing_docs)]

#[doc(hidden)]
pub mod ansi;
#[doc(hidden)]
pub mod batch;
#[doc(hidden)]
pub mod block;
#[doc(hidden)]
pub mod calendar;
pub mod command;
pub mod error;
#[doc(hidden)]
pub mod file_identity;
#[doc(hidden)]
pub mod glob;
#[doc(hidden)]
pub mod hash;
#[doc(hidden)]
pub mod host;
#[doc(hidden)]
pub mod lfu;
pub mod metric;
pub mod name;
pub mod redact;
#[doc(hidden)]
pub mod secret;
#[doc(hidden)]
pub mod sentence;
#[doc(hidden)]
pub mod simd;
pub mod slot;
#[doc(hidden)]
pub mod small_file;
#[doc(hidden)]
pub mod text;

/// Names of a kind that are listed at most: hash tags by a metric, keys, patterns.
pub const LISTED: usize = 1000;
