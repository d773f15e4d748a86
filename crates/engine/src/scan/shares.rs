//! Shares of inputs: other processes read the rest, and the results of all are merged.
//!
//! A share is a range of chunks. Which rows a chunk owns follows from the bytes around its ends, so neighbours agree
//! without communicating, in one process or in two.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::format::Stretch;
use crate::scan::Scan;
use crate::source::Source;

/// The share of an input to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The number of the input among all that are counted, from 0.
    pub number: u32,
    /// Its chunks; `None` for all of it.
    pub chunks: Option<Range<u64>>,
}

impl Share {
    /// All of the input of this number.
    pub fn all_of(number: usize) -> Self {
        Share {
            number: number as u32,
            chunks: None,
        }
    }
}

/// The rows at the ends of the parts that were read of an input, by the start of each stretch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenEnds {
    /// Hashes of keys.
    pub keys: BTreeMap<u64, Stretch<u64>>,
    /// Numbers of rows, where neighbours are compared by number.
    pub numbers: BTreeMap<u64, Stretch<u64>>,
}

impl Scan<'_> {
    /// How many chunks of an input may be read by different processes: 1 where it is read from the front, or where what a
    /// row is depends on rows far before it.
    ///
    /// # Errors
    /// An input that cannot be opened or is not in its format.
    pub fn chunks_of(&self, source: &dyn Source) -> Result<u64> {
        let job = self.job(0, source, &Share::all_of(0))?;
        let chunks = job.filter(|job| !job.reader.learns() && job.cutting.boundary.is_local());
        Ok(chunks.map_or(1, |job| job.cutting.chunks()).max(1))
    }
}
