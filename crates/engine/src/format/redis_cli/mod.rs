//! What redis-cli prints: one file a format, and the noise around it.

pub mod cluster_call;
pub mod errors;
#[doc(hidden)]
pub mod named_nodes;
pub mod noise;
pub mod numbered;
pub mod one_line;
pub mod quoted;
pub mod sized;
