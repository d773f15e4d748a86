//! The output formats of redis-cli, one file per format, and the noise around them.

pub(crate) mod cluster_call;
pub(crate) mod cursor;
pub mod errors;
#[doc(hidden)]
pub(crate) mod named_nodes;
pub mod noise;
pub mod numbered;
pub(crate) mod one_line;
pub mod quoted;
pub mod sized;
