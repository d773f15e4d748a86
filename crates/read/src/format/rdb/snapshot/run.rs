//! Runs of plain rows. The walk skips them by length alone, 7 ns per key, and hands them to the workers, which read
//! them from the raw bytes.

use std::ops::Range;
use std::sync::Arc;

use slotscope_base::block::Block;

use crate::format::rdb::snapshot::imported::Imported;
use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::opcode::{AUX, SLOT_INFO};
use crate::format::rdb::snapshot::plain::{Bounds, length, may_start_row};
use crate::format::rdb::snapshot::walk::Walker;

/// Shorter runs are walked here: handing them to a worker costs more.
const FEWEST_ROWS: u64 = 128;
const FEWEST_BYTES: usize = 64 << 10;

/// The start of a Valkey slot header: the field's name and text.
const SLOT_INFO_NAME: &[u8] = b"\x09slot-info";

/// Finds the runs of a file.
#[derive(Default)]
pub(super) struct Runs {
    /// The run that starts at the next byte.
    next_run: Option<FoundRun>,
    /// No run starts before this offset.
    none_before: u64,
}

/// A run starting at the next byte.
#[derive(Default)]
struct FoundRun {
    /// Plain rows between slot headers.
    parts: Vec<Range<usize>>,
    rows: u64,
    has_headers: bool,
    bytes: usize,
}

/// A run, as handed to a worker.
pub(super) struct Run {
    /// The positions of its rows in a block.
    pub parts: Vec<Range<usize>>,
    /// Offset in the input of the block's first byte.
    pub offset: u64,
    pub database: u64,
    pub memory: Footprint,
    pub written_ms: Option<i64>,
    pub imported: Arc<Imported>,
}

impl FoundRun {
    /// The run at the start of `bytes`.
    fn at_start_of(bytes: &[u8]) -> FoundRun {
        let mut run = FoundRun::default();
        loop {
            let from = run.bytes;
            while let Some(row) = Bounds::of(&bytes[run.bytes..]) {
                run.bytes += row.bytes();
                run.rows += 1;
            }
            if from < run.bytes {
                run.parts.push(from..run.bytes);
            }
            let Some(len) = slot_header(&bytes[run.bytes..]) else {
                return run;
            };
            run.has_headers = true;
            run.bytes += len;
        }
    }

    /// Skips the run.
    fn pass(self, walker: &mut Walker, block: &mut Block) -> Option<Run> {
        let memory = walker.memory.clone()?;
        walker.is_of_cluster |= self.has_headers;
        walker.keys += self.rows;
        let from = walker.offset();
        let start = walker.input.take(self.bytes, block);
        let in_block = |rows: Range<usize>| rows.start + start..rows.end + start;
        Some(Run {
            parts: self.parts.into_iter().map(in_block).collect(),
            offset: from - start as u64,
            database: walker.database,
            memory,
            written_ms: walker.written_ms,
            imported: walker.imported.clone(),
        })
    }

    fn is_worth_the_way(&self) -> bool {
        self.rows >= FEWEST_ROWS || self.rows > 0 && self.bytes >= FEWEST_BYTES
    }
}

impl Runs {
    /// Never finds a run.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Runs {
            next_run: None,
            none_before: u64::MAX,
        }
    }

    /// Whether a run starts at the next byte.
    #[inline]
    pub(super) fn is_at_one(&mut self, walker: &mut Walker) -> bool {
        self.next_run.is_some()
            || walker.is_at_row() && walker.offset() >= self.none_before && self.finds_one(walker)
    }

    fn finds_one(&mut self, walker: &mut Walker) -> bool {
        let ahead = walker.input.ahead();
        let (len, mut run) = (ahead.len(), FoundRun::at_start_of(ahead));
        let may_go_on = ahead.get(run.bytes).is_none_or(|byte| may_start_row(*byte));
        if !run.is_worth_the_way() && may_go_on {
            // An I/O error recurs when the bytes are actually needed.
            let longer = walker.input.peek(FEWEST_BYTES).map_or(0, <[u8]>::len);
            if longer > len {
                run = FoundRun::at_start_of(walker.input.ahead());
            }
        }
        self.none_before = walker.offset() + run.bytes as u64;
        self.next_run = run.is_worth_the_way().then_some(run);
        self.next_run.is_some()
    }

    /// If a run starts at the next byte, skips it and moves it to `block`.
    pub(super) fn next(&mut self, walker: &mut Walker, block: &mut Block) -> Option<Run> {
        let is_at_one = self.is_at_one(walker);
        let run = self.next_run.take().filter(|_| is_at_one)?;
        run.pass(walker, block)
    }
}

/// The length of the slot header at the start of `bytes`, if there is one in one of its common forms.
fn slot_header(bytes: &[u8]) -> Option<usize> {
    match *bytes.first()? {
        SLOT_INFO => (0..3).try_fold(1, |at, _| Some(length(bytes, at)?.1)),
        AUX => {
            let behind = bytes[1..].strip_prefix(SLOT_INFO_NAME)?;
            let (&len @ ..0x40, text) = behind.split_first()? else {
                return None;
            };
            text.get(..len.into())?;
            Some(1 + SLOT_INFO_NAME.len() + 1 + usize::from(len))
        }
        _ => None,
    }
}
