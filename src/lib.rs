//! slotscope: how the keys of a Redis or Valkey Cluster spread over its hash slots and nodes.
//!
//! ```text
//! source -> format -> slot -> tally -(merge)-> summary -> report
//! bytes     keys      u16     counts           findings   files
//! ```
#![deny(missing_docs)]

pub mod error;
pub mod hash;
pub mod metric;
pub mod name;
pub mod redact;

pub mod source;

pub mod format;

pub mod lanes;

pub mod slot;

pub mod tally;

pub mod scan;

pub mod topology;

pub mod summary;

pub mod advice;

pub mod report;

pub mod command;
