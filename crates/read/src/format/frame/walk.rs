//! Inputs that can only be parsed from the front and are mostly skipped: a walk finds the keys and hands them to
//! workers in batches, which hash and count while the walk continues.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use slotscope_base::lfu::LfuRule;
use slotscope_base::sentence::Sentence;

use crate::format::frame::row_batch::RowBatch;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::source::forward::Forward;

/// Bytes of input per batch, unless one value is longer.
pub(crate) const STRETCH: u64 = 16 << 20;

/// How inputs are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walking {
    /// Whether checksums are verified, which requires reading every byte.
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
    /// Estimated bytes in server memory with this allocator.
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

/// A walk over one input, in batches.
pub trait Walk {
    /// Replaces the contents of `rows` by the next rows; returns their byte range in the input, which directly follows
    /// the previous one. `None` at the end.
    ///
    /// # Errors
    /// Where and why the input cannot be read further, after all rows before that point were returned.
    fn next(&mut self, rows: &mut RowBatch) -> Result<Option<Range<u64>>, Damage>;
}

/// A walk over one input, row by row.
pub(crate) trait Steps {
    /// The current offset in bytes.
    fn offset(&self) -> u64;
    /// Advances to the next key or notice and adds it to `rows`; false at the end of a batch.
    ///
    /// # Errors
    /// Where and why the input cannot be read further.
    fn step(&mut self, rows: &mut RowBatch) -> Result<bool, Damage>;
    /// Skips rows that a worker can parse by itself and leaves them to it in `rows`, which must be empty; false if
    /// there are none here.
    fn leave(&mut self, _: &mut RowBatch) -> bool {
        false
    }
    /// Adds the facts known about the input at the end of a batch.
    fn close(&mut self, _: &mut RowBatch) {}
}

/// Adapts steps to batches.
pub(crate) struct Walked<S> {
    steps: S,
    /// Bytes of input whose rows were returned.
    done: u64,
    damage: Option<Damage>,
}

impl<S> Walked<S> {
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

/// A place beyond which an input is unreadable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Offset in bytes.
    pub offset: u64,
    /// The problem there, and the item it is in.
    pub what: Sentence,
}
