//! Stage 2, KEYS: how rows are found in bytes, for every format: lines, blocks with a boundary, walks from the front; and the
//! batches in which their keys are passed on.

#[doc(hidden)]
pub mod batch_rows;
#[doc(hidden)]
pub mod block_joins;
pub(super) mod fault;
#[doc(hidden)]
pub mod line_reader;
#[doc(hidden)]
pub mod row_batch;
#[doc(hidden)]
pub mod row_boundary;
#[doc(hidden)]
pub mod walk;
