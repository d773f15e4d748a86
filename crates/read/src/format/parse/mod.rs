//! Parsers of values and rows shared by several formats.

pub(crate) mod csv_row;
pub mod escape;
pub mod json_object;
pub mod python;
pub mod quoted;
pub mod size;
pub mod time;
pub mod unit;
pub mod value;
pub mod words;
