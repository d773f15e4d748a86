//! How rows are found in bytes, for all formats: lines, blocks with a boundary, forward walks; and the batches that
//! pass on their keys.

#[doc(hidden)]
pub mod batch_rows;
#[doc(hidden)]
pub(super) mod fault;
#[doc(hidden)]
pub mod line_reader;
#[doc(hidden)]
pub mod row_batch;
#[doc(hidden)]
pub mod row_boundary;
#[doc(hidden)]
pub mod walk;
