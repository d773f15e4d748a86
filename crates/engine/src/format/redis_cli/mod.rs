//! The output formats of redis-cli, one file per format, and the noise around them.

pub(crate) mod cursor;
pub mod errors;
pub mod noise;
pub mod numbered;
pub(crate) mod one_line;
pub mod quoted;
pub mod sized;
