//! Key patterns: ids in keys, the number that keys share which differ in their ids only, and the parts of a pattern.

pub mod coarse;
mod ids;
mod mingled;
pub(crate) mod outlines;
pub mod shapes;
mod template;
pub(crate) mod templates;
