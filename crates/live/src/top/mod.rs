//! `slotscope top`: a running cluster on the terminal, refreshed at intervals.
//!
//! A background thread reads the cluster and builds rows; `screen` holds the state after each key press, `view` draws
//! it. Nothing is redrawn without a change.

pub(crate) mod columns;
mod judged;
pub(crate) mod reader;
pub(crate) mod rows;
pub(crate) mod screen;
#[cfg(test)]
mod tests;
pub(crate) mod view;
