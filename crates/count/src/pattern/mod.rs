//! Key patterns: ids in keys, numbers shared by keys that differ only in their ids, and the parts of a pattern.

pub mod coarse;
mod mingled;
pub mod shapes;
mod template;
pub(crate) mod templates;
