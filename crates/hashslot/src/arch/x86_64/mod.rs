//! Kernels for 64-bit x86.

pub mod avx2;
pub mod avx512;
pub mod sse;
