//! Kernels for 64-bit x86.

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sse;
