//! The commands of distributed counting: `tally`, `merge` and `recount`.

pub mod cli;
