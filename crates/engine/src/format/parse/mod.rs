//! Parsers of values and rows that several formats share.

pub mod csv_row;
pub mod escape;
pub mod json_object;
pub mod size;
pub mod time;
pub mod unescape;
pub mod words;
