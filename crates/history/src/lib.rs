//! The commands over time: `capacity`, `diff` and `timeline`.

pub mod capacity;
pub mod cli;
pub mod diff;
pub mod timeline;
