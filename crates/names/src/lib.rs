//! The commands for names of keys: `advise`, `fanout` and `lint`.

pub mod advise;
pub mod cli;
pub mod fanout;
pub mod lint;
