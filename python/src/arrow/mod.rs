//! Arrow without a dependency: the C data interface, in PyCapsules, as polars, pandas, pyarrow and DuckDB speak it.

pub mod export;
mod ffi;
pub mod import;

pub use export::{Column, Columns, Values};
pub use import::{KeyArray, KeyStream, Offered, offered};
