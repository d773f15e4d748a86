//! Kernels without intrinsics, for every CPU.

pub mod portable;
pub mod table;
