//! Parsers of values and rows shared by several formats.

pub(crate) mod csv_row;
pub mod escape;
pub(crate) mod json_object;
pub(crate) mod python;
pub(crate) mod quoted;
pub mod size;
pub mod time;
pub(crate) mod value;
pub mod words;
