//! Inputs whose keys are only found from the front, and most of whose bytes are passed over: a walk finds the keys and
//! hands them to the workers in batches, which hash and count while the walk continues.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::format::frame::row_batch::RowBatch;
use crate::format::lfu::LfuRule;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::sentence::Sentence;
use crate::source::forward::Forward;

/// Bytes of the input that a batch stands for, unless one value is longer.
const STRETCH: u64 = 16 << 20;

/// How inputs are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walking {
    /// Whether checksums are verified, for which every byte is read.
    pub verifies: bool,
    /// The meaning of the sizes of keys.
    pub sizes: Sizes,
    /// The meaning of LFU counters.
    pub lfu: LfuRule,
}

/// The meaning of the sizes of keys.
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

/// Opens a walk over an input.
pub(crate) type OpenWalk = fn(Forward, Walking) -> Box<dyn Walk>;

/// A walk over one input, batch by batch.
pub trait Walk {
    /// Puts the next rows in place of those in `rows`: the bytes of the input that they are from, right after those
    /// of the rows before them. `None` at the end.
    ///
    /// # Errors
    /// Where and why the input cannot be read on, once all rows before that are given out.
    fn next(&mut self, rows: &mut RowBatch) -> Result<Option<Range<u64>>, Damage>;
}

/// A walk over one input, row by row.
pub(crate) trait Steps {
    /// How far the walk is, in bytes.
    fn offset(&self) -> u64;
    /// Goes on to the next key or remark, which is added to `rows`; false at the end of a batch.
    ///
    /// # Errors
    /// Where and why the input cannot be read on.
    fn step(&mut self, rows: &mut RowBatch) -> Result<bool, Damage>;
    /// Passes over rows that a worker can read on its own, and leaves them to it in `rows`, which is empty; false where
    /// there are none here, or too few.
    fn leave(&mut self, _: &mut RowBatch) -> bool {
        false
    }
    /// Adds the known facts about the input at the end of a batch.
    fn close(&mut self, _: &mut RowBatch) {}
}

/// Steps that fill batches.
pub(crate) struct Walked<S> {
    steps: S,
    /// Bytes of the input whose rows are given out.
    done: u64,
    damage: Option<Damage>,
}

impl<S> Walked<S> {
    /// Nothing walked over yet.
    pub(crate) fn new(steps: S) -> Self {
        Walked {
            steps,
            done: 0,
            damage: None,
        }
    }
}

impl<S: Steps> Walk for Walked<S> {
    fn next(&mut self, rows: &mut RowBatch) -> Result<Option<Range<u64>>, Damage> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        rows.clear();
        let is_left = self.steps.leave(rows);
        while !is_left && !rows.is_full() && self.steps.offset() - self.done < STRETCH {
            match self.steps.step(rows) {
                Ok(true) => {}
                Ok(false) => break,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            }
        }
        let bytes = self.done..self.steps.offset();
        self.done = bytes.end;
        if bytes.is_empty() && rows.is_empty() {
            return self.damage.take().map_or(Ok(None), Err);
        }
        self.steps.close(rows);
        Ok(Some(bytes))
    }
}

/// A place after which an input cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset in bytes.
    pub offset: u64,
    /// The damage there, and the item that it is in.
    pub what: Sentence,
}
