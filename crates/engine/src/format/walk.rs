//! Inputs whose keys are only found from the front, and most of whose bytes are passed over: a walk finds the keys and
//! fills blocks with rows of them, which the reader of the format knows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::format::lfu::LfuRule;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::sentence::Sentence;
use crate::source::block::Block;

/// How inputs are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walking {
    /// Whether checksums are verified, for which every byte is read.
    pub verifies: bool,
    /// What the sizes of keys are.
    pub sizes: Sizes,
    /// What LFU counters say.
    pub lfu: LfuRule,
}

/// What the sizes of keys are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Estimated bytes in the memory of a server with this allocator.
    Memory(Allocator),
    /// Bytes in the file.
    Serialized,
}

impl Default for Walking {
    fn default() -> Self {
        Walking {
            verifies: true,
            sizes: Sizes::Memory(Allocator::default()),
            lfu: LfuRule::default(),
        }
    }
}

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
    pub what: Sentence,
}
