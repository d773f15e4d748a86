//! The commands for running clusters: `collect`, `exporter` and `top`.

pub mod cli;
mod exporter;
mod top;

/// Restores the terminal from full screen, for whoever ends the program.
pub use crate::cli::full_screen::leave as leave_screen;
