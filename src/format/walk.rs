//! Inputs whose keys are only found from the front, and most of whose bytes are passed over: a walk finds the keys and
//! fills blocks with rows of them, which the reader of the format knows.

use std::ops::Range;

use crate::source::block::Block;

/// A walk over one input.
pub trait Walk {
    /// Puts the next rows in place of what is in `block`: the bytes of the input that they are from, right behind those
    /// of the rows before them. `None` at the end.
    ///
    /// # Errors
    /// Where and why the input cannot be read on, once all rows before that are given out.
    fn next(&mut self, block: &mut Block) -> Result<Option<Range<u64>>, Damage>;
}

/// A place behind which an input cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset in bytes.
    pub offset: u64,
    /// What is wrong there, and in what.
    pub what: String,
}
