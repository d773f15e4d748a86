//! Stage 2, KEYS: blocks of bytes come in, batches of keys go out.

pub mod batch;
