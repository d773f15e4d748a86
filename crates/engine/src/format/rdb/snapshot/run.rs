//! Runs of plain rows. The walk skips them by length alone, 7 ns per key, and hands them to the workers, which read
//! them from the raw bytes.

use std::ops::Range;
use std::sync::Arc;

use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::opcode::{AUX, SLOT_INFO};
use crate::format::rdb::snapshot::plain::{Bounds, length, may_start_row};
use crate::format::rdb::snapshot::slots::{Imported, SlotHeader};
use crate::format::rdb::snapshot::walk::{Place, Walker};
use crate::source::block::Block;

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
    parts: Vec<Part>,
    rows: u64,
    /// The offset of its last row.
    last_row: usize,
    bytes: usize,
}

/// Plain rows, and the slot header that follows them.
struct Part {
    bytes: Range<usize>,
    rows: u64,
    expires: u64,
    header: Option<(u8, SlotHeader)>,
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
            let (from, mut rows, mut expires) = (run.bytes, 0, 0);
            while let Some(row) = Bounds::of(&bytes[run.bytes..]) {
                run.last_row = run.bytes;
                run.bytes += row.bytes();
                rows += 1;
                expires += u64::from(row.expires());
            }
            let header = slot_header(&bytes[run.bytes..]);
            run.rows += rows;
            run.parts.push(Part {
                bytes: from..run.bytes,
                rows,
                expires,
                header: header.map(|(header, _)| (bytes[run.bytes], header)),
            });
            match header {
                Some((_, len)) => run.bytes += len,
                None => return run,
            }
        }
    }

    /// Skips the run.
    fn pass(self, walker: &mut Walker, block: &mut Block) -> Option<Run> {
        let memory = walker.memory.clone()?;
        let last = walker.take_key_of(self.last_row);
        let from = walker.offset();
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            if part.rows > 0 {
                walker.place = last;
                let bytes = &walker.input.ahead()[part.bytes.clone()];
                let first = Bounds::of(bytes).map_or(&b""[..], |row| &bytes[row.key()]);
                walker.slots.keys(first, part.rows, part.expires);
                parts.push(part.bytes.clone());
            }
            if let Some((opcode, header)) = part.header {
                walker.place = Place::Opcode(opcode);
                walker.end_slot(Some((from + part.bytes.end as u64, header)));
            }
        }
        walker.keys += self.rows;
        let start = walker.input.take(self.bytes, block);
        for rows in &mut parts {
            *rows = rows.start + start..rows.end + start;
        }
        Some(Run {
            parts,
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
            walker.keep_last_key();
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

/// The slot header at the start of `bytes`, if in one of its common forms, and its length in bytes.
fn slot_header(bytes: &[u8]) -> Option<(SlotHeader, usize)> {
    match *bytes.first()? {
        SLOT_INFO => {
            let (slot, at) = length(bytes, 1)?;
            let (keys, at) = length(bytes, at)?;
            let (expires, at) = length(bytes, at)?;
            let [slot, keys, expires] = [slot, keys, expires].map(|number| number as u64);
            let header = SlotHeader {
                slot,
                keys,
                expires,
            };
            Some((header, at))
        }
        AUX => {
            let behind = bytes[1..].strip_prefix(SLOT_INFO_NAME)?;
            let (&len @ ..0x40, text) = behind.split_first()? else {
                return None;
            };
            let header = SlotHeader::parse(text.get(..len.into())?)?;
            Some((header, 1 + SLOT_INFO_NAME.len() + 1 + usize::from(len)))
        }
        _ => None,
    }
}
