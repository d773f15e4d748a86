//! Kernels for 64-bit Arm.

pub mod neon;
