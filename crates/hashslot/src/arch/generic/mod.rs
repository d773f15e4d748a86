//! The shared parts of the vector kernels: the arithmetic modulo the CRC's polynomial, groups of keys.

pub(crate) mod crc;
pub(crate) mod groups;
pub(crate) mod poly;
