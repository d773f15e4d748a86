//! Why a walk over an input cannot continue; the caller adds the item concerned.

use std::io;

/// A fault that ends a walk.
#[derive(Debug)]
pub(in crate::format) enum Fault {
    /// The input ends early.
    CutOff,
    /// An I/O error.
    Unreadable(io::Error),
    /// Invalid bytes at this offset.
    Wrong(u64, String),
}

/// The result of reading part of an input.
pub(in crate::format) type Read<T> = Result<T, Fault>;

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::CutOff,
            _ => Fault::Unreadable(error),
        }
    }
}

/// Invalid bytes at `offset`.
pub(in crate::format) fn wrong<T>(offset: u64, reason: impl Into<String>) -> Read<T> {
    Err(Fault::Wrong(offset, reason.into()))
}
