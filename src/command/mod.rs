//! The subcommands, one file each: its flags and a `run` that reads like a contents page.

pub mod generate;
