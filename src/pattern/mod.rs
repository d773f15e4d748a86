//! Key patterns: ids in keys, and the number that keys share which differ in their ids only.

pub mod ids;
pub mod shapes;
