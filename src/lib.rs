//! slotscope: how the keys of a Redis or Valkey Cluster spread over its hash slots and nodes.
//!
//! ```text
//! source -> format -> slot -> tally -(merge)-> summary -> report
//! bytes     keys      u16     counts           findings   files
//! ```
#![deny(missing_docs)]

pub mod error;
pub mod name;

pub mod source;

pub mod format;

pub mod slot;

pub mod command;
