//! The output formats of a report. Each renderer writes the sections of `view` without knowing any of them.

pub mod csv;
#[cfg(feature = "cli")]
pub mod families;
pub mod html;
pub mod json;
#[cfg(feature = "cli")]
#[cfg(feature = "cli")]
pub mod openmetrics;
#[cfg(feature = "cli")]
pub mod text;
