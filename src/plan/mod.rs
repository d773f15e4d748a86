//! A plan for people and for the shell: tables, and the script that moves the slots. The model is in crates/findings.

#[cfg(feature = "cli")]
pub(crate) mod script;
#[cfg(feature = "cli")]
pub(crate) mod shards;
#[cfg(feature = "cli")]
pub(crate) mod view;

pub use slotscope_moves::plan::*;
