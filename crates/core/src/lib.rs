//! From the bytes of a key dump to findings: the part of [slotscope](https://docs.rs/slotscope) that computes. slotscope
//! has the front door, the commands and the reports; its modules of the same names are these.
//!
//! ```text
//! source -> format -> slot -> tally -(merge)-> summary
//! bytes     keys      u16     counts           findings
//! ```
//!
//! # Features
//!
//! - `cloud`: dumps in object stores and on web servers.
#![deny(missing_docs)]

pub mod advise;
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
pub mod node_labels;
#[doc(hidden)]
pub mod pattern;
pub mod plan;
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
pub mod steps;
pub mod summary;
pub mod tally;
#[doc(hidden)]
pub mod text;
pub mod topology;
#[doc(hidden)]
pub mod wording;
