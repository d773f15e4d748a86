//! Captures: the commands that clients sent to a server. Rows are operations on keys, not keys.

pub mod aof;
mod command_reader;
pub(super) mod commands;
mod meaning;
pub mod monitor;
pub mod monitor_line;
pub(super) mod recognised;
mod run;
pub mod whole_commands;
