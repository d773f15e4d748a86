//! Key patterns: ids in keys, the number that keys share which differ in their ids only, and the parts of a pattern.

pub mod coarse;
pub mod ids;
pub(crate) mod outlines;
pub mod parts;
pub mod shapes;
