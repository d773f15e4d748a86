//! The output formats of redis-cli, one file per format, and the noise around them.

pub(crate) mod cursor;
pub mod errors;
pub mod noise;
pub mod numbered;
pub mod quoted;
pub(crate) mod redis_json;
pub mod sized;
