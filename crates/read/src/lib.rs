//! Reads keys from bytes: the sources and formats of [slotscope](https://docs.rs/slotscope).
#![deny(missing_docs)]

pub mod format;
pub mod source;
