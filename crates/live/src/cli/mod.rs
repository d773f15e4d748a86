//! The commands, one file each with its flags and `run`.

pub mod collect;
mod collect_view;
pub mod exporter;
pub(crate) mod full_screen;
pub mod top;
