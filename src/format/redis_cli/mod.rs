//! What redis-cli prints: one file a form of its output, and the noise around it.

pub mod cluster_call;
pub mod errors;
pub mod noise;
pub mod numbered;
pub mod one_line;
pub mod quoted;
pub mod sized;
