//! The commands, one file each with its flags and `run`.

pub mod advise;
pub mod fanout;
pub mod lint;
