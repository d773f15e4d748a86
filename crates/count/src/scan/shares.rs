//! Shares of inputs: other processes read the rest, and all results are merged.
//!
//! A share is a range of chunks. The rows owned by a chunk follow from the bytes around its ends, so neighbours agree
//! without communication, within or across processes.

use std::ops::Range;

use slotscope_base::error::Result;
use slotscope_read::source::Source;

use crate::scan::Scan;

/// The part of an input to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The index of the input among all inputs.
    pub number: u32,
    /// Its chunks; `None` for all of it.
    pub chunks: Option<Range<u64>>,
}

impl Share {
    /// All of the input with this index.
    pub fn all_of(number: usize) -> Self {
        Share {
            number: number as u32,
            chunks: None,
        }
    }
}

impl Scan<'_> {
    /// The number of chunks that different processes may read: 1 if an input must be read from the front.
    ///
    /// # Errors
    /// An input cannot be opened or is not in its format.
    pub fn chunks_of(&self, source: &dyn Source) -> Result<u64> {
        let job = self.job(0, source, &Share::all_of(0))?;
        Ok(job.map_or(1, |job| job.cutting.chunks()).max(1))
    }
}
