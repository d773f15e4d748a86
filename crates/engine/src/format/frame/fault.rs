//! Why a walk over an input cannot continue, before the item in question is known.

use std::io;

/// A fault that ends a walk.
#[derive(Debug)]
pub(in crate::format) enum Fault {
    /// The input ends.
    CutOff,
    /// The system refuses to read on.
    Unreadable(io::Error),
    /// Bytes at this offset that mean nothing.
    Wrong(u64, String),
}

/// The result of reading a part of an input.
pub(in crate::format) type Read<T> = Result<T, Fault>;

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::CutOff,
            _ => Fault::Unreadable(error),
        }
    }
}

/// The fault of bytes at `offset`.
pub(in crate::format) fn wrong<T>(offset: u64, what: impl Into<String>) -> Read<T> {
    Err(Fault::Wrong(offset, what.into()))
}
