//! The commands, one file each with its flags and `run`.

pub mod tally;
