//! The commands, one file each with its flags and `run`.

pub mod capacity;
pub mod diff;
pub mod timeline;
