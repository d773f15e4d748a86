//! `slotscope top`: a running cluster on the terminal, read again at intervals.
//!
//! A background thread reads the cluster and makes rows of it; `screen` says what is shown of them after each key that is
//! typed, `view` draws that. Nothing is drawn where nothing has changed.

pub(crate) mod columns;
mod judged;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod screen;
pub(crate) mod slot_map;
#[cfg(test)]
mod tests;
pub(crate) mod view;
pub(crate) mod written;
