//! Counts keys from the bytes of a dump: the part of [slotscope](https://docs.rs/slotscope) that reads every key.
//!
//! ```text
//! source -> format -> slot -> tally
//! bytes     keys      u16     counts
//! ```
#![deny(missing_docs)]

#[doc(hidden)]
pub mod ansi;
#[doc(hidden)]
pub mod calendar;
pub mod command;
pub mod error;
#[doc(hidden)]
pub mod file_identity;
pub mod format;
#[doc(hidden)]
pub mod hash;
pub mod metric;
pub mod name;
#[doc(hidden)]
pub mod pattern;
pub mod redact;

pub mod scan;
#[doc(hidden)]
pub mod secret;
#[doc(hidden)]
pub mod sentence;
#[doc(hidden)]
pub mod simd;
pub mod slot;
pub mod source;
pub mod tally;
#[doc(hidden)]
pub mod text;
