//! Kernels without intrinsics, for every CPU.

pub(crate) mod portable;
pub(crate) mod table;
