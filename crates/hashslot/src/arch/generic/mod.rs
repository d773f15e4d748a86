//! What the vector kernels share: the arithmetic modulo the CRC's polynomial, groups of keys, long keys.

pub mod crc;
pub mod groups;
pub mod poly;
pub mod sparse;
