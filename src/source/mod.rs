//! Stage 1, BYTES: opens inputs and cuts them into blocks.

pub mod block;
